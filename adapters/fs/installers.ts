/**
 * Serves installers from `installer/`; `place` replaces only files that it wrote and that are
 * unchanged since (contract 60, installer).
 */
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { InstallerEncoding, InstallerManifest, Installers } from '../../ports/installers.js';
import type { StoredFile } from '../../ports/release-store.js';
import {
  getErrorCode,
  makeFolder,
  PRIVATE_FILE_MODE,
  PRIVATE_FOLDER_MODE,
  replaceText,
  writeNewFile,
} from './durable-writes.js';
import { statFile, createStoredFile, computeTag } from './stored-file.js';

const MANIFEST_FILE = 'installer.json';
const PLACED_FILE = '.placed.json';
const NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const ENCODING_EXTENSIONS = { br: '.br', gzip: '.gz' } as const satisfies Record<InstallerEncoding, string>;
const SHA256_PATTERN = /^[0-9a-f]{64}$/;
const MAX_MANIFEST_BYTES = 64 * 1024;

export class FsInstallers implements Installers {
  #known: { tag: string; manifest: InstallerManifest } | null = null;
  #placing: InstallerManifest | null = null;

  /**
   * @param folder the folder that installers are served from
   * @param built the output folder of the build
   */
  constructor(
    private readonly folder: string,
    private readonly built: string,
  ) {}

  getPendingManifest(): InstallerManifest | null {
    return this.#placing;
  }

  async announce(): Promise<boolean> {
    const text = await readText(join(this.built, MANIFEST_FILE));
    if (text === null) return false;
    const manifest = parseManifest(text);
    const due = await this.#listOutdated(manifest, await this.#readPlaced());
    // A user's manifest stays, and its files are served.
    this.#placing = due.includes(MANIFEST_FILE) ? manifest : null;
    return due.length > 0;
  }

  async readManifest(): Promise<InstallerManifest | null> {
    const stats = await statFile(join(this.folder, MANIFEST_FILE));
    if (stats === null) return null;
    const tag = computeTag(stats);
    if (this.#known?.tag === tag) return this.#known.manifest;
    const manifest = parseManifest(await readFile(join(this.folder, MANIFEST_FILE), 'utf8'));
    this.#known = { tag, manifest };
    return manifest;
  }

  async open(name: string, encoding: InstallerEncoding | null): Promise<StoredFile | null> {
    if (!NAME_PATTERN.test(name)) return null;
    const path = join(this.folder, name + (encoding === null ? '' : ENCODING_EXTENSIONS[encoding]));
    const stats = await statFile(path);
    return stats === null ? null : createStoredFile(path, stats);
  }

  /** The manifest is written last, so that it never lists a missing file. */
  async place(): Promise<string[]> {
    try {
      const text = await readText(join(this.built, MANIFEST_FILE));
      if (text === null) return [];
      await makeFolder(this.folder, this.folder, PRIVATE_FOLDER_MODE);
      const placed = await this.#readPlaced();
      const due = await this.#listOutdated(parseManifest(text), placed);
      for (const name of due) {
        const source = await statFile(join(this.built, name));
        if (source === null) continue;
        await this.#copy(name);
        placed[name] = { from: computeTag(source), to: (await this.#getTag(name)) ?? '' };
        await replaceText(
          join(this.folder, `.${randomUUID()}`),
          join(this.folder, PLACED_FILE),
          JSON.stringify(placed),
        );
      }
      return due;
    } finally {
      this.#placing = null;
    }
  }

  async #listOutdated({ files }: InstallerManifest, placed: PlacedRecord): Promise<string[]> {
    const due: string[] = [];
    const names = files.flatMap(({ name }) =>
      ['', ...Object.values(ENCODING_EXTENSIONS)].map((ending) => name + ending),
    );
    for (const name of [...names, MANIFEST_FILE]) {
      const source = await statFile(join(this.built, name));
      if (source === null || !(await this.#isReplaceable(name, placed))) continue;
      if (placed[name]?.from !== computeTag(source) || (await this.#getTag(name)) === null) due.push(name);
    }
    return due;
  }

  /** Missing, or unchanged since `place` wrote it. */
  async #isReplaceable(name: string, placed: PlacedRecord): Promise<boolean> {
    const tag = await this.#getTag(name);
    return tag === null || tag === placed[name]?.to;
  }

  async #getTag(name: string): Promise<string | null> {
    const stats = await statFile(join(this.folder, name));
    return stats === null ? null : computeTag(stats);
  }

  async #readPlaced(): Promise<PlacedRecord> {
    const text = await readText(join(this.folder, PLACED_FILE));
    try {
      return text === null ? {} : (JSON.parse(text) as PlacedRecord);
    } catch (error) {
      if (error instanceof SyntaxError) return {};
      throw error;
    }
  }

  async #copy(name: string): Promise<void> {
    const temporary = join(this.folder, `.${randomUUID()}`);
    const source = createReadStream(join(this.built, name), { highWaterMark: 1 << 20 });
    await writeNewFile(temporary, PRIVATE_FILE_MODE, async (file) => {
      for await (const piece of source) await file.write(piece as Buffer);
    });
    try {
      await rename(temporary, join(this.folder, name));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }
}

type PlacedRecord = Record<string, { from: string; to: string }>;

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT' || getErrorCode(error) === 'ENOTDIR') return null;
    throw error;
  }
}

/** @throws Error that describes the problem of `installer.json` */
function parseManifest(text: string): InstallerManifest {
  const fault = (what: string): Error => new Error(`${MANIFEST_FILE}: ${what}`);
  if (text.length > MAX_MANIFEST_BYTES) throw fault('is too long');
  let value: Partial<InstallerManifest> | null;
  try {
    value = JSON.parse(text) as Partial<InstallerManifest> | null;
  } catch (error) {
    throw new Error(`${MANIFEST_FILE}: is not JSON`, { cause: error });
  }
  if (value === null || value.schema !== 1 || !Array.isArray(value.files)) throw fault('does not have schema 1');
  for (const { name, runtime, size, sha256 } of value.files) {
    const ok =
      NAME_PATTERN.test(name) &&
      /^[a-z0-9-]{1,40}$/.test(runtime) &&
      Number.isSafeInteger(size) &&
      SHA256_PATTERN.test(sha256);
    if (!ok) throw fault(`lists a file with a bad name, runtime, size or sha256: ${JSON.stringify(name)}`);
  }
  return value as InstallerManifest;
}
