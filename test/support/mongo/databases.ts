/** Databases of tests, each of its own, on a server that others may use. */
import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';

/** The same in all processes of a run (mocha-setup.ts). */
const prefix = (): string => `aos_${process.env['SVC_TEST_RUN'] ?? process.pid}_`;

/** The address of a new database of its own; the end of the run drops it. */
export function newDatabase(server: string): string {
  const url = new URL(server);
  url.pathname = `/${prefix()}${randomBytes(6).toString('hex')}`;
  return url.href;
}

/** Drops what the run has left on the server that it was given. One that a test process started has ended with it. */
export async function dropDatabases(): Promise<void> {
  const server = process.env['SVC_TEST_MONGODB_URL'];
  if (!server) return;
  const client = await new MongoClient(server).connect();
  try {
    const { databases } = await client.db().admin().listDatabases({ nameOnly: true });
    for (const { name } of databases) if (name.startsWith(prefix())) await client.db(name).dropDatabase();
  } finally {
    await client.close();
  }
}
