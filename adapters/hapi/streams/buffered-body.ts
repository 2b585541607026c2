/**
 * A long response held in memory while its reader consumes it, written in pieces to detect stalled
 * readers (limits/unsent-budget.ts).
 */
import type { ServerResponse } from 'node:http';
import { SharedBytes } from '../../../ports/http/index.js';
import type { UnsentBudget } from '../limits/unsent-budget.js';
import type { BodyStream } from '../wire/body-stream.js';
import { ResponseWriter } from './response-writer.js';

const PIECE_BYTES = 64 * 1024;
/** Responses up to this size are written in a single piece, as most lists are. */
const SINGLE_PIECE_BYTES = 128 * 1024;

export class BufferedBody implements BodyStream {
  readonly bytes: number;
  readonly #parts: readonly Uint8Array[];
  readonly #cost: number;

  constructor(
    body: Buffer | SharedBytes,
    private readonly rules: { stallMs: number; budget: UnsentBudget; address: string },
  ) {
    const shared = body instanceof SharedBytes;
    this.bytes = body.length;
    this.#parts = shared ? body.parts : [body];
    this.#cost = shared && body.held === 'nothing' ? PIECE_BYTES : body.length;
  }

  async send(res: ServerResponse): Promise<void> {
    const { stallMs, budget, address } = this.rules;
    const out = new ResponseWriter(res, stallMs);
    const lease = budget.open(address, this.#cost, () => out.abort());
    try {
      for (const pieces of this.#splitIntoPieces()) {
        if (!(await out.write(...pieces))) return;
        lease.markProgress();
      }
      res.end();
    } finally {
      lease.release();
    }
  }

  *#splitIntoPieces(): Generator<readonly Uint8Array[]> {
    if (this.bytes <= SINGLE_PIECE_BYTES) yield this.#parts;
    else
      for (const part of this.#parts)
        for (let at = 0; at < part.length; at += PIECE_BYTES) yield [part.subarray(at, at + PIECE_BYTES)];
  }
}
