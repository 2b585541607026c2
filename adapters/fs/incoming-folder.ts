import { randomUUID } from 'node:crypto';
import { link, readdir, rm, stat, statfs, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { isGuid } from '../../lib/text/guid.js';
import { PackageTooLarge, DiskFull } from '../../ports/release-store.js';
import {
  getErrorCode,
  makeFolder,
  PUBLIC_FILE_MODE,
  PRIVATE_FILE_MODE,
  PRIVATE_FOLDER_MODE,
  writeNewFile,
} from './durable-writes.js';
import { INCOMING_FOLDER } from './paths.js';

const WRITE_CHUNK_BYTES = 1024 * 1024;
const SPACE_CHECK_BYTES = 32 * 1024 * 1024;

export class IncomingFolder {
  readonly folder: string;

  constructor(private readonly root: string) {
    this.folder = join(root, INCOMING_FOLDER);
  }

  getPath(id: string): string {
    if (!isGuid(id)) throw new TypeError('not the id of a staged package');
    return join(this.folder, id);
  }

  async createPath(): Promise<{ id: string; path: string }> {
    await makeFolder(this.root, this.folder, PRIVATE_FOLDER_MODE);
    const id = randomUUID();
    return { id, path: this.getPath(id) };
  }

  async stage(
    bytes: AsyncIterable<Uint8Array>,
    limits: { bytes: number; keepFree: number },
  ): Promise<{ id: string; size: number }> {
    const { id, path } = await this.createPath();
    return { id, size: await writeNewFile(path, PUBLIC_FILE_MODE, (file) => this.#receive(file, bytes, limits)) };
  }

  async listStaged(): Promise<{ id: string; modifiedAt: Date }[]> {
    const names = await readdir(this.folder).catch((error: unknown) => {
      if (getErrorCode(error) === 'ENOENT') return [];
      throw error;
    });
    const found: { id: string; modifiedAt: Date }[] = [];
    for (const id of names.filter((name) => isGuid(name))) {
      const stats = await stat(join(this.folder, id)).catch((error: unknown) => {
        if (getErrorCode(error) === 'ENOENT') return null;
        throw error;
      });
      if (stats !== null) found.push({ id, modifiedAt: stats.mtime });
    }
    return found;
  }

  async discard(id: string): Promise<void> {
    await rm(this.getPath(id), { force: true });
  }

  /**
   * Hard-links the file under a new id.
   * @returns null when the path does not exist
   */
  async linkFrom(from: string): Promise<string | null> {
    const { id, path } = await this.createPath();
    try {
      await link(from, path);
      return id;
    } catch (error) {
      if (['ENOENT', 'ENOTDIR'].includes(getErrorCode(error))) return null;
      throw error;
    }
  }

  /** @throws DiskFull, and other disk errors */
  async probe(keepFree: number): Promise<void> {
    const { path } = await this.createPath();
    await writeNewFile(path, PRIVATE_FILE_MODE, (file) => file.write('x'));
    await rm(path, { force: true });
    await this.#checkFreeSpace(keepFree);
  }

  async getFreeBytes(): Promise<number> {
    await makeFolder(this.root, this.folder, PRIVATE_FOLDER_MODE);
    const { bavail, bsize } = await statfs(this.folder);
    return bavail * bsize;
  }

  async #receive(
    file: FileHandle,
    bytes: AsyncIterable<Uint8Array>,
    { bytes: most, keepFree }: { bytes: number; keepFree: number },
  ): Promise<number> {
    let size = 0;
    let lastCheckedSize = 0;
    let pieces: Uint8Array[] = [];
    let held = 0;
    const write = async (): Promise<void> => {
      if (held > 0) await writeAll(file, pieces);
      pieces = [];
      held = 0;
    };
    await this.#checkFreeSpace(keepFree);
    for await (const piece of bytes) {
      size += piece.length;
      if (size > most) throw new PackageTooLarge(`more than ${most} bytes`);
      pieces.push(piece);
      held += piece.length;
      if (held >= WRITE_CHUNK_BYTES) await write();
      if (size - lastCheckedSize >= SPACE_CHECK_BYTES) {
        lastCheckedSize = size;
        await this.#checkFreeSpace(keepFree);
      }
    }
    await write();
    return size;
  }

  async #checkFreeSpace(keepFree: number): Promise<void> {
    if (keepFree > 0 && (await this.getFreeBytes()) < keepFree)
      throw new DiskFull(`fewer than ${keepFree} bytes are free`);
  }
}

async function writeAll(file: FileHandle, pieces: readonly Uint8Array[]): Promise<void> {
  const whole = pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
  for (let at = 0; at < whole.length;) at += (await file.write(whole, at)).bytesWritten;
}
