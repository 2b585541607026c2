import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Peers } from '../../adapters/mongodb/peers.js';
import { InstanceLock } from '../../adapters/node/instance-lock.js';
import type { PinoLogger } from '../../adapters/node/logger.js';
import type { UnlistedProxies } from '../../adapters/node/unlisted-proxies.js';
import type { AppSettings } from '../../kernel/contract.js';
import type { Kernel, KernelBootOptions } from '../../kernel/kernel.js';
import { within } from '../../kernel/timeout.js';
import { replaceFile } from '../../lib/files/replace-file.js';
import { FIRST_START } from '../../ports/domain/access.js';
import { Announcement } from './announcement.js';
import { PluginStatesFile } from './plugin-states.js';
import type { ServicePorts } from './ports.js';
import { announced, placeInstallers } from './releases.js';
import type { Setup } from './setup.js';
import { toldBySetting } from './start-fault.js';

const CLOSE_MS = 1_000;

export interface Started {
  address: string | null;
  firstAdmin: FirstAdmin | null;
}

export interface FirstAdmin {
  username: string;
  password: string | null;
}

interface Parts {
  setup: Setup;
  app: AppSettings;
  kernel: Kernel;
  ports: ServicePorts;
  lines: PinoLogger;
  unlisted: UnlistedProxies;
  fleet: Peers | null;
}

export class Lifecycle {
  readonly #serverFile: string;
  readonly #announcement: Announcement;
  readonly #pluginStates: PluginStatesFile;
  #lock: InstanceLock | null = null;
  #isListening = false;
  #stopping: Promise<void> | undefined;
  #placing: Promise<void> | undefined;

  constructor(private readonly parts: Parts) {
    const { setup, kernel, ports } = parts;
    const { data_dir } = setup.config;
    this.#serverFile = join(data_dir, 'server.json');
    this.#announcement = new Announcement((url) => this.#writeAddress(url), ports.log);
    this.#pluginStates = new PluginStatesFile(data_dir, () => kernel.system.plugins(), ports.log);
  }

  /** A failed start closes what it opened before it rejects, or after a second. */
  async boot(options: KernelBootOptions = {}): Promise<Started> {
    const { setup, ports } = this.parts;
    try {
      return await toldBySetting(setup.configuration, () => this.#boot(options));
    } catch (error) {
      // A part that hangs must not hide the reason.
      await within(CLOSE_MS, 'closing after a failed start', () => this.stop()).catch((err: unknown) =>
        ports.log.error({ err }, 'what the failed start had opened did not close'),
      );
      throw error;
    }
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  recordPlugins(): void {
    if (this.#isListening) void this.#pluginStates.write();
  }

  async #boot(options: KernelBootOptions): Promise<Started> {
    const { setup, app, kernel, ports, fleet } = this.parts;
    const { mode, config, usesDataDirectory } = setup;
    const { data_dir, storage, server } = config;
    if (mode === 'serve' && storage.file !== null) this.#lock = await InstanceLock.acquire(data_dir, storage.file);
    const places = mode === 'serve' && usesDataDirectory && (await announced(ports.installers, ports.log));
    const { address } = await kernel.boot(mode, options);
    if (mode !== 'serve') return { address, firstAdmin: null };
    await fleet?.start();
    if (places) this.#placing = placeInstallers(ports.installers, ports.log);
    if (server.base_url === null && address !== null) app.base_url = address;
    const firstAdmin = (await kernel.service(FIRST_START)?.ensureAdmin()) ?? null;
    if (address === null) return { address, firstAdmin };
    this.#isListening = true;
    await this.#pluginStates.write();
    await this.#announcement.tell(address);
    return { address, firstAdmin };
  }

  async #stop(): Promise<void> {
    const { kernel, ports, lines, unlisted, fleet } = this.parts;
    await fleet?.stop();
    await kernel.stop();
    await ports.releaseStore.close();
    await unlisted.flush();
    await this.#placing;
    await Promise.all([ports.hasher.close(), ports.sourceMaps.close()]);
    await this.#announcement.stop();
    await this.#removeAddress();
    await lines.flush();
  }

  async #writeAddress(url: string): Promise<void> {
    if (this.#lock) await this.#lock.announce(url);
    else await replaceFile(this.#serverFile, `${JSON.stringify({ pid: process.pid, url })}\n`);
  }

  async #removeAddress(): Promise<void> {
    if (this.#lock) await this.#lock.release();
    else if ((await InstanceLock.running(this.parts.setup.config.data_dir))?.pid === process.pid)
      await rm(this.#serverFile, { force: true });
  }
}
