/**
 * UUIDv7 (RFC 9562, method 1: a counter in `rand_a`) and secrets from the system's random source.
 *
 * Within one process ids strictly increase, even when the clock stops or goes back, so that "newest first" by id
 * is the order of creation. Rejected: uuid's `v7`, which keeps the order only while it reads the system's clock itself
 * (with the time of ours, half of the ids of one millisecond came out of order), uuidv7, which leaves 32 random bits
 * beside a counter where this leaves 62, `crypto.randomUUID` (version 4: it scatters the primary key's pages), and
 * `byte % 62` for secrets (the first eight letters would come up more often).
 */
import { randomFillSync } from 'node:crypto';
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The largest multiple of 62 that a byte can hold; bytes from here on are drawn again. */
const FAIR = 248;
/** Bytes drawn at once. */
const POOL = 4096;
/** Bytes of an id. */
const UUID = 16;
/** Bytes that a secret takes at a time: enough for one of 43 letters nearly always. */
const DRAW = 52;

export class RandomIds implements Ids {
  private last = 0;
  private counter = 0;
  private readonly pool = Buffer.allocUnsafeSlow(POOL);
  private used = POOL;

  constructor(private readonly clock: Clock) {}

  uuid(): string {
    const at = this.#random(UUID);
    const { pool } = this;
    const now = this.clock.now();
    if (now > this.last) {
      this.last = now;
      // The upper bit stays free, so that at least 2,048 ids fit into one millisecond.
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

  /** Where `bytes` new bytes of the pool begin: one call of the system's source serves many. */
  #random(bytes: number): number {
    if (this.used + bytes > POOL) {
      randomFillSync(this.pool);
      this.used = 0;
    }
    this.used += bytes;
    return this.used - bytes;
  }

  secret(length = 43): string {
    let text = '';
    while (text.length < length) {
      const at = this.#random(DRAW);
      for (const byte of this.pool.subarray(at, at + DRAW)) {
        if (byte < FAIR && text.length < length) text += ALPHABET[byte % 62];
      }
      // Nothing of a secret stays behind.
      this.pool.fill(0, at, at + DRAW);
    }
    return text;
  }
}
