/** A reading worker: one request after the other on a connection of its own. */
import { parentPort, workerData } from 'node:worker_threads';
import { Connection, type ConnectionOptions } from './connection.js';
import { outcomeOf, type Outcome, type ReadRequest } from './messages.js';
import { performRead } from './reads.js';
import { serve } from './serve.js';

function answer(connection: Connection, request: ReadRequest): Outcome {
  try {
    return { value: performRead(connection, request) };
  } catch (error) {
    return outcomeOf(error);
  }
}

if (parentPort) {
  const connection = new Connection(workerData as ConnectionOptions);
  serve<ReadRequest>(parentPort, {
    answer: (batch) => batch.map((request) => answer(connection, request)),
    close: () => connection.close(),
    most: 1,
  });
}
