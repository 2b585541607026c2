/**
 * Within one process ids strictly increase even when the clock stops or moves backwards, so that
 * sorting by id is sorting by creation (RFC 9562, method 1: a counter in `rand_a`).
 */
import { randomFillSync } from 'node:crypto';
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/**
 * Largest multiple of 62 that a byte can hold; larger bytes are drawn again to avoid modulo bias.
 */
const BIAS_LIMIT = 248;
const POOL_BYTES = 4096;
const UUID_BYTES = 16;
const SECRET_DRAW_BYTES = 52;

export class RandomIds implements Ids {
  private last = 0;
  private counter = 0;
  private readonly pool = Buffer.allocUnsafeSlow(POOL_BYTES);
  private used = POOL_BYTES;

  constructor(private readonly clock: Clock) {}

  uuid(): string {
    const at = this.#takeRandom(UUID_BYTES);
    const { pool } = this;
    const now = this.clock.now();
    if (now > this.last) {
      this.last = now;
      // Clears the upper bit, so that at least 2,048 ids fit into one millisecond.
      this.counter = pool.readUInt16BE(at + 6) & 0x7ff;
    } else if (++this.counter > 0xfff) {
      this.last += 1;
      this.counter = 0;
    }
    pool.writeUIntBE(this.last, at, 6);
    pool.writeUInt16BE(0x7000 | this.counter, at + 6);
    pool.writeUInt8((pool.readUInt8(at + 8) & 0x3f) | 0x80, at + 8);
    const hex = pool.toString('hex', at, at + 16);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }

  /** Refilled from the system source when used up. */
  #takeRandom(bytes: number): number {
    if (this.used + bytes > POOL_BYTES) {
      randomFillSync(this.pool);
      this.used = 0;
    }
    this.used += bytes;
    return this.used - bytes;
  }

  secret(length = 43): string {
    let text = '';
    while (text.length < length) {
      const at = this.#takeRandom(SECRET_DRAW_BYTES);
      for (const byte of this.pool.subarray(at, at + SECRET_DRAW_BYTES)) {
        if (byte < BIAS_LIMIT && text.length < length) text += ALPHABET[byte % 62];
      }
      // Erases the bytes of the secret.
      this.pool.fill(0, at, at + SECRET_DRAW_BYTES);
    }
    return text;
  }
}
