/** Filters a body while it arrives: decompresses it and drops the parts that its sieve rejects. */
import type { Transform } from 'node:stream';
import type { BodyFilter } from '../../../ports/http/index.js';
import type { BodyReservation } from '../limits/body-budget.js';
import { Failure, OVERLOADED, createTooLargeFailure } from '../wire/failure.js';
import { CORRUPT_BODY, createDecoderStream } from './decoders.js';

export interface BodyFilterOptions {
  sieve: BodyFilter;
  encoding: string | undefined;
  lease: Pick<BodyReservation, 'grow'>;
  most: { kept: number; decoded: number };
}

export class BodyFilterStream {
  readonly #storedParts: Buffer[] = [];
  #keptBytes = 0;
  #decodedBytes = 0;
  #decoder: Transform | null = null;
  #begun = false;
  #failure: Failure | null = null;

  constructor(private readonly options: BodyFilterOptions) {}

  /** @param resume called when more is accepted after `wait` */
  push(piece: Buffer, resume: () => void): Failure | 'more' | 'wait' {
    if (!this.#begun && piece.length > 0) this.#start(piece);
    if (this.#failure === null && this.#decoder === null) this.#retain(piece);
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
    return this.#failure ?? Buffer.concat(this.#storedParts, this.#keptBytes);
  }

  destroy(): void {
    this.#decoder?.destroy();
  }

  #start(first: Buffer): void {
    this.#begun = true;
    const decoder = createDecoderStream(this.options.encoding, first);
    if (decoder instanceof Failure) return void (this.#failure = decoder);
    this.#decoder = decoder;
    decoder?.on('data', (piece: Buffer) => this.#retain(piece)).on('error', () => this.#fail(CORRUPT_BODY));
  }

  #retain(piece: Buffer): void {
    if (this.#failure !== null) return;
    const { most, sieve } = this.options;
    this.#decodedBytes += piece.length;
    if (this.#decodedBytes > most.decoded) return this.#fail(createTooLargeFailure(most.decoded));
    for (const part of sieve.push(piece)) this.#store(part);
  }

  #store(part: Buffer): void {
    const { most, lease } = this.options;
    this.#keptBytes += part.length;
    if (this.#keptBytes > most.kept) return this.#fail(createTooLargeFailure(most.kept));
    if (!lease.grow(part.length)) return this.#fail(OVERLOADED);
    // Copied, because a slice would keep the whole piece in memory.
    this.#storedParts.push(Buffer.from(part));
  }

  #fail(failure: Failure): void {
    this.#failure ??= failure;
    this.#decoder?.destroy();
  }
}
