/** What every part of a client shares. */
import { Cache } from './cache.js';
import type { Host } from './host.js';
import { below, type Settings } from './options.js';
import type { Exchange, Question } from './transport.js';

export interface Asking extends Pick<Question, 'body' | 'signal' | 'background'> {
  /** Default: none. A credential goes only to the requests that need one. */
  token?: string | null;
}

export interface Context extends Omit<Settings, 'machineId'> {
  host: Host;
  cache: Cache;
  /** Of the options, else derived once. */
  machineId: () => Promise<string>;
  /** @param path below the server's address, with a query */
  ask: (method: Question['method'], path: string, asking?: Asking) => Promise<Exchange>;
}

export function contextOf(settings: Settings, host: Host): Context {
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
