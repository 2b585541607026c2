import { join } from 'node:path';
import { syncFolder } from '../../lib/folders.js';
import type { AccessFile, AccessFileStore } from '../../ports/release-store.js';
import { getFileOwner, PRIVATE_ACCESS, type AccessMode } from './access-mode.js';
import { makeFolder, PUBLIC_FILE_MODE, PUBLIC_FOLDER_MODE, replaceText } from './durable-writes.js';
import type { IncomingFolder } from './incoming-folder.js';
import { requireValidName } from './paths.js';
import { listProducts, requireProductFolder } from './products.js';
import { statFile, computeTag, readTextFile } from './stored-file.js';
import type { WriteRunner } from './write-faults.js';

export class FsAccessFiles implements AccessFileStore {
  /** @param access mode and group of `.htpasswd` */
  constructor(
    private readonly root: string,
    private readonly incoming: IncomingFolder,
    private readonly access: AccessMode,
    private readonly writing: WriteRunner,
  ) {}

  listProducts(): Promise<string[]> {
    return listProducts(this.root);
  }

  async getTag(product: string, file: AccessFile): Promise<string | null> {
    const stats = await statFile(join(this.root, requireValidName(product), file));
    return stats === null ? null : computeTag(stats);
  }

  async read(product: string, file: AccessFile): Promise<string | null> {
    const path = join(this.root, requireValidName(product), file);
    return (await statFile(path)) === null ? null : readTextFile(path);
  }

  async write(product: string, file: AccessFile, text: string): Promise<boolean> {
    if ((await this.read(product, file)) === text) return false;
    await this.writing(() => this.#put(product, file, text));
    return true;
  }

  async #put(product: string, file: AccessFile, text: string): Promise<void> {
    const folder = join(this.root, requireValidName(product));
    await requireProductFolder(folder);
    await makeFolder(this.root, folder, PUBLIC_FOLDER_MODE);
    const { id } = await this.incoming.createPath();
    // The temporary name is one that web servers deny like `.htpasswd` itself.
    const secret = file === '.htpasswd';
    const owner = await getFileOwner(folder, secret ? this.access : PRIVATE_ACCESS);
    const mode = secret ? this.access.mode : PUBLIC_FILE_MODE;
    await replaceText(join(folder, `.ht-${id}`), join(folder, file), text, { mode, owner });
    await syncFolder(folder);
  }
}
