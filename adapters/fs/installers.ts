/**
 * Keeps installers in `installer/` of the data directory. `place` copies the result of `npm run build:agent` there.
 * Later runs replace only files that `place` wrote and nobody changed since; files of others stay (contract 60,
 * installer).
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
/** The record of `place`: file name → the tag that the file had when it was written. */
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
   * @param built the folder that the build writes to
   */
  constructor(
    private readonly folder: string,
    private readonly built: string,
  ) {}

  placing(): InstallerManifest | null {
    return this.#placing;
  }

  /** Runs before the first question, so that `placing` announces the work of `place`. False when all is in place. */
  async announce(): Promise<boolean> {
    const text = await readText(join(this.built, MANIFEST));
    if (text === null) return false;
    const manifest = readManifest(text);
    const due = await this.#due(manifest, await this.#placed());
    // A manifest of others stays, and the files that it lists are served.
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
   * Answers the names of files that were placed or replaced. The manifest comes last, so that it never names a missing
   * file.
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

  /** Built files that are missing or outdated in the folder, without files of others; the manifest last. */
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

  /** True when the file is missing, or is still as `place` wrote it. */
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
      // Without the record every file counts as another's, and none is replaced.
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

/** @throws Error that names the fault of `installer.json` */
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
