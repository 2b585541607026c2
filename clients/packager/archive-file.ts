import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { makeFolders } from '../../lib/folders.js';
import { UnsafePackage, readPackage } from '../../lib/formats/archive.js';
import type { Platform } from '../../lib/formats/platform.js';
import { EXIT_CODES, PackagerFailure } from './packager-failure.js';
import { compressGzip } from './gzip-writer.js';
import type { PublishFile } from './publish-files.js';
import { writeTar } from './tar-writer.js';
import { toUnwritableFailure } from './unwritable-failure.js';

export interface ArchiveFile {
  path: string;
  size: number;
  sha256: string;
  files: number;
  unpackedBytes: number;
}

export interface PackOptions {
  mtime: Date;
  platform: Platform;
  entry: string | null;
  onProgress: (done: number, total: number) => void;
}

const READ_BYTES = 256 * 1024;

export async function packArchive(
  files: readonly PublishFile[],
  path: string,
  options: PackOptions,
): Promise<ArchiveFile> {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  const hash = createHash('sha256');
  const partial = `${path}.partial`;
  let size = 0;
  async function* measured(): AsyncGenerator<Uint8Array> {
    for await (const piece of compressGzip(reportProgress(writeTar(files, options.mtime), total, options.onProgress))) {
      hash.update(piece);
      size += piece.length;
      yield piece;
    }
  }
  await makeFolders(dirname(path), 0o777).catch((error: unknown) => {
    throw toUnwritableFailure(error, path);
  });
  try {
    await pipeline(measured(), createWriteStream(partial)).catch((error: unknown) => {
      const { path: of, syscall } = error as NodeJS.ErrnoException;
      throw of === partial || syscall === 'write' ? toUnwritableFailure(error, path) : error;
    });
    const contents = await validateArchive(partial, options);
    if (contents.files.length !== files.length || contents.unpackedBytes !== total)
      throw new PackagerFailure(EXIT_CODES.error, 'The archive does not match the packed files.');
    await rename(partial, path);
    return { path, size, sha256: hash.digest('hex'), files: files.length, unpackedBytes: total };
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function validateArchive(file: string, { platform, entry }: PackOptions): ReturnType<typeof readPackage> {
  try {
    return await readPackage(createReadStream(file, { highWaterMark: READ_BYTES }), { platform, entry });
  } catch (error) {
    if (error instanceof UnsafePackage)
      throw new PackagerFailure(EXIT_CODES.refused, `The service would reject it: ${error.message}.`);
    throw error;
  }
}

async function* reportProgress(
  content: AsyncIterable<Buffer>,
  total: number,
  onProgress: PackOptions['onProgress'],
): AsyncGenerator<Buffer> {
  let done = 0;
  for await (const piece of content) {
    yield piece;
    done += piece.length;
    onProgress(Math.min(done, total), total);
  }
}
