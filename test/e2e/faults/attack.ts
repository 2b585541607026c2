/** What the tests of floods share: callers, connections of a worker, the memory of a process. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { Worker } from 'node:worker_threads';
import type { Flood } from './flood-sockets.js';

/** A request whose last byte has not been sent. */
export interface HeldBack {
  /** Before it was whole: it gave way. */
  answered(): boolean;
  /** Sends it. The status, also where the answer came before; 0: none. */
  finish(): Promise<number>;
}

export class Caller {
  readonly #agent = new Agent({ keepAlive: true });
  constructor(private readonly url: string) {}

  /** The status; 0: no answer. */
  ask(method: string, path: string, token: string | null, body?: object): Promise<number> {
    return new Promise((resolve) => {
      const headers = {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      };
      const requested = request(this.url + path, { method, headers, agent: this.#agent }, (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
      });
      requested.once('error', () => resolve(0)).end(body && JSON.stringify(body));
    });
  }

  /** Resolves when all of the body but its last byte has been sent. */
  holdBack(path: string, token: string, body: Buffer): Promise<HeldBack> {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': body.length,
    };
    const requested = request(this.url + path, { method: 'POST', headers, agent: this.#agent });
    const state = { answered: false };
    const status = new Promise<number>((resolve) => {
      requested.once('response', (answer) => {
        state.answered = true;
        answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
      });
      requested.once('error', () => resolve(0));
    });
    const answered = (): boolean => state.answered;
    const finish = (): Promise<number> => {
      requested.end(body.subarray(-1));
      return status;
    };
    return new Promise((resolve) => requested.write(body.subarray(0, -1), () => resolve({ answered, finish })));
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Connections of a worker (flood-sockets.ts), opened again and again until `close`. */
export class Attack {
  readonly #worker: Worker;
  private constructor(flood: Flood) {
    this.#worker = new Worker(new URL('./flood-sockets.js', import.meta.url), { workerData: flood });
  }

  static async open(flood: Flood): Promise<Attack> {
    const attack = new Attack(flood);
    await once(attack.#worker, 'message');
    return attack;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** Bytes of memory of a process, as Linux counts them. `VmHWM` is the peak. */
export async function memory(pid: number, what: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${what}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
}
