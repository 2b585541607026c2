/**
 * Undoes `Content-Encoding` on zlib's threads: a few bodies at once, each capped and charged while it is inflated.
 * While the sender is unknown, only the beginning of a body is inflated.
 */
import { Failure, OVERLOADED, tooLarge } from '../wire/failure.js';
import type { BodyLease } from '../limits/body-budget.js';
import { FairSlots } from '../limits/fair-slots.js';
import { CHUNK, DAMAGED, decoderOf, optionsOf, type Decoder } from './decoders.js';
import type { Sift } from './sift.js';

/** Bodies inflated at once. The other half of zlib's four threads is left to files and name look-ups. */
const SLOTS = 2;

export class Inflater {
  readonly #whole = new FairSlots(SLOTS);
  readonly #heads = new FairSlots(1);

  /**
   * Inflates the whole body; the lease keeps holding its bytes afterwards.
   * @param owner its bodies wait for each other before they delay another owner's
   * @returns 415 for an unknown encoding, 413 over the limit, 400 for damaged data, 503 without room
   */
  async inflate(
    body: Buffer,
    encoding: string | undefined,
    limit: number,
    lease: BodyLease,
    owner: string,
  ): Promise<Buffer | Failure> {
    const decoder = decoderOf(encoding, body);
    if (decoder instanceof Failure) return decoder;
    if (decoder === null || body.length === 0) return body.length > limit ? tooLarge(limit) : body;
    return this.#whole.run(owner, async () => {
      // The largest possible size is charged before the work begins; what was not needed is given back.
      const most = Math.min(limit, body.length * decoder.growth);
      if (!lease.take(most)) return OVERLOADED;
      const bytes = await wholeOf(decoder, body, limit);
      lease.give(most - (bytes instanceof Failure ? 0 : bytes.length));
      return bytes;
    });
  }

  /** What is kept of a body that inflates beyond its limit. */
  sifted(body: Buffer, sift: Sift, owner: string): Promise<Buffer | Failure> {
    return this.#whole.run(owner, async () => {
      try {
        const passed = sift.push(body, () => undefined);
        return passed instanceof Failure ? passed : await sift.end();
      } finally {
        sift.destroy();
      }
    });
  }

  /** The first bytes, at most `most`, of a body that may be cut off. @param owner an address */
  async head(part: Buffer, encoding: string | undefined, most: number, owner: string): Promise<Buffer | Failure> {
    const decoder = decoderOf(encoding, part);
    if (decoder instanceof Failure) return decoder;
    if (decoder === null || part.length === 0) return part.subarray(0, most);
    return this.#heads.run(owner, () => headOf(decoder, part, most));
  }
}

function wholeOf(decoder: Decoder, body: Buffer, limit: number): Promise<Buffer | Failure> {
  return new Promise((resolve) => {
    const options = { maxOutputLength: limit, chunkSize: CHUNK, ...optionsOf(decoder) };
    decoder.whole(body, options, (error, result) => {
      if (!error) return resolve(result);
      resolve('code' in error && error.code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(limit) : DAMAGED);
    });
  });
}

/** Takes one chunk of a stream and throws the stream away, so the rest is never inflated. */
function headOf(decoder: Decoder, part: Buffer, most: number): Promise<Buffer | Failure> {
  return new Promise((resolve) => {
    const stream = decoder.stream({ chunkSize: most, ...optionsOf(decoder) });
    const done = (outcome: Buffer | Failure): void => {
      stream.destroy();
      resolve(outcome);
    };
    stream.once('data', done).once('error', () => done(DAMAGED));
    stream.write(part, () => done(Buffer.alloc(0)));
  });
}
