/**
 * Release store on the file system, which a web server may serve directly (contract 40, files).
 * Served files are complete and synced, with their mode set, before a rename puts them in place;
 * then the folder is synced. A crash leaves old or new files, and at most leftovers in `.incoming`.
 * Between the renames of a package, its signature and its manifest they may briefly differ; agents
 * detect this by hash and retry.
 */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReleaseStore, StoredFile } from '../../ports/release-store.js';
import { FsAccessFiles } from './access-files.js';
import { OWN_ACCESS, type AccessMode } from './access-mode.js';
import { FsChannelTexts } from './channel-texts.js';
import { codeOf } from './durable.js';
import { Incoming } from './incoming.js';
import { FsPackages } from './packages.js';
import { isName, nameOf, throughFolders } from './paths.js';
import { productsIn, refuseTaken } from './products.js';
import { look, missing, storedFile } from './stored-file.js';
import { writingTo, type Writing } from './write-faults.js';

export class FsReleaseStore implements ReleaseStore {
  readonly packages: FsPackages;
  readonly channels: FsChannelTexts;
  readonly access: FsAccessFiles;
  readonly #incoming: Incoming;
  readonly #writing: Writing;

  /**
   * @param folder absolute; created on the first write
   * @param mode of `.htpasswd`
   * @param tell called for each failed write
   */
  constructor(
    readonly folder: string,
    mode: AccessMode = OWN_ACCESS,
    tell?: (error: Error) => void,
  ) {
    const incoming = new Incoming(folder);
    const writing = writingTo(folder, tell);
    this.#incoming = incoming;
    this.#writing = writing;
    this.packages = new FsPackages(folder, incoming, writing);
    this.channels = new FsChannelTexts(folder, incoming, writing);
    this.access = new FsAccessFiles(folder, incoming, mode, writing);
  }

  async open(segments: readonly string[]): Promise<StoredFile | null> {
    if (segments.length === 0 || !segments.every(isName)) return null;
    try {
      if (!(await throughFolders(this.folder, segments))) return null;
      const path = join(this.folder, ...segments);
      const stats = await look(path);
      return stats === null ? null : storedFile(path, stats);
    } catch (error) {
      if (missing(error) || codeOf(error) === 'ENAMETOOLONG') return null;
      throw error;
    }
  }

  admit(product: string): Promise<void> {
    return refuseTaken(join(this.folder, nameOf(product)));
  }

  probe(keepFree: number): Promise<void> {
    return this.#writing(async () => {
      await this.#incoming.probe(keepFree);
      // A product folder created by another user's command would reject its next release.
      for (const product of await productsIn(this.folder))
        await access(join(this.folder, product), constants.W_OK | constants.X_OK);
    });
  }

  async close(): Promise<void> {}
}
