import { rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../../lib/folders.js';
import {
  type ManifestTexts,
  type PackageContents,
  type PackageStore,
  type ReleaseLocation,
  type StagedPackage,
  type SweepResult,
} from '../../ports/release-store.js';
import { getErrorCode, makeFolder, PUBLIC_FOLDER_MODE, replaceText } from './durable-writes.js';
import type { IncomingFolder } from './incoming-folder.js';
import { UnpackedFiles, type UnpackOptions } from './unpacked-files.js';
import { getPackageFolder, MANIFEST_FILE, PACKAGE_FILE, SIGNATURE_FILE } from './paths.js';
import { requireProductFolder } from './products.js';
import { listFolders, statFile, isMissingFileError, readTextFile } from './stored-file.js';
import { ThreadPackageReader } from './package-reader.js';
import type { WriteRunner } from './write-faults.js';

export class FsPackages implements PackageStore {
  readonly #workshop = new ThreadPackageReader();
  readonly #files: UnpackedFiles;

  constructor(
    private readonly root: string,
    private readonly incoming: IncomingFolder,
    private readonly writing: WriteRunner,
    unpack: UnpackOptions,
  ) {
    this.#files = new UnpackedFiles(root, this.#workshop, unpack);
  }

  /** Hashes in a thread. */
  async stage(bytes: AsyncIterable<Uint8Array>, limits: { bytes: number; keepFree: number }): Promise<StagedPackage> {
    const { id, size } = await this.writing(() => this.incoming.stage(bytes, limits));
    try {
      const { sha256 } = await this.#workshop.hash(this.incoming.getPath(id));
      return { id, size, sha256 };
    } catch (error) {
      await this.incoming.discard(id);
      throw error;
    }
  }

  listStaged(): Promise<{ id: string; modifiedAt: Date }[]> {
    return this.incoming.listStaged();
  }

  discard(id: string): Promise<void> {
    return this.writing(() => this.incoming.discard(id));
  }

  inspect(id: string, rules: { platform: string; entry: string | null }): Promise<PackageContents> {
    return this.#workshop.inspect(this.incoming.getPath(id), rules);
  }

  put(id: string, place: ReleaseLocation, texts: ManifestTexts): Promise<void> {
    return this.writing(() => this.#placePackage(id, place, texts));
  }

  async #placePackage(id: string, place: ReleaseLocation, texts: ManifestTexts): Promise<void> {
    await requireProductFolder(join(this.root, place.product));
    const folder = getPackageFolder(this.root, place);
    await this.#files.retire(place);
    const move = async (): Promise<void> => {
      await makeFolder(this.root, folder, PUBLIC_FOLDER_MODE);
      await rename(this.incoming.getPath(id), join(folder, PACKAGE_FILE));
    };
    // Withdrawing the last package of a version removes the folder, so it may be missing.
    await move().catch((error: unknown) => {
      if (getErrorCode(error) !== 'ENOENT') throw error;
      return move();
    });
    // A rename between two links of one file leaves both links.
    await this.incoming.discard(id);
    await this.#describe(place, texts);
  }

  async link(from: ReleaseLocation, to: ReleaseLocation, texts: ManifestTexts): Promise<boolean> {
    const id = await this.writing(() => this.incoming.linkFrom(join(getPackageFolder(this.root, from), PACKAGE_FILE)));
    if (id === null) return false;
    await this.put(id, to, texts);
    return true;
  }

  writeTexts(place: ReleaseLocation, texts: ManifestTexts): Promise<void> {
    return this.writing(() => this.#describe(place, texts));
  }

  async #describe(place: ReleaseLocation, { manifest, signature }: ManifestTexts): Promise<void> {
    const folder = getPackageFolder(this.root, place);
    if (signature === null) await rm(join(folder, SIGNATURE_FILE), { force: true });
    else await this.#put(join(folder, SIGNATURE_FILE), signature);
    if ((await readTextFile(join(folder, MANIFEST_FILE))) !== manifest) {
      await this.#files.retire(place);
      await this.#put(join(folder, MANIFEST_FILE), manifest);
    }
    await syncFolder(folder);
  }

  updateFiles(place: ReleaseLocation, signal?: AbortSignal): Promise<void> {
    return this.#files.update(place, signal);
  }

  withdraw(place: ReleaseLocation): Promise<boolean> {
    return this.writing(() => this.#withdraw(place));
  }

  async #withdraw(place: ReleaseLocation): Promise<boolean> {
    const folder = getPackageFolder(this.root, place);
    const there = (await statFile(join(folder, PACKAGE_FILE))) !== null;
    for (const name of [PACKAGE_FILE, SIGNATURE_FILE, MANIFEST_FILE]) await rm(join(folder, name), { force: true });
    await this.#files.retire(place);
    try {
      await syncFolder(folder);
      await rmdir(folder);
      await rmdir(dirname(folder));
    } catch (error) {
      // Another file is in the folder, or the folder is missing.
      if (!isMissingFileError(error) && !['ENOTEMPTY', 'EEXIST'].includes(getErrorCode(error))) throw error;
    }
    return there;
  }

  async readPackageInfo(
    place: ReleaseLocation,
  ): Promise<{ size: number; sha256: string; texts: ManifestTexts | null } | null> {
    const folder = getPackageFolder(this.root, place);
    const path = join(folder, PACKAGE_FILE);
    if ((await statFile(path)) === null) return null;
    const { size, sha256 } = await this.#workshop.hash(path);
    const [manifest, signature] = await Promise.all([
      readTextFile(join(folder, MANIFEST_FILE)),
      readTextFile(join(folder, SIGNATURE_FILE)),
    ]);
    return { size, sha256, texts: manifest === null ? null : { manifest, signature } };
  }

  async *iterateLocations(): AsyncGenerator<ReleaseLocation> {
    for (const product of await listFolders(this.root)) {
      for (const channel of await listFolders(join(this.root, product))) {
        for (const version of await listFolders(join(this.root, product, channel))) {
          for (const platform of await listFolders(join(this.root, product, channel, version))) {
            yield { product, channel, version, platform };
          }
        }
      }
    }
  }

  async sweep(signal?: AbortSignal): Promise<SweepResult> {
    return { removed: await this.#files.sweep(this.iterateLocations(), signal), damaged: [] };
  }

  getFreeBytes(): Promise<number> {
    return this.incoming.getFreeBytes();
  }

  async #put(path: string, text: string): Promise<void> {
    const { path: temporary } = await this.incoming.createPath();
    await replaceText(temporary, path, text);
  }
}
