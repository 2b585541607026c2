import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manual, ManualPage } from '../../ports/manual.js';
import { codeOf } from './durable.js';

const PAGE = /^[a-z0-9][a-z0-9./-]*\.md$/i;
/** No segment begins with a dot, so no path leads out of the folder. */
const PICTURE = /^[a-z0-9][a-z0-9_-]*(\/[a-z0-9][a-z0-9_-]*)*\.(png|svg)$/i;
const TYPES: Readonly<Record<string, string>> = { png: 'image/png', svg: 'image/svg+xml' };

export class FsManual implements Manual {
  #pages: Promise<readonly ManualPage[]> | null = null;

  constructor(private readonly folder: string) {}

  pages(): Promise<readonly ManualPage[]> {
    this.#pages ??= this.#read().catch((error: unknown) => {
      this.#pages = null;
      throw error;
    });
    return this.#pages;
  }

  async picture(path: string): Promise<{ bytes: Uint8Array; type: string } | null> {
    const ending = PICTURE.exec(path)?.[2]?.toLowerCase();
    if (ending === undefined) return null;
    try {
      return { bytes: await readFile(join(this.folder, path)), type: TYPES[ending] as string };
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    }
  }

  async #read(): Promise<readonly ManualPage[]> {
    const names = await readdir(this.folder, { recursive: true }).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    });
    const files = names
      .map((name) => name.replaceAll('\\', '/'))
      .filter((name) => PAGE.test(name))
      .toSorted();
    return Promise.all(
      files.map(async (file) => ({
        name: file.slice(0, -'.md'.length),
        text: await readFile(join(this.folder, file), 'utf8'),
      })),
    );
  }
}
