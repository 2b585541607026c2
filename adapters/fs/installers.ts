/**
 * Serves installers from `installer/` of the data directory, where `place` copies the result of
 * `npm run build:agent`. It replaces only files that it wrote and that are unchanged since; files
 * of users stay (contract 60, installer).
 */
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Encoding, InstallerManifest, Installers } from '../../ports/installers.js';
import type { StoredFile } from '../../ports/release-store.js';
import { codeOf, makeFolder, OWN_FILE, OWN_FOLDER, putText, writeNew } from './durable.js';
import { look, storedFile, tagOf } from './stored-file.js';

const MANIFEST = 'installer.json';
/** Record of `place`: the tag of each file when it was written. */
const PLACED = '.placed.json';
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const ENDINGS = { br: '.br', gzip: '.gz' } as const satisfies Record<Encoding, string>;
const HEX = /^[0-9a-f]{64}$/;
const MAX_MANIFEST = 64 * 1024;

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

  placing(): InstallerManifest | null {
    return this.#placing;
  }

  /**
   * Prepares `placing` before requests are served.
   * @returns false when everything is in place
   */
  async announce(): Promise<boolean> {
    const text = await readText(join(this.built, MANIFEST));
    if (text === null) return false;
    const manifest = readManifest(text);
    const due = await this.#due(manifest, await this.#placed());
    // A user's manifest stays, and its files are served.
    this.#placing = due.includes(MANIFEST) ? manifest : null;
    return due.length > 0;
  }

  async manifest(): Promise<InstallerManifest | null> {
    const stats = await look(join(this.folder, MANIFEST));
    if (stats === null) return null;
    const tag = tagOf(stats);
    if (this.#known?.tag === tag) return this.#known.manifest;
    const manifest = readManifest(await readFile(join(this.folder, MANIFEST), 'utf8'));
    this.#known = { tag, manifest };
    return manifest;
  }

  async open(name: string, encoding: Encoding | null): Promise<StoredFile | null> {
    if (!NAME.test(name)) return null;
    const path = join(this.folder, name + (encoding === null ? '' : ENDINGS[encoding]));
    const stats = await look(path);
    return stats === null ? null : storedFile(path, stats);
  }

  /**
   * Returns the names of files that were placed or replaced. The manifest is written last, so that
   * it never lists a missing file.
   */
  async place(): Promise<string[]> {
    try {
      const text = await readText(join(this.built, MANIFEST));
      if (text === null) return [];
      await makeFolder(this.folder, this.folder, OWN_FOLDER);
      const placed = await this.#placed();
      const due = await this.#due(readManifest(text), placed);
      for (const name of due) {
        const source = await look(join(this.built, name));
        if (source === null) continue;
        await this.#copy(name);
        placed[name] = { from: tagOf(source), to: (await this.#tag(name)) ?? '' };
        await putText(join(this.folder, `.${randomUUID()}`), join(this.folder, PLACED), JSON.stringify(placed));
      }
      return due;
    } finally {
      this.#placing = null;
    }
  }

  async #due({ files }: InstallerManifest, placed: Placed): Promise<string[]> {
    const due: string[] = [];
    const names = files.flatMap(({ name }) => ['', ...Object.values(ENDINGS)].map((ending) => name + ending));
    for (const name of [...names, MANIFEST]) {
      const source = await look(join(this.built, name));
      if (source === null || !(await this.#ours(name, placed))) continue;
      if (placed[name]?.from !== tagOf(source) || (await this.#tag(name)) === null) due.push(name);
    }
    return due;
  }

  /** Returns whether the file is missing, or unchanged since `place` wrote it. */
  async #ours(name: string, placed: Placed): Promise<boolean> {
    const tag = await this.#tag(name);
    return tag === null || tag === placed[name]?.to;
  }

  async #tag(name: string): Promise<string | null> {
    const stats = await look(join(this.folder, name));
    return stats === null ? null : tagOf(stats);
  }

  async #placed(): Promise<Placed> {
    const text = await readText(join(this.folder, PLACED));
    try {
      return text === null ? {} : (JSON.parse(text) as Placed);
    } catch (error) {
      // Without a valid record every file counts as a user's and is not replaced.
      if (error instanceof SyntaxError) return {};
      throw error;
    }
  }

  async #copy(name: string): Promise<void> {
    const temporary = join(this.folder, `.${randomUUID()}`);
    const source = createReadStream(join(this.built, name), { highWaterMark: 1 << 20 });
    await writeNew(temporary, OWN_FILE, async (file) => {
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

type Placed = Record<string, { from: string; to: string }>;

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    throw error;
  }
}

/** @throws Error that describes the problem of `installer.json` */
function readManifest(text: string): InstallerManifest {
  const fault = (what: string): Error => new Error(`${MANIFEST}: ${what}`);
  if (text.length > MAX_MANIFEST) throw fault('is too long');
  let value: Partial<InstallerManifest> | null;
  try {
    value = JSON.parse(text) as Partial<InstallerManifest> | null;
  } catch (error) {
    throw new Error(`${MANIFEST}: is not JSON`, { cause: error });
  }
  if (value === null || value.schema !== 1 || !Array.isArray(value.files)) throw fault('is not of schema 1');
  for (const { name, runtime, size, sha256 } of value.files) {
    const ok = NAME.test(name) && /^[a-z0-9-]{1,40}$/.test(runtime) && Number.isSafeInteger(size) && HEX.test(sha256);
    if (!ok) throw fault(`lists a file with a bad name, runtime, size or sha256: ${JSON.stringify(name)}`);
  }
  return value as InstallerManifest;
}
