/**
 * Undoes `Content-Encoding` on zlib's threads: a few bodies at once, each capped and charged while it is inflated.
 * While the sender is unknown, only the beginning of a body is inflated.
 */
import zlib from 'node:zlib';
import type { Transform } from 'node:stream';
import { Failure, OVERLOADED } from '../wire/failure.js';
import type { BodyLease } from '../limits/body-budget.js';
import { FairSlots } from '../limits/fair-slots.js';
import { tooLarge } from './wire-body.js';

interface Options {
  maxOutputLength?: number;
  chunkSize: number;
  params?: Record<number, number>;
}

interface Decoder {
  whole(input: Buffer, options: Options, done: (error: Error | null, result: Buffer) => void): void;
  stream(options: Options): Transform;
  /** Factor by which a body can grow at most. */
  growth: number;
  params?: Record<number, number>;
}

/** Bodies inflated at once. The other half of zlib's four threads is left to files and name look-ups. */
const SLOTS = 2;
const CHUNK = 64 * 1024;
const DEFLATE_GROWTH = 1_032;
const DAMAGED = new Failure('invalid_request', 'The compressed body is damaged.');

const gzip: Decoder = {
  whole: (input, options, done) => zlib.gunzip(input, options, done),
  stream: (options) => zlib.createGunzip(options),
  growth: DEFLATE_GROWTH,
};
const deflate: Decoder = {
  whole: (input, options, done) => zlib.inflate(input, options, done),
  stream: (options) => zlib.createInflate(options),
  growth: DEFLATE_GROWTH,
};
const deflateRaw: Decoder = {
  whole: (input, options, done) => zlib.inflateRaw(input, options, done),
  stream: (options) => zlib.createInflateRaw(options),
  growth: DEFLATE_GROWTH,
};
const brotli: Decoder = {
  whole: (input, options, done) => zlib.brotliDecompress(input, options, done),
  stream: (options) => zlib.createBrotliDecompress(options),
  growth: Infinity,
};

/** Parts of zlib that the types of Node 20 lack. */
interface Zstd {
  zstdDecompress?: Decoder['whole'];
  createZstdDecompress?: Decoder['stream'];
}

/**
 * The zstd decoder, in Node since 22.15; null before. The window is capped at 8 MiB, enough for all levels below the
 * ultra ones.
 */
const zstd: Decoder | null = ((): Decoder | null => {
  const { zstdDecompress, createZstdDecompress } = zlib as Zstd;
  if (zstdDecompress === undefined || createZstdDecompress === undefined) return null;
  const { ZSTD_d_windowLogMax } = zlib.constants as unknown as { ZSTD_d_windowLogMax: number };
  return {
    whole: zstdDecompress,
    stream: createZstdDecompress,
    growth: Infinity,
    params: { [ZSTD_d_windowLogMax]: 23 },
  };
})();

export const ENCODINGS = ['gzip', 'deflate', 'br', ...(zstd === null ? [] : ['zstd'])].join(', ');

const ACCEPT = { headers: { 'accept-encoding': ENCODINGS } };
const UNKNOWN = new Failure('unsupported_media_type', `The content encoding is not one of ${ENCODINGS}.`, ACCEPT);
const NO_ZSTD = new Failure(
  'unsupported_media_type',
  `Bodies in zstd need Node 22.15 or later on the server, which runs ${process.version}. Send ${ENCODINGS} or no encoding.`,
  ACCEPT,
);

/**
 * The decoder of an encoding; null when there is nothing to undo. `deflate` data have a zlib header or none, depending
 * on the client.
 */
function decoderOf(encoding: string | undefined, body: Buffer): Decoder | Failure | null {
  switch (encoding?.trim().toLowerCase() ?? '') {
    case '':
    case 'identity':
      return null;
    case 'gzip':
    case 'x-gzip':
      return gzip;
    case 'deflate':
      return ((body[0] ?? 0) & 0x0f) === 8 && (((body[0] ?? 0) << 8) | (body[1] ?? 0)) % 31 === 0
        ? deflate
        : deflateRaw;
    case 'br':
      return brotli;
    case 'zstd':
      return zstd ?? NO_ZSTD;
    default:
      return UNKNOWN;
  }
}

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

  /** The first bytes, at most `most`, of a body that may be cut off. @param owner an address */
  async head(part: Buffer, encoding: string | undefined, most: number, owner: string): Promise<Buffer | Failure> {
    const decoder = decoderOf(encoding, part);
    if (decoder instanceof Failure) return decoder;
    if (decoder === null || part.length === 0) return part.subarray(0, most);
    return this.#heads.run(owner, () => headOf(decoder, part, most));
  }
}

const optionsOf = ({ params }: Decoder): Pick<Options, 'params'> => (params ? { params } : {});

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
