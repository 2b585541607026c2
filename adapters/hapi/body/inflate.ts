import { Failure, OVERLOADED, createTooLargeFailure } from '../wire/failure.js';
import type { BodyReservation } from '../limits/body-budget.js';
import { FairSlots } from '../limits/fair-slots.js';
import { CHUNK_BYTES, CORRUPT_BODY, findDecoder, toDecoderOptions, type Decoder } from './decoders.js';
import type { BodyFilterStream } from './body-filter.js';

/** Half of zlib's four threads. */
const MAX_CONCURRENT_INFLATIONS = 2;

export class Inflater {
  readonly #whole = new FairSlots(MAX_CONCURRENT_INFLATIONS);
  readonly #heads = new FairSlots(1);

  /**
   * @param owner whose bodies are queued together
   * @returns 415 for an unknown encoding, 413 over the limit, 400 for corrupt data, 503 without
   *   budget
   */
  async inflate(
    body: Buffer,
    encoding: string | undefined,
    limit: number,
    lease: BodyReservation,
    owner: string,
  ): Promise<Buffer | Failure> {
    const decoder = findDecoder(encoding, body);
    if (decoder instanceof Failure) return decoder;
    if (decoder === null || body.length === 0) return body.length > limit ? createTooLargeFailure(limit) : body;
    return this.#whole.run(owner, async () => {
      // Releases what was not needed.
      const most = Math.min(limit, body.length * decoder.growth);
      if (!lease.grow(most)) return OVERLOADED;
      const bytes = await inflateWhole(decoder, body, limit);
      lease.shrink(most - (bytes instanceof Failure ? 0 : bytes.length));
      return bytes;
    });
  }

  inflateFiltered(body: Buffer, bodyFilter: BodyFilterStream, owner: string): Promise<Buffer | Failure> {
    return this.#whole.run(owner, async () => {
      try {
        const passed = bodyFilter.push(body, () => undefined);
        return passed instanceof Failure ? passed : await bodyFilter.end();
      } finally {
        bodyFilter.destroy();
      }
    });
  }

  async inflateHead(
    part: Buffer,
    encoding: string | undefined,
    most: number,
    owner: string,
  ): Promise<Buffer | Failure> {
    const decoder = findDecoder(encoding, part);
    if (decoder instanceof Failure) return decoder;
    if (decoder === null || part.length === 0) return part.subarray(0, most);
    return this.#heads.run(owner, () => inflateFirstChunk(decoder, part, most));
  }
}

function inflateWhole(decoder: Decoder, body: Buffer, limit: number): Promise<Buffer | Failure> {
  return new Promise((resolve) => {
    const options = { maxOutputLength: limit, chunkSize: CHUNK_BYTES, ...toDecoderOptions(decoder) };
    decoder.whole(body, options, (error, result) => {
      if (!error) return resolve(result);
      resolve('code' in error && error.code === 'ERR_BUFFER_TOO_LARGE' ? createTooLargeFailure(limit) : CORRUPT_BODY);
    });
  });
}

/** The rest is never decompressed. */
function inflateFirstChunk(decoder: Decoder, part: Buffer, most: number): Promise<Buffer | Failure> {
  return new Promise((resolve) => {
    const stream = decoder.stream({ chunkSize: most, ...toDecoderOptions(decoder) });
    const done = (outcome: Buffer | Failure): void => {
      stream.destroy();
      resolve(outcome);
    };
    stream.once('data', done).once('error', () => done(CORRUPT_BODY));
    stream.write(part, () => done(Buffer.alloc(0)));
  });
}
