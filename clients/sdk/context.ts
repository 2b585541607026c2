/** State shared by all parts of a client. */
import { Cache } from './cache.js';
import type { Host, MachineIdentity } from './host.js';
import { below, type ClientSettings } from './options.js';
import type { Exchange, ServiceRequest } from './transport.js';

export interface AskOptions extends Pick<ServiceRequest, 'body' | 'signal' | 'background'> {
  /** Default: none. Credentials are sent only with requests that need them. */
  token?: string | null;
}

export interface Context extends Omit<ClientSettings, 'machineId'> {
  host: Host;
  cache: Cache;
  /** From the options, else derived once. */
  machine: () => Promise<MachineIdentity>;
  machineId: () => Promise<string>;
  /** @param path below the server's URL, with a query */
  ask: (method: ServiceRequest['method'], path: string, asking?: AskOptions) => Promise<Exchange>;
}

export function contextOf(settings: ClientSettings, host: Host): Context {
  const { server, timeoutMs, project, machineId } = settings;
  let derived: Promise<MachineIdentity> | null = null;
  const machine = async (): Promise<MachineIdentity> =>
    machineId === null ? (derived ??= host.identifyMachine(project)) : { id: machineId, isStable: true };
  return {
    ...settings,
    host,
    cache: new Cache(host.kept, project),
    machine,
    machineId: async () => (await machine()).id,
    ask: (method, path, asking = {}) => host.exchange({ method, url: below(server, path), timeoutMs, ...asking }),
  };
}
