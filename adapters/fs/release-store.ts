/**
 * The release store on the file system, which a web server may serve from the same disk (contract 40, files).
 *
 * Everything that is served gets its place by a rename of a file that is whole, on the disk, and has its mode; folders are
 * synced after it. So a crash leaves old files or new ones, and at most something in `.incoming`. Between the renames of a
 * package, its signature and its manifest the three may be of two releases for a moment: agents meet another hash, and ask again.
 */
import { readdir, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type {
  AccessFile,
  ManifestTexts,
  PackageContents,
  ReleasePlace,
  ReleaseStore,
  StagedPackage,
  StoredFile,
} from '../../ports/release-store.js';
import { ownerIn, OWN_ACCESS, type AccessMode } from './access-mode.js';
import { codeOf, makeFolder, OPEN_FILE, OPEN_FOLDER, putText, syncFolder } from './durable.js';
import { Incoming } from './incoming.js';
import { folderOf, isName, LATEST, MANIFEST, nameOf, PACKAGE, SIGNATURE, throughFolders } from './paths.js';
import { look, storedFile, tagOf } from './stored-file.js';
import { Workshop } from './workshop.js';

const missing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(error));

export class FsReleaseStore implements ReleaseStore {
  readonly #incoming: Incoming;
  readonly #workshop = new Workshop();

  get folder(): string {
    return this.root;
  }

  /**
   * @param root absolute; made when something is written
   * @param access of `.htpasswd`
   */
  constructor(
    private readonly root: string,
    private readonly access: AccessMode = OWN_ACCESS,
  ) {
    this.#incoming = new Incoming(root);
  }

  /** Hashed afterwards, in a thread: what was just written is read from memory, and the main thread has answers to give. */
  async stage(bytes: AsyncIterable<Uint8Array>, limits: { bytes: number; keepFree: number }): Promise<StagedPackage> {
    const { id, size } = await this.#incoming.stage(bytes, limits);
    try {
      const { sha256 } = await this.#workshop.hash(this.#incoming.path(id));
      return { id, size, sha256 };
    } catch (error) {
      await this.#incoming.discard(id);
      throw error;
    }
  }

  staged(): Promise<{ id: string; modifiedAt: Date }[]> {
    return this.#incoming.staged();
  }

  discard(id: string): Promise<void> {
    return this.#incoming.discard(id);
  }

  inspect(id: string, rules: { platform: string; entry: string | null }): Promise<PackageContents> {
    return this.#workshop.inspect(this.#incoming.path(id), rules);
  }

  async put(id: string, place: ReleasePlace, texts: ManifestTexts): Promise<void> {
    const folder = folderOf(this.root, place);
    const move = async (): Promise<void> => {
      await makeFolder(this.root, folder, OPEN_FOLDER);
      await rename(this.#incoming.path(id), join(folder, PACKAGE));
    };
    // A withdrawal of the last package of a version takes its folder away.
    await move().catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
      return move();
    });
    // A rename between two links of one file leaves both.
    await this.#incoming.discard(id);
    await this.describe(place, texts);
  }

  async link(from: ReleasePlace, to: ReleasePlace, texts: ManifestTexts): Promise<boolean> {
    const id = await this.#incoming.linked(join(folderOf(this.root, from), PACKAGE));
    if (id === null) return false;
    await this.put(id, to, texts);
    return true;
  }

  async describe(place: ReleasePlace, { manifest, signature }: ManifestTexts): Promise<void> {
    const folder = folderOf(this.root, place);
    if (signature === null) await rm(join(folder, SIGNATURE), { force: true });
    else await this.#put(join(folder, SIGNATURE), signature);
    await this.#put(join(folder, MANIFEST), manifest);
    await syncFolder(folder);
  }

  async withdraw(place: ReleasePlace): Promise<boolean> {
    const folder = folderOf(this.root, place);
    const there = (await look(join(folder, PACKAGE))) !== null;
    for (const name of [PACKAGE, SIGNATURE, MANIFEST]) await rm(join(folder, name), { force: true });
    try {
      await syncFolder(folder);
      await rmdir(folder);
      await rmdir(dirname(folder));
    } catch (error) {
      // Something else lies there, or it was never there.
      if (!missing(error) && !['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error;
    }
    return there;
  }

  async held(place: ReleasePlace): Promise<{ size: number; sha256: string; texts: ManifestTexts | null } | null> {
    const folder = folderOf(this.root, place);
    const path = join(folder, PACKAGE);
    if ((await look(path)) === null) return null;
    const { size, sha256 } = await this.#workshop.hash(path);
    const [manifest, signature] = await Promise.all([textOf(join(folder, MANIFEST)), textOf(join(folder, SIGNATURE))]);
    return { size, sha256, texts: manifest === null ? null : { manifest, signature } };
  }

  async *places(): AsyncGenerator<ReleasePlace> {
    for (const product of await folders(this.root)) {
      for (const channel of await folders(join(this.root, product))) {
        for (const version of await folders(join(this.root, product, channel))) {
          for (const platform of await folders(join(this.root, product, channel, version))) {
            yield { product, channel, version, platform };
          }
        }
      }
    }
  }

  products(): Promise<string[]> {
    return folders(this.root);
  }

  async writeLatest(product: string, channel: string | null, text: string): Promise<void> {
    const folder = join(this.root, nameOf(product), ...(channel === null ? [] : [nameOf(channel)]));
    await makeFolder(this.root, folder, OPEN_FOLDER);
    await this.#put(join(folder, LATEST), text);
    await syncFolder(folder);
  }

  async accessTag(product: string, file: AccessFile): Promise<string | null> {
    const stats = await look(join(this.root, nameOf(product), file));
    return stats === null ? null : tagOf(stats);
  }

  async readAccess(product: string, file: AccessFile): Promise<string | null> {
    const path = join(this.root, nameOf(product), file);
    return (await look(path)) === null ? null : textOf(path);
  }

  async writeAccess(product: string, file: AccessFile, text: string): Promise<boolean> {
    if ((await this.readAccess(product, file)) === text) return false;
    const folder = join(this.root, nameOf(product));
    await makeFolder(this.root, folder, OPEN_FOLDER);
    const { id } = await this.#incoming.fresh();
    // Beside its place, under a name that web servers refuse like its own.
    const secret = file === '.htpasswd';
    const owner = await ownerIn(folder, secret ? this.access : OWN_ACCESS);
    const mode = secret ? this.access.mode : OPEN_FILE;
    await putText(join(folder, `.ht-${id}`), join(folder, file), text, { mode, owner });
    await syncFolder(folder);
    return true;
  }

  async open(segments: readonly string[]): Promise<StoredFile | null> {
    if (segments.length === 0 || !segments.every(isName)) return null;
    try {
      if (!(await throughFolders(this.root, segments))) return null;
      const path = join(this.root, ...segments);
      const stats = await look(path);
      return stats === null ? null : storedFile(path, stats);
    } catch (error) {
      if (missing(error) || codeOf(error) === 'ENAMETOOLONG') return null;
      throw error;
    }
  }

  freeBytes(): Promise<number> {
    return this.#incoming.freeBytes();
  }

  async #put(path: string, text: string): Promise<void> {
    const { path: temporary } = await this.#incoming.fresh();
    await putText(temporary, path, text);
  }
}

async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (missing(error)) return null;
    throw error;
  }
}

/** The folders in a folder, by name; no links. A folder that is not there has none. */
async function folders(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && isName(entry.name))
      .map(({ name }) => name)
      .toSorted();
  } catch (error) {
    if (missing(error)) return [];
    throw error;
  }
}
