/**
 * A thread of its own that examines the store (reading/examination.ts), answers once and ends. It rests as long as it
 * works, so that it never takes more than half of a core from those who serve.
 */
import { setTimeout as rest } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { Connection, type ConnectionOptions } from './connection/connection.js';
import { Examination } from './reading/examination.js';
import { outcomeOf, type Outcome } from './threads/messages.js';

/** Whether it is asked to end, which it is told between two steps. */
const asked = new AbortController();

async function examine(options: ConnectionOptions): Promise<Outcome> {
  try {
    const connection = new Connection(options);
    try {
      const steps = new Examination(connection).steps();
      while (!asked.signal.aborted) {
        const began = performance.now();
        const { done, value } = steps.next();
        if (done === true) return { value };
        await rest(performance.now() - began);
      }
      return { error: 'the examination was ended', name: 'Error' };
    } finally {
      connection.close();
    }
  } catch (error) {
    return outcomeOf(error);
  }
}

parentPort?.once('message', () => asked.abort());
parentPort?.postMessage(await examine(workerData as ConnectionOptions), []);
parentPort?.close();
