/** A reading worker: one request after the other on a connection of its own. */
import { parentPort, workerData } from 'node:worker_threads';
import { Connection, type ConnectionOptions } from './connection/connection.js';
import { outcomeOf, type Outcome, type ReadRequest } from './threads/messages.js';
import { located } from './reading/located.js';
import { performRead } from './reading/reads.js';
import { PageRenderer } from './reading/page-renderer.js';
import { serve } from './threads/serve.js';

function answer(
  connection: Connection,
  renderer: PageRenderer,
  [kind, name, text]: ReadRequest,
): [Outcome] | Promise<[Outcome]> {
  if (kind === 'render') {
    return renderer.page(name, text).then(
      (value) => [{ value }],
      (error: unknown) => [outcomeOf(located(connection, name, error), name)],
    );
  }
  try {
    return [{ value: performRead(connection, [kind, name, text]) }];
  } catch (error) {
    return [outcomeOf(located(connection, name, error), name)];
  }
}

/** Bytes change hands, they are not copied. */
function transferred(outcome: Outcome): ArrayBuffer[] {
  const value = 'value' in outcome ? outcome.value : null;
  const json = typeof value === 'object' && value !== null && 'json' in value ? value.json : null;
  return json instanceof Uint8Array && json.buffer instanceof ArrayBuffer ? [json.buffer] : [];
}

if (parentPort) {
  const connection = new Connection(workerData as ConnectionOptions);
  const renderer = new PageRenderer(connection);
  serve<ReadRequest>(parentPort, {
    // One at a time (`most`).
    answer: ([request]) => answer(connection, renderer, request as ReadRequest),
    transfer: (outcomes) => outcomes.flatMap(transferred),
    close: () => connection.close(),
    most: 1,
  });
}
