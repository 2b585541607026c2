/** Writes a reproducible tar of a package's files (contract 90, packager). */
import { createReadStream } from 'node:fs';
import { Header } from 'tar/header';
import { Pax } from 'tar/pax';
import { EXIT_CODES, PackagerFailure } from './packager-failure.js';
import { readFileStart, type PublishFile } from './publish-files.js';

const BLOCK_BYTES = 512;
const READ_BYTES = 512 * 1024;

/**
 * @param files in the order of the archive
 * @param mtime of every entry
 * @throws PackagerFailure when a file changes while it is read
 */
export async function* writeTar(files: readonly PublishFile[], mtime: Date): AsyncGenerator<Buffer> {
  for (const file of files) {
    yield await buildHeaders(file, mtime);
    let read = 0;
    // Buffers the size plus one byte, which detects that the file has grown.
    const highWaterMark = Math.min(READ_BYTES, file.size + 1);
    for await (const piece of createReadStream(file.file, { highWaterMark }) as AsyncIterable<Buffer>) {
      read += piece.length;
      if (read > file.size) throw createChangedFailure(file);
      yield piece;
    }
    if (read !== file.size) throw createChangedFailure(file);
    yield Buffer.alloc((BLOCK_BYTES - (file.size % BLOCK_BYTES)) % BLOCK_BYTES);
  }
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

/** A pax header precedes an entry whose path does not fit into its header. */
async function buildHeaders({ path, file, size, executable }: PublishFile, mtime: Date): Promise<Buffer> {
  const mode = executable || isExecutable(await readFileStart(file, 4)) ? 0o755 : 0o644;
  const header = new Header({ path, size, mode, uid: 0, gid: 0, mtime, type: 'File' });
  const block = Buffer.alloc(BLOCK_BYTES);
  const needsPax = header.encode(block);
  return needsPax ? Buffer.concat([new Pax({ path, mtime, uid: 0, gid: 0 }).encode(), block]) : block;
}

/**
 * Detects ELF programs and scripts with an interpreter line, because systems without an x bit also
 * build for others.
 */
const isExecutable = (start: Buffer): boolean =>
  start.toString('latin1') === '\x7fELF' || start.toString('latin1', 0, 2) === '#!';

const createChangedFailure = ({ path }: PublishFile): PackagerFailure =>
  new PackagerFailure(
    EXIT_CODES.error,
    `${path} changed while it was being packed; run the packager after the build has finished.`,
  );
