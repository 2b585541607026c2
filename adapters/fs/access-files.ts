/**
 * Stores `.htaccess` and `.htpasswd` of products on the file system, where a web server reads them
 * (contract 40, access files).
 */
import { join } from 'node:path';
import { syncFolder } from '../../lib/folders.js';
import type { AccessFile, AccessFileStore } from '../../ports/release-store.js';
import { ownerIn, OWN_ACCESS, type AccessMode } from './access-mode.js';
import { makeFolder, OPEN_FILE, OPEN_FOLDER, putText } from './durable.js';
import type { Incoming } from './incoming.js';
import { nameOf } from './paths.js';
import { productsIn, refuseTaken } from './products.js';
import { look, tagOf, textOf } from './stored-file.js';
import type { Writing } from './write-faults.js';

export class FsAccessFiles implements AccessFileStore {
  /** @param access mode and group of `.htpasswd` */
  constructor(
    private readonly root: string,
    private readonly incoming: Incoming,
    private readonly access: AccessMode,
    private readonly writing: Writing,
  ) {}

  products(): Promise<string[]> {
    return productsIn(this.root);
  }

  async tag(product: string, file: AccessFile): Promise<string | null> {
    const stats = await look(join(this.root, nameOf(product), file));
    return stats === null ? null : tagOf(stats);
  }

  async read(product: string, file: AccessFile): Promise<string | null> {
    const path = join(this.root, nameOf(product), file);
    return (await look(path)) === null ? null : textOf(path);
  }

  async write(product: string, file: AccessFile, text: string): Promise<boolean> {
    if ((await this.read(product, file)) === text) return false;
    await this.writing(() => this.#put(product, file, text));
    return true;
  }

  async #put(product: string, file: AccessFile, text: string): Promise<void> {
    const folder = join(this.root, nameOf(product));
    await refuseTaken(folder);
    await makeFolder(this.root, folder, OPEN_FOLDER);
    const { id } = await this.incoming.fresh();
    // The temporary name is one that web servers deny like `.htpasswd` itself.
    const secret = file === '.htpasswd';
    const owner = await ownerIn(folder, secret ? this.access : OWN_ACCESS);
    const mode = secret ? this.access.mode : OPEN_FILE;
    await putText(join(folder, `.ht-${id}`), join(folder, file), text, { mode, owner });
    await syncFolder(folder);
  }
}
