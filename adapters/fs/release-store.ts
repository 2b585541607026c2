/**
 * Served files are complete and synced, with their mode set, before a rename puts them in place
 * (contract 40, files); then the folder is synced. A crash leaves old or new files, and at most
 * leftovers in `.incoming`. Between the renames of a package, its signature and its manifest they
 * may briefly differ; agents detect
 */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReleaseStore, StoredFile } from '../../ports/release-store.js';
import { FsAccessFiles } from './access-files.js';
import { PRIVATE_ACCESS, type AccessMode } from './access-mode.js';
import { FsChannelTexts } from './channel-texts.js';
import { getErrorCode } from './durable-writes.js';
import { IncomingFolder } from './incoming-folder.js';
import { FsPackages } from './packages.js';
import { isValidName, requireValidName, hasOnlyFolders } from './paths.js';
import { listProducts, requireProductFolder } from './products.js';
import type { UnpackOptions } from './unpacked-files.js';
import { statFile, isMissingFileError, createStoredFile } from './stored-file.js';
import { createWriteRunner, type WriteRunner } from './write-faults.js';

export class FsReleaseStore implements ReleaseStore {
  readonly packages: FsPackages;
  readonly channels: FsChannelTexts;
  readonly access: FsAccessFiles;
  readonly #incoming: IncomingFolder;
  readonly #writing: WriteRunner;

  /**
   * @param folder absolute; created on the first write
   * @param mode of `.htpasswd`
   * @param onWriteError called for each failed write
   * @param unpack whether it stores the files of releases
   */
  constructor(
    readonly folder: string,
    mode: AccessMode = PRIVATE_ACCESS,
    onWriteError?: (error: Error) => void,
    unpack: UnpackOptions = { enabled: false },
  ) {
    const incoming = new IncomingFolder(folder);
    const writing = createWriteRunner(folder, onWriteError);
    this.#incoming = incoming;
    this.#writing = writing;
    this.packages = new FsPackages(folder, incoming, writing, unpack);
    this.channels = new FsChannelTexts(folder, incoming, writing);
    this.access = new FsAccessFiles(folder, incoming, mode, writing);
  }

  async open(segments: readonly string[]): Promise<StoredFile | null> {
    if (segments.length === 0 || !segments.every(isValidName)) return null;
    try {
      if (!(await hasOnlyFolders(this.folder, segments))) return null;
      const path = join(this.folder, ...segments);
      const stats = await statFile(path);
      return stats === null ? null : createStoredFile(path, stats);
    } catch (error) {
      if (isMissingFileError(error) || getErrorCode(error) === 'ENAMETOOLONG') return null;
      throw error;
    }
  }

  requireFolder(product: string): Promise<void> {
    return requireProductFolder(join(this.folder, requireValidName(product)));
  }

  probe(keepFree: number): Promise<void> {
    return this.#writing(async () => {
      await this.#incoming.probe(keepFree);
      // A product folder created by another user's command would reject its next release.
      for (const product of await listProducts(this.folder))
        await access(join(this.folder, product), constants.W_OK | constants.X_OK);
    });
  }

  async close(): Promise<void> {}
}
