/**
 * The release store on the file system, which a web server may serve from the same disk (contract 40, files).
 *
 * Everything that is served gets its place by a rename of a file that is whole, on the disk, and has its mode; folders
 * are synced after it. So a crash leaves old files or new ones, and at most something in `.incoming`. Between the
 * renames of a package, its signature and its manifest the three may be of two releases for a moment: agents meet
 * another hash, and ask again.
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
   * @param folder absolute; made when something is written
   * @param mode of `.htpasswd`
   * @param tell hears of each write that the disk did not take
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
      // Made by a command of another user, a product's folder refuses its next release.
      for (const product of await productsIn(this.folder))
        await access(join(this.folder, product), constants.W_OK | constants.X_OK);
    });
  }

  async close(): Promise<void> {}
}
