import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { PeerCounter } from '../../adapters/mongodb/peer-counter.js';
import { InstanceLock } from '../../adapters/node/instance-lock.js';
import type { PinoLogger } from '../../adapters/node/logger.js';
import type { UnlistedProxyRecorder } from '../../adapters/node/unlisted-proxies.js';
import type { AppSettings } from '../../kernel/contract/index.js';
import type { Kernel, KernelBootOptions } from '../../kernel/kernel.js';
import { runWithTimeout } from '../../kernel/timeout.js';
import { replaceFile } from '../../lib/files/replace-file.js';
import { ADMIN_BOOTSTRAP } from '../../ports/domain/access.js';
import { ServerFileWriter } from './server-file.js';
import { PluginStatesFile } from './plugin-states.js';
import type { ServicePorts } from './ports.js';
import { announceInstallers, placeInstallers } from './release-storage.js';
import type { Setup } from './setup.js';
import { attributeToConfigKey } from './config-errors.js';

const CLOSE_TIMEOUT_MS = 1_000;

export interface StartResult {
  address: string | null;
  firstAdmin: FirstAdmin | null;
}

export interface FirstAdmin {
  username: string;
  password: string | null;
}

interface LifecycleParts {
  setup: Setup;
  app: AppSettings;
  kernel: Kernel;
  ports: ServicePorts;
  lines: PinoLogger;
  unlisted: UnlistedProxyRecorder;
  fleet: PeerCounter | null;
}

export class Lifecycle {
  readonly #serverFile: string;
  readonly #announcement: ServerFileWriter;
  readonly #pluginStates: PluginStatesFile;
  #lock: InstanceLock | null = null;
  #isListening = false;
  #stopping: Promise<void> | undefined;
  #installersPlaced: Promise<void> | undefined;

  constructor(private readonly parts: LifecycleParts) {
    const { setup, kernel, ports } = parts;
    const { data_dir } = setup.config;
    this.#serverFile = join(data_dir, 'server.json');
    this.#announcement = new ServerFileWriter((url) => this.#writeAddress(url), ports.log);
    this.#pluginStates = new PluginStatesFile(data_dir, () => kernel.system.listPlugins(), ports.log);
  }

  /** Closes what it opened before it rejects. */
  async boot(options: KernelBootOptions = {}): Promise<StartResult> {
    const { setup, ports } = this.parts;
    try {
      return await attributeToConfigKey(setup.configuration, () => this.#boot(options));
    } catch (error) {
      // A part that hangs must not hide the reason.
      await runWithTimeout(CLOSE_TIMEOUT_MS, 'closing after a failed start', () => this.stop()).catch((err: unknown) =>
        ports.log.error({ err }, 'resources of the failed start could not be closed'),
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

  async #boot(options: KernelBootOptions): Promise<StartResult> {
    const { setup, app, kernel, ports, fleet } = this.parts;
    const { mode, config, usesDataDirectory } = setup;
    const { data_dir, storage, server } = config;
    if (mode === 'serve' && storage.file !== null) this.#lock = await InstanceLock.acquire(data_dir, storage.file);
    const places = mode === 'serve' && usesDataDirectory && (await announceInstallers(ports.installers, ports.log));
    const { address } = await kernel.boot(mode, options);
    if (mode !== 'serve') return { address, firstAdmin: null };
    await fleet?.start();
    if (places) this.#installersPlaced = placeInstallers(ports.installers, ports.log);
    if (server.base_url === null && address !== null) app.base_url = address;
    const firstAdmin = (await kernel.findService(ADMIN_BOOTSTRAP)?.ensureAdmin()) ?? null;
    if (address === null) return { address, firstAdmin };
    this.#isListening = true;
    await this.#pluginStates.write();
    await this.#announcement.publish(address);
    return { address, firstAdmin };
  }

  async #stop(): Promise<void> {
    const { kernel, ports, lines, unlisted, fleet } = this.parts;
    await fleet?.stop();
    await kernel.stop();
    await ports.releaseStore.close();
    await unlisted.flush();
    await this.#installersPlaced;
    await Promise.all([ports.hasher.close(), ports.sourceMaps.close()]);
    await this.#announcement.stop();
    await this.#removeAddress();
    await lines.flush();
  }

  async #writeAddress(url: string): Promise<void> {
    if (this.#lock) await this.#lock.writeServerUrl(url);
    else await replaceFile(this.#serverFile, `${JSON.stringify({ pid: process.pid, url })}\n`);
  }

  async #removeAddress(): Promise<void> {
    if (this.#lock) await this.#lock.release();
    else if ((await InstanceLock.readRunningServer(this.parts.setup.config.data_dir))?.pid === process.pid)
      await rm(this.#serverFile, { force: true });
  }
}
