/** The client for Node: with files, the update agent and package downloads. */
import { getConfiguredMachineId } from '../../../lib/formats/machine.js';
import { parsePublicKey } from '../../../lib/formats/signature.js';
import { CommonClient } from '../client.js';
import { createContext, type ClientContext } from '../context.js';
import { parseOptions, type ClientOptions as CommonOptions } from '../options.js';
import { launchAgent, type AgentLaunched, type AgentOptions } from './agent.js';
import { downloadUpdate, type Download, type Downloadable, type OnProgress } from './download.js';
import { getDefaultCacheDir, createNodeHost } from './host.js';

export interface NodeClientOptions extends CommonOptions {
  /**
   * Folder for `aos-cache.json` and queued reports. Default: the user's cache folder,
   * `aos/<project>`.
   */
  cacheDir?: string;
}

export class Client extends CommonClient {
  readonly #context: ClientContext;

  /** @throws TypeError for an invalid option, KeyRefused for an invalid public key */
  constructor(options: NodeClientOptions) {
    const machineId = options.machineId ?? getConfiguredMachineId(process.env) ?? undefined;
    const settings = parseOptions({ ...options, ...(machineId !== undefined && { machineId }) });
    for (const pem of settings.licenseKeys) parsePublicKey(pem);
    const context = createContext(settings, createNodeHost(options.cacheDir ?? getDefaultCacheDir(settings.project)));
    super(context);
    this.#context = context;
  }

  /** Rejects only when `signal` aborts. */
  downloadUpdate(
    release: Downloadable,
    path: string,
    onProgress?: OnProgress,
    signal?: AbortSignal,
  ): Promise<Download> {
    return downloadUpdate(this.#context, release, path, onProgress, signal);
  }

  /** The application should then exit. Never rejects. */
  launchAgent(options: AgentOptions): Promise<AgentLaunched> {
    return launchAgent(this.#context, options);
  }
}

export const createClient = (options: NodeClientOptions): Client => new Client(options);
