/**
 * Single files of a release, by hash, so that agents download only what changed (contract 97, files
 * of a release). They are unpacked from the stored package where the store has only that.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { FileAnswer, type HttpRequest } from '../../../kernel/contract/index.js';
import { notFound, ServiceError } from '../../../kernel/errors.js';
import { findManifestFile } from '../../../lib/formats/manifest-file-search.js';
import { readPackagedFile } from '../../../lib/formats/packaged-file.js';
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import { FileReplaced, type ReleaseLocation, type ReleaseStore } from '../../../ports/release-store.js';

const SHA256_PATTERN = /^[0-9a-f]{64}$/;
const FILE_SEGMENTS = 6;
/** Larger files are streamed, and not compressed. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;
const CACHE_CONTROL = 'private, max-age=31536000, immutable';

export interface ReleaseFilePlace {
  place: ReleaseLocation;
  sha256: string;
}

/** Parses `<product>/<channel>/<version>/<platform>/files/<sha256>`; null for any other path. */
export function parseReleaseFilePlace(segments: readonly string[]): ReleaseFilePlace | null {
  const [product = '', channel = '', version = '', platform = '', folder, sha256 = ''] = segments;
  if (segments.length !== FILE_SEGMENTS || folder !== 'files' || !SHA256_PATTERN.test(sha256)) return null;
  return { place: { product, channel, version, platform }, sha256 };
}

/** Returns the segments of the package that has the file; other paths are returned unchanged. */
export function toStoredSegments(segments: readonly string[]): readonly string[] {
  const file = parseReleaseFilePlace(segments);
  return file === null ? segments : listSegments(file.place, 'package.tar.gz');
}

const listSegments = ({ product, channel, version, platform }: ReleaseLocation, name: string): string[] => [
  product,
  channel,
  version,
  platform,
  name,
];

export class ReleaseFileReader {
  readonly #mutex = new KeyedMutex();

  constructor(private readonly store: Pick<ReleaseStore, 'open'>) {}

  /** @throws ServiceError not_found for a hash that the manifest does not list */
  async createAnswer({ place, sha256 }: ReleaseFilePlace, { headers }: HttpRequest): Promise<FileAnswer> {
    const stored = await this.store.open(listSegments(place, 'package.tar.gz'));
    const manifest = stored === null ? null : await this.store.open(listSegments(place, 'manifest.json'));
    const file = manifest === null ? null : await findManifestFile(manifest.read(0, manifest.size), sha256);
    if (stored === null || file === null) throw notFound('such file in the release');
    const { path, size } = file;
    const unpacked = await this.store.open([...listSegments(place, 'files'), sha256]);
    const open = (start: number, end: number): AsyncIterable<Uint8Array> =>
      unpacked?.size === size
        ? unpacked.read(start, end)
        : readPackagedFile(stored.read(0, stored.size), { platform: place.platform, path, start, end });
    const common = { modifiedAt: stored.modifiedAt, contentType: 'application/octet-stream' };
    if (size > MAX_BUFFERED_BYTES)
      return withCaching(new FileAnswer({ ...common, size, etag: `"${sha256}"`, open: rejectReplaced(open) }));
    const isCompressed = headers['range'] === undefined && acceptsGzip(headers['accept-encoding']);
    if (!isCompressed) {
      const read = (start: number, end: number): AsyncIterable<Uint8Array> =>
        yieldBytes(() => this.#readWhole(open, size).then((bytes) => bytes.subarray(start, end)));
      return withCaching(new FileAnswer({ ...common, size, etag: `"${sha256}"`, open: rejectReplaced(read) }));
    }
    const packed = await promisify(gzip)(await this.#readWhole(open, size));
    const answer = new FileAnswer({
      ...common,
      size: packed.length,
      etag: `"${sha256}-gzip"`,
      open: (start, end) => yieldBytes(async () => packed.subarray(start, end)),
    });
    return withCaching(answer).header('content-encoding', 'gzip');
  }

  /** One at a time, because each call unpacks a package. */
  #readWhole(open: (start: number, end: number) => AsyncIterable<Uint8Array>, size: number): Promise<Buffer> {
    return this.#mutex.run('', async () => {
      const parts: Uint8Array[] = [];
      if (size > 0) for await (const part of open(0, size)) parts.push(part);
      return Buffer.concat(parts);
    });
  }
}

const withCaching = (answer: FileAnswer): FileAnswer =>
  answer.header('cache-control', CACHE_CONTROL).header('vary', 'accept-encoding');

const acceptsGzip = (header: string | undefined): boolean =>
  (header ?? '').split(',').some((part) => /^\s*(gzip|\*)\s*(;\s*q=(1(\.0*)?|0?\.\d*[1-9]\d*))?\s*$/i.test(part));

async function* yieldBytes(read: () => Promise<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield await read();
}

/** A replaced package is a retryable error while nothing has been sent. */
function rejectReplaced(
  open: (start: number, end: number) => AsyncIterable<Uint8Array>,
): (start: number, end: number) => AsyncIterable<Uint8Array> {
  return async function* (start, end) {
    try {
      yield* open(start, end);
    } catch (error) {
      if (!(error instanceof FileReplaced)) throw error;
      throw new ServiceError('not_ready', 'The package was just replaced: try again.', {
        headers: { 'retry-after': '1' },
        cause: error,
      });
    }
  };
}
