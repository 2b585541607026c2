import zlib from 'node:zlib';
import type { Transform } from 'node:stream';
import { Failure } from '../wire/failure.js';

interface ZlibOptions {
  maxOutputLength?: number;
  chunkSize: number;
  params?: Record<number, number>;
}

export interface Decoder {
  whole(input: Buffer, options: ZlibOptions, done: (error: Error | null, result: Buffer) => void): void;
  stream(options: ZlibOptions): Transform;
  growth: number;
  params?: Record<number, number>;
}

export const CHUNK_BYTES = 64 * 1024;
const MAX_DEFLATE_GROWTH = 1_032;
export const CORRUPT_BODY = new Failure('invalid_request', 'The compressed body is damaged.');

const gzip: Decoder = {
  whole: (input, options, done) => zlib.gunzip(input, options, done),
  stream: (options) => zlib.createGunzip(options),
  growth: MAX_DEFLATE_GROWTH,
};
const deflate: Decoder = {
  whole: (input, options, done) => zlib.inflate(input, options, done),
  stream: (options) => zlib.createInflate(options),
  growth: MAX_DEFLATE_GROWTH,
};
const deflateRaw: Decoder = {
  whole: (input, options, done) => zlib.inflateRaw(input, options, done),
  stream: (options) => zlib.createInflateRaw(options),
  growth: MAX_DEFLATE_GROWTH,
};
const brotli: Decoder = {
  whole: (input, options, done) => zlib.brotliDecompress(input, options, done),
  stream: (options) => zlib.createBrotliDecompress(options),
  growth: Infinity,
};

interface ZstdFunctions {
  zstdDecompress?: Decoder['whole'];
  createZstdDecompress?: Decoder['stream'];
}

/** The window is capped at 8 MiB, enough for all levels except the ultra ones. */
const zstd: Decoder | null = ((): Decoder | null => {
  const { zstdDecompress, createZstdDecompress } = zlib as ZstdFunctions;
  if (zstdDecompress === undefined || createZstdDecompress === undefined) return null;
  const { ZSTD_d_windowLogMax } = zlib.constants as unknown as { ZSTD_d_windowLogMax: number };
  return {
    whole: zstdDecompress,
    stream: createZstdDecompress,
    growth: Infinity,
    params: { [ZSTD_d_windowLogMax]: 23 },
  };
})();

export const SUPPORTED_ENCODINGS = ['gzip', 'deflate', 'br', ...(zstd === null ? [] : ['zstd'])].join(', ');

const ACCEPT_ENCODING_HEADERS = { headers: { 'accept-encoding': SUPPORTED_ENCODINGS } };
const UNKNOWN_ENCODING = new Failure(
  'unsupported_media_type',
  `The content encoding must be one of ${SUPPORTED_ENCODINGS}.`,
  ACCEPT_ENCODING_HEADERS,
);
const ZSTD_UNSUPPORTED = new Failure(
  'unsupported_media_type',
  `zstd bodies require Node 22.15 or later on the server, which runs ${process.version}. Use ${SUPPORTED_ENCODINGS} or no encoding.`,
  ACCEPT_ENCODING_HEADERS,
);

export function findDecoder(encoding: string | undefined, body: Buffer): Decoder | Failure | null {
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
      return zstd ?? ZSTD_UNSUPPORTED;
    default:
      return UNKNOWN_ENCODING;
  }
}

export const toDecoderOptions = ({ params }: Decoder): Pick<ZlibOptions, 'params'> => (params ? { params } : {});

export const isEncoded = (encoding: string | undefined): boolean =>
  !['', 'identity'].includes(encoding?.trim().toLowerCase() ?? '');

/** Null for an uncompressed body. */
export function createDecoderStream(encoding: string | undefined, first: Buffer): Transform | Failure | null {
  const decoder = findDecoder(encoding, first);
  if (decoder === null || decoder instanceof Failure) return decoder;
  return decoder.stream({ chunkSize: CHUNK_BYTES, ...toDecoderOptions(decoder) });
}
