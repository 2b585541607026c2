/**
 * A long answer that is held whole while its reader takes it. It goes out piece by piece, so we see whether the reader
 * reads at all, and counts among all held answers (limits/unsent-budget.ts). Bytes that are kept anyway cost each
 * answer only a piece.
 */
import type { ServerResponse } from 'node:http';
import { SharedBytes } from '../../../ports/http.js';
import type { UnsentBudget } from '../limits/unsent-budget.js';
import type { BodyStream } from '../wire/body-stream.js';
import { Outflow } from './outflow.js';

/** Bytes handed to the system at once. */
const PIECE_BYTES = 64 * 1024;
/** An answer of so many bytes is one piece: most lists are, and each piece costs a call of the system. */
const SHORT_BYTES = 128 * 1024;

export class HeldBody implements BodyStream {
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
    const out = new Outflow(res, stallMs);
    const lease = budget.open(address, this.#cost, () => out.cut());
    try {
      for (const pieces of this.#pieces()) {
        if (!(await out.write(...pieces))) return;
        lease.moved();
      }
      res.end();
    } finally {
      lease.close();
    }
  }

  /** What is handed over together. */
  *#pieces(): Generator<readonly Uint8Array[]> {
    if (this.bytes <= SHORT_BYTES) yield this.#parts;
    else
      for (const part of this.#parts)
        for (let at = 0; at < part.length; at += PIECE_BYTES) yield [part.subarray(at, at + PIECE_BYTES)];
  }
}
