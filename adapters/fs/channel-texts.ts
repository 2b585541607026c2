import { join } from 'node:path';
import { syncFolder } from '../../lib/folders.js';
import type { ChannelTexts } from '../../ports/release-store.js';
import { makeFolder, PUBLIC_FOLDER_MODE, replaceText } from './durable-writes.js';
import type { IncomingFolder } from './incoming-folder.js';
import { LATEST_FILE, requireValidName } from './paths.js';
import { requireProductFolder } from './products.js';
import type { WriteRunner } from './write-faults.js';

export class FsChannelTexts implements ChannelTexts {
  constructor(
    private readonly root: string,
    private readonly incoming: IncomingFolder,
    private readonly writing: WriteRunner,
  ) {}

  async write(product: string, channel: string | null, text: string): Promise<void> {
    const own = join(this.root, requireValidName(product));
    const folder = channel === null ? own : join(own, requireValidName(channel));
    await this.writing(async () => {
      await requireProductFolder(own);
      await makeFolder(this.root, folder, PUBLIC_FOLDER_MODE);
      const { path } = await this.incoming.createPath();
      await replaceText(path, join(folder, LATEST_FILE), text);
      await syncFolder(folder);
    });
  }
}
