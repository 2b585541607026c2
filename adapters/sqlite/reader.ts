/** A reading worker: one request after the other on a connection of its own. */
import { parentPort, workerData } from 'node:worker_threads';
import { Connection, type ConnectionOptions } from './connection.js';
import { outcomeOf, type Outcome, type ReadRequest } from './messages.js';
import { performRead } from './reads.js';
import { Renderer } from './rendering/renderer.js';
import { serve } from './serve.js';

function answer(
  connection: Connection,
  renderer: Renderer,
  [kind, name, text]: ReadRequest,
): [Outcome] | Promise<[Outcome]> {
  if (kind === 'render') {
    return renderer.page(name, text).then(
      (value) => [{ value }],
      (error) => [outcomeOf(error)],
    );
  }
  try {
    return [{ value: performRead(connection, [kind, name, text]) }];
  } catch (error) {
    return [outcomeOf(error)];
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
  const renderer = new Renderer(connection);
  serve<ReadRequest>(parentPort, {
    // One at a time (`most`).
    answer: ([request]) => answer(connection, renderer, request as ReadRequest),
    transfer: (outcomes) => outcomes.flatMap(transferred),
    close: () => connection.close(),
    most: 1,
  });
}
