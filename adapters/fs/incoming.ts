import { randomUUID } from 'node:crypto';
import { link, readdir, rm, stat, statfs, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { isGuid } from '../../lib/text/guid.js';
import { PackageTooLarge, DiskFull } from '../../ports/release-store.js';
import { codeOf, makeFolder, OPEN_FILE, OWN_FILE, OWN_FOLDER, writeNew } from './durable.js';
import { INCOMING } from './paths.js';

const WRITE_BYTES = 1024 * 1024;
const ASK_BYTES = 32 * 1024 * 1024;

export class Incoming {
  readonly folder: string;

  constructor(private readonly root: string) {
    this.folder = join(root, INCOMING);
  }

  path(id: string): string {
    if (!isGuid(id)) throw new TypeError('this is not the id of a staged package');
    return join(this.folder, id);
  }

  async fresh(): Promise<{ id: string; path: string }> {
    await makeFolder(this.root, this.folder, OWN_FOLDER);
    const id = randomUUID();
    return { id, path: this.path(id) };
  }

  async stage(
    bytes: AsyncIterable<Uint8Array>,
    limits: { bytes: number; keepFree: number },
  ): Promise<{ id: string; size: number }> {
    const { id, path } = await this.fresh();
    return { id, size: await writeNew(path, OPEN_FILE, (file) => this.#receive(file, bytes, limits)) };
  }

  async staged(): Promise<{ id: string; modifiedAt: Date }[]> {
    const names = await readdir(this.folder).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    });
    const found: { id: string; modifiedAt: Date }[] = [];
    for (const id of names.filter((name) => isGuid(name))) {
      const stats = await stat(join(this.folder, id)).catch((error: unknown) => {
        if (codeOf(error) === 'ENOENT') return null;
        throw error;
      });
      if (stats !== null) found.push({ id, modifiedAt: stats.mtime });
    }
    return found;
  }

  async discard(id: string): Promise<void> {
    await rm(this.path(id), { force: true });
  }

  /**
   * Hard-links the file under a new id.
   * @returns null when the path does not exist
   */
  async linked(from: string): Promise<string | null> {
    const { id, path } = await this.fresh();
    try {
      await link(from, path);
      return id;
    } catch (error) {
      if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return null;
      throw error;
    }
  }

  /**
   * Writes and deletes a probe file.
   * @throws DiskFull, and other disk errors
   */
  async probe(keepFree: number): Promise<void> {
    const { path } = await this.fresh();
    await writeNew(path, OWN_FILE, (file) => file.write('x'));
    await rm(path, { force: true });
    await this.#judge(keepFree);
  }

  async freeBytes(): Promise<number> {
    await makeFolder(this.root, this.folder, OWN_FOLDER);
    const { bavail, bsize } = await statfs(this.folder);
    return bavail * bsize;
  }

  async #receive(
    file: FileHandle,
    bytes: AsyncIterable<Uint8Array>,
    { bytes: most, keepFree }: { bytes: number; keepFree: number },
  ): Promise<number> {
    let size = 0;
    let asked = 0;
    let pieces: Uint8Array[] = [];
    let held = 0;
    const write = async (): Promise<void> => {
      if (held > 0) await writeAll(file, pieces);
      pieces = [];
      held = 0;
    };
    await this.#judge(keepFree);
    for await (const piece of bytes) {
      size += piece.length;
      if (size > most) throw new PackageTooLarge(`more than ${most} bytes`);
      pieces.push(piece);
      held += piece.length;
      if (held >= WRITE_BYTES) await write();
      if (size - asked >= ASK_BYTES) {
        asked = size;
        await this.#judge(keepFree);
      }
    }
    await write();
    return size;
  }

  async #judge(keepFree: number): Promise<void> {
    if (keepFree > 0 && (await this.freeBytes()) < keepFree) throw new DiskFull(`less than ${keepFree} bytes are free`);
  }
}

async function writeAll(file: FileHandle, pieces: readonly Uint8Array[]): Promise<void> {
  const whole = pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
  for (let at = 0; at < whole.length;) at += (await file.write(whole, at)).bytesWritten;
}
