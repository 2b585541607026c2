import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manual, ManualPage } from '../../ports/manual.js';
import { getErrorCode } from './durable-writes.js';

const PAGE_PATTERN = /^[a-z0-9][a-z0-9./-]*\.md$/i;
/** No segment begins with a dot, so no path leads out of the folder. */
const PICTURE_PATTERN = /^[a-z0-9][a-z0-9_-]*(\/[a-z0-9][a-z0-9_-]*)*\.(png|svg)$/i;
const MEDIA_TYPES: Readonly<Record<string, string>> = { png: 'image/png', svg: 'image/svg+xml' };

export class FsManual implements Manual {
  #pages: Promise<readonly ManualPage[]> | null = null;

  constructor(private readonly folder: string) {}

  listPages(): Promise<readonly ManualPage[]> {
    this.#pages ??= this.#readPages().catch((error: unknown) => {
      this.#pages = null;
      throw error;
    });
    return this.#pages;
  }

  async readPicture(path: string): Promise<{ bytes: Uint8Array; type: string } | null> {
    const ending = PICTURE_PATTERN.exec(path)?.[2]?.toLowerCase();
    if (ending === undefined) return null;
    try {
      return { bytes: await readFile(join(this.folder, path)), type: MEDIA_TYPES[ending] as string };
    } catch (error) {
      if (getErrorCode(error) === 'ENOENT') return null;
      throw error;
    }
  }

  async #readPages(): Promise<readonly ManualPage[]> {
    const names = await readdir(this.folder, { recursive: true }).catch((error: unknown) => {
      if (getErrorCode(error) === 'ENOENT') return [];
      throw error;
    });
    const files = names
      .map((name) => name.replaceAll('\\', '/'))
      .filter((name) => PAGE_PATTERN.test(name))
      .toSorted();
    return Promise.all(
      files.map(async (file) => ({
        name: file.slice(0, -'.md'.length),
        text: await readFile(join(this.folder, file), 'utf8'),
      })),
    );
  }
}
