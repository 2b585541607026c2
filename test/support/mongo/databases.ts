/** Databases of tests, each of its own, on a server that others may use. */
import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { atLaneEnd } from '../lane-end.js';

const databases: string[] = [];

/** The address of a new database of its own; all of them go with the lane. */
export function newDatabase(server: string): string {
  if (databases.length === 0)
    atLaneEnd(async () => {
      const client = await new MongoClient(server, { serverSelectionTimeoutMS: 2_000 }).connect();
      for (const name of databases) await client.db(name).dropDatabase();
      await client.close();
    });
  const name = `aos_${randomBytes(6).toString('hex')}`;
  databases.push(name);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
