import { parentPort, workerData } from 'node:worker_threads';
import type { ConnectionOptions } from './connection/connection.js';
import { openReader } from './reading/reader.js';
import { openWriter } from './writing/writer.js';
import { serveRequests } from './threads/request-server.js';

const { role, connection } = workerData as { role: 'writer' | 'reader'; connection: ConnectionOptions };
if (parentPort !== null) {
  if (role === 'writer') serveRequests(parentPort, openWriter(connection));
  else serveRequests(parentPort, openReader(connection));
}
