/** Separate test databases on a server that others may use. */
import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';

const getRunPrefix = (): string => `aos_${process.env['SVC_TEST_RUN'] ?? process.pid}_`;

/** Returns the URL of a new database, which is dropped at the end of the run. */
export function createDatabaseUrl(server: string): string {
  const url = new URL(server);
  url.pathname = `/${getRunPrefix()}${randomBytes(6).toString('hex')}`;
  return url.href;
}

/**
 * Drops the databases of this run on an external server. A server that a test process started has
 * ended with it.
 */
export async function dropRunDatabases(): Promise<void> {
  const server = process.env['SVC_TEST_MONGODB_URL'];
  if (!server) return;
  const client = await new MongoClient(server).connect();
  try {
    const { databases } = await client.db().admin().listDatabases({ nameOnly: true });
    for (const { name } of databases) if (name.startsWith(getRunPrefix())) await client.db(name).dropDatabase();
  } finally {
    await client.close();
  }
}
