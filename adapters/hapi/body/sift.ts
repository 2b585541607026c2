/**
 * Filters a body while it arrives: decompresses it and drops the parts that its sieve rejects.
 * Dropped parts only count against the total size.
 */
import type { Transform } from 'node:stream';
import type { BodySieve } from '../../../ports/http.js';
import type { BodyLease } from '../limits/body-budget.js';
import { Failure, OVERLOADED, tooLarge } from '../wire/failure.js';
import { DAMAGED, openDecoder } from './decoders.js';

export interface SiftOptions {
  sieve: BodySieve;
  encoding: string | undefined;
  lease: Pick<BodyLease, 'take'>;
  most: { kept: number; decoded: number };
}

export class Sift {
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  #decodedBytes = 0;
  #decoder: Transform | null = null;
  #begun = false;
  #failure: Failure | null = null;

  constructor(private readonly options: SiftOptions) {}

  /**
   * Adds a piece.
   * @param resume called when more is accepted after a result of `wait`
   */
  push(piece: Buffer, resume: () => void): Failure | 'more' | 'wait' {
    if (!this.#begun && piece.length > 0) this.#begin(piece);
    if (this.#failure === null && this.#decoder === null) this.#keep(piece);
    if (this.#failure !== null) return this.#failure;
    if (this.#decoder === null || this.#decoder.write(piece)) return 'more';
    this.#decoder.once('drain', resume);
    return 'wait';
  }

  async end(): Promise<Buffer | Failure> {
    const decoder = this.#decoder;
    if (this.#failure === null && decoder !== null) {
      await new Promise<void>((resolve) => {
        decoder.once('close', resolve);
        decoder.end();
      });
    }
    for (const part of this.#failure === null ? this.options.sieve.end() : []) this.#store(part);
    return this.#failure ?? Buffer.concat(this.#kept, this.#keptBytes);
  }

  destroy(): void {
    this.#decoder?.destroy();
  }

  #begin(first: Buffer): void {
    this.#begun = true;
    const decoder = openDecoder(this.options.encoding, first);
    if (decoder instanceof Failure) return void (this.#failure = decoder);
    this.#decoder = decoder;
    decoder?.on('data', (piece: Buffer) => this.#keep(piece)).on('error', () => this.#fail(DAMAGED));
  }

  #keep(piece: Buffer): void {
    if (this.#failure !== null) return;
    const { most, sieve } = this.options;
    this.#decodedBytes += piece.length;
    if (this.#decodedBytes > most.decoded) return this.#fail(tooLarge(most.decoded));
    for (const part of sieve.push(piece)) this.#store(part);
  }

  #store(part: Buffer): void {
    const { most, lease } = this.options;
    this.#keptBytes += part.length;
    if (this.#keptBytes > most.kept) return this.#fail(tooLarge(most.kept));
    if (!lease.take(part.length)) return this.#fail(OVERLOADED);
    // Copied, because a slice would keep the whole piece in memory.
    this.#kept.push(Buffer.from(part));
  }

  #fail(failure: Failure): void {
    this.#failure ??= failure;
    this.#decoder?.destroy();
  }
}
