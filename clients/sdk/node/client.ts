/** The client in Node: with files, an update agent to start, and packages to download. */
import { getConfiguredMachineId } from '../../../lib/formats/machine.js';
import { readPublicKey } from '../../../lib/formats/signature.js';
import { CommonClient } from '../client.js';
import { contextOf, type Context } from '../context.js';
import { settingsOf, type ClientOptions as CommonOptions } from '../options.js';
import { launchAgent, type AgentLaunched, type AgentOptions } from './agent.js';
import { downloadUpdate, type Download, type Downloadable, type OnProgress } from './download.js';
import { defaultCacheDir, nodeHost } from './host.js';

export interface NodeClientOptions extends CommonOptions {
  /** Folder for `aos-cache.json` and the queue of reports. Default: the user's cache folder, `aos/<project>`. */
  cacheDir?: string;
}

export class Client extends CommonClient {
  readonly #context: Context;

  /** @throws TypeError for an option that is wrong, KeyRefused for a public key that cannot be read */
  constructor(options: NodeClientOptions) {
    const machineId = options.machineId ?? getConfiguredMachineId(process.env) ?? undefined;
    const settings = settingsOf({ ...options, ...(machineId !== undefined && { machineId }) });
    for (const pem of settings.licenseKeys) readPublicKey(pem);
    const context = contextOf(settings, nodeHost(options.cacheDir ?? defaultCacheDir(settings.project)));
    super(context);
    this.#context = context;
  }

  /**
   * A release's package to `path`, its SHA-256 verified; `<path>.part` is taken up again. The release's signature is
   * verified by the update agent. Rejects only when `signal` aborts.
   */
  downloadUpdate(
    release: Downloadable,
    path: string,
    onProgress?: OnProgress,
    signal?: AbortSignal,
  ): Promise<Download> {
    return downloadUpdate(this.#context, release, path, onProgress, signal);
  }

  /** Starts the update agent beside the application, which should end itself then. Never rejects. */
  launchAgent(options: AgentOptions): Promise<AgentLaunched> {
    return launchAgent(this.#context, options);
  }
}

export const createClient = (options: NodeClientOptions): Client => new Client(options);
