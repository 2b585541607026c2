import { join } from 'node:path';
import { syncFolder } from '../../lib/folders.js';
import type { ChannelTexts } from '../../ports/release-store.js';
import { makeFolder, OPEN_FOLDER, putText } from './durable.js';
import type { Incoming } from './incoming.js';
import { LATEST, nameOf } from './paths.js';
import { refuseTaken } from './products.js';
import type { Writing } from './write-faults.js';

export class FsChannelTexts implements ChannelTexts {
  constructor(
    private readonly root: string,
    private readonly incoming: Incoming,
    private readonly writing: Writing,
  ) {}

  async write(product: string, channel: string | null, text: string): Promise<void> {
    const own = join(this.root, nameOf(product));
    const folder = channel === null ? own : join(own, nameOf(channel));
    await this.writing(async () => {
      await refuseTaken(own);
      await makeFolder(this.root, folder, OPEN_FOLDER);
      const { path } = await this.incoming.fresh();
      await putText(path, join(folder, LATEST), text);
      await syncFolder(folder);
    });
  }
}
