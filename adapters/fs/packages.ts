import { rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../../lib/folders.js';
import {
  NOTHING_SWEPT,
  type ManifestTexts,
  type PackageContents,
  type PackageStore,
  type ReleasePlace,
  type StagedPackage,
  type Swept,
} from '../../ports/release-store.js';
import { codeOf, makeFolder, OPEN_FOLDER, putText } from './durable.js';
import type { Incoming } from './incoming.js';
import { folderOf, MANIFEST, PACKAGE, SIGNATURE } from './paths.js';
import { refuseTaken } from './products.js';
import { folders, look, missing, textOf } from './stored-file.js';
import { Workshop } from './workshop.js';
import type { Writing } from './write-faults.js';

export class FsPackages implements PackageStore {
  readonly #workshop = new Workshop();

  constructor(
    private readonly root: string,
    private readonly incoming: Incoming,
    private readonly writing: Writing,
  ) {}

  /** Receives a package, then hashes it in a thread, to keep the main thread free. */
  async stage(bytes: AsyncIterable<Uint8Array>, limits: { bytes: number; keepFree: number }): Promise<StagedPackage> {
    const { id, size } = await this.writing(() => this.incoming.stage(bytes, limits));
    try {
      const { sha256 } = await this.#workshop.hash(this.incoming.path(id));
      return { id, size, sha256 };
    } catch (error) {
      await this.incoming.discard(id);
      throw error;
    }
  }

  staged(): Promise<{ id: string; modifiedAt: Date }[]> {
    return this.incoming.staged();
  }

  discard(id: string): Promise<void> {
    return this.writing(() => this.incoming.discard(id));
  }

  inspect(id: string, rules: { platform: string; entry: string | null }): Promise<PackageContents> {
    return this.#workshop.inspect(this.incoming.path(id), rules);
  }

  put(id: string, place: ReleasePlace, texts: ManifestTexts): Promise<void> {
    return this.writing(() => this.#place(id, place, texts));
  }

  async #place(id: string, place: ReleasePlace, texts: ManifestTexts): Promise<void> {
    await refuseTaken(join(this.root, place.product));
    const folder = folderOf(this.root, place);
    const move = async (): Promise<void> => {
      await makeFolder(this.root, folder, OPEN_FOLDER);
      await rename(this.incoming.path(id), join(folder, PACKAGE));
    };
    // Withdrawing the last package of a version removes the folder, so it may be missing.
    await move().catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
      return move();
    });
    // A rename between two links of one file leaves both links.
    await this.incoming.discard(id);
    await this.#describe(place, texts);
  }

  async link(from: ReleasePlace, to: ReleasePlace, texts: ManifestTexts): Promise<boolean> {
    const id = await this.writing(() => this.incoming.linked(join(folderOf(this.root, from), PACKAGE)));
    if (id === null) return false;
    await this.put(id, to, texts);
    return true;
  }

  describe(place: ReleasePlace, texts: ManifestTexts): Promise<void> {
    return this.writing(() => this.#describe(place, texts));
  }

  async #describe(place: ReleasePlace, { manifest, signature }: ManifestTexts): Promise<void> {
    const folder = folderOf(this.root, place);
    if (signature === null) await rm(join(folder, SIGNATURE), { force: true });
    else await this.#put(join(folder, SIGNATURE), signature);
    await this.#put(join(folder, MANIFEST), manifest);
    await syncFolder(folder);
  }

  withdraw(place: ReleasePlace): Promise<boolean> {
    return this.writing(() => this.#withdraw(place));
  }

  async #withdraw(place: ReleasePlace): Promise<boolean> {
    const folder = folderOf(this.root, place);
    const there = (await look(join(folder, PACKAGE))) !== null;
    for (const name of [PACKAGE, SIGNATURE, MANIFEST]) await rm(join(folder, name), { force: true });
    try {
      await syncFolder(folder);
      await rmdir(folder);
      await rmdir(dirname(folder));
    } catch (error) {
      // Another file is in the folder, or the folder is missing.
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

  async sweep(): Promise<Swept> {
    return NOTHING_SWEPT;
  }

  freeBytes(): Promise<number> {
    return this.incoming.freeBytes();
  }

  async #put(path: string, text: string): Promise<void> {
    const { path: temporary } = await this.incoming.fresh();
    await putText(temporary, path, text);
  }
}
