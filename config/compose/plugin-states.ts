/** `plugins.json` in the data directory: plugin states for `aos plugin list` and `aos doctor`. */
import { join } from 'node:path';
import { InstanceLock } from '../../adapters/node/instance-lock.js';
import { isProcessRunning } from '../../adapters/node/processes.js';
import { replaceFile } from '../../lib/files/replace-file.js';
import { readOwnedFile } from '../../lib/files/trusted-file.js';
import type { PluginState } from '../../ports/domain/system.js';
import type { Logger } from '../../ports/logger.js';

const getStatesPath = (dataDir: string): string => join(dataDir, 'plugins.json');

export class PluginStatesFile {
  #last: Promise<void> = Promise.resolve();

  constructor(
    private readonly dataDir: string,
    private readonly states: () => readonly PluginState[],
    private readonly log: Logger,
  ) {}

  /** A full disk must not affect the service. */
  write(): Promise<void> {
    this.#last = this.#writeAfter(this.#last);
    return this.#last;
  }

  async #writeAfter(last: Promise<void>): Promise<void> {
    await last;
    try {
      await replaceFile(getStatesPath(this.dataDir), `${JSON.stringify({ pid: process.pid, items: this.states() })}\n`);
    } catch (err) {
      this.log.warn({ err }, 'plugins.json was not written');
    }
  }
}

export async function readRunningPluginStates(dataDir: string): Promise<PluginState[] | null> {
  const running = await InstanceLock.readRunningServer(dataDir);
  if (running === null || !isProcessRunning(running.pid)) return null;
  try {
    const { pid, items } = JSON.parse(await readOwnedFile(getStatesPath(dataDir))) as {
      pid: number;
      items: PluginState[];
    };
    return pid === running.pid ? items : null;
  } catch {
    // The file is missing after an older version or on a full disk.
    return null;
  }
}
