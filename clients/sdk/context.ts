/** What every part of a client shares. */
import { Cache } from './cache.js';
import type { Host } from './host.js';
import { below, type ClientSettings } from './options.js';
import type { Exchange, ServiceRequest } from './transport.js';

export interface AskOptions extends Pick<ServiceRequest, 'body' | 'signal' | 'background'> {
  /** Default: none. A credential goes only to the requests that need one. */
  token?: string | null;
}

export interface Context extends Omit<ClientSettings, 'machineId'> {
  host: Host;
  cache: Cache;
  /** Of the options, else derived once. */
  machineId: () => Promise<string>;
  /** @param path below the server's address, with a query */
  ask: (method: ServiceRequest['method'], path: string, asking?: AskOptions) => Promise<Exchange>;
}

export function contextOf(settings: ClientSettings, host: Host): Context {
  const { server, timeoutMs, project, machineId } = settings;
  let derived: Promise<string> | null = null;
  return {
    ...settings,
    host,
    cache: new Cache(host.kept, project),
    machineId: async () => machineId ?? (await (derived ??= host.machineId(project))),
    ask: (method, path, asking = {}) => host.exchange({ method, url: below(server, path), timeoutMs, ...asking }),
  };
}
