/** A storage worker that holds a query whose text is a number for so many milliseconds, as a long scan does. */
import { parentPort } from 'node:worker_threads';
import type { ReadRequest } from '../../../../adapters/sqlite/threads/messages.js';
import { serve } from '../../../../adapters/sqlite/threads/serve.js';

const never = new Int32Array(new SharedArrayBuffer(4));

if (parentPort) {
  serve<ReadRequest>(parentPort, {
    answer: (batch) =>
      batch.map(([, , text]) => {
        Atomics.wait(never, 0, 0, Number(text));
        return { value: text };
      }),
    close: () => undefined,
    most: 1,
  });
}
