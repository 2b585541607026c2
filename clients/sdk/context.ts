/** State shared by all parts of a client. */
import { AnswerCache } from './cache.js';
import type { ClientHost, MachineIdentity } from './host.js';
import { resolveServerPath, type ClientSettings } from './options.js';
import type { Exchange, ServiceRequest } from './transport.js';

export interface ServiceRequestOptions extends Pick<ServiceRequest, 'body' | 'signal' | 'background'> {
  /** Default: none. Credentials are sent only with requests that need them. */
  token?: string | null;
}

export interface ClientContext extends Omit<ClientSettings, 'machineId'> {
  host: ClientHost;
  cache: AnswerCache;
  /** From the options, else derived once. */
  machine: () => Promise<MachineIdentity>;
  machineId: () => Promise<string>;
  /** @param path below the server's URL */
  ask: (method: ServiceRequest['method'], path: string, asking?: ServiceRequestOptions) => Promise<Exchange>;
}

export function createContext(settings: ClientSettings, host: ClientHost): ClientContext {
  const { server, timeoutMs, project, machineId } = settings;
  let derived: Promise<MachineIdentity> | null = null;
  const machine = async (): Promise<MachineIdentity> =>
    machineId === null ? (derived ??= host.identifyMachine(project)) : { id: machineId, isStable: true };
  return {
    ...settings,
    host,
    cache: new AnswerCache(host.kept, project),
    machine,
    machineId: async () => (await machine()).id,
    ask: (method, path, options = {}) =>
      host.exchange({ method, url: resolveServerPath(server, path), timeoutMs, ...options }),
  };
}
