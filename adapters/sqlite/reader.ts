/** A reading worker. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ConnectionOptions } from './connection/connection.js';
import { answering } from './reading/answering.js';
import type { Outcome } from './threads/messages.js';
import { serve } from './threads/serve.js';

/** Bytes change hands, they are not copied. */
function transferred(outcome: Outcome): ArrayBuffer[] {
  const value = 'value' in outcome ? outcome.value : null;
  const json = typeof value === 'object' && value !== null && 'json' in value ? value.json : null;
  return json instanceof Uint8Array && json.buffer instanceof ArrayBuffer ? [json.buffer] : [];
}

if (parentPort) {
  const transfer = (outcomes: readonly Outcome[]): ArrayBuffer[] => outcomes.flatMap(transferred);
  serve(parentPort, { ...answering(workerData as ConnectionOptions), transfer });
}
