/** What every part of a client shares. */
import type { Cache } from './cache.js';
import { exchange, type Exchange, type Question } from './http.js';
import { below, type Settings } from './options.js';

export interface Asking extends Pick<Question, 'body' | 'signal' | 'background'> {
  /** Default: none. A credential goes only to the requests that need one. */
  token?: string | null;
}

export interface Context extends Omit<Settings, 'machineId'> {
  cache: Cache;
  /** Of the options, else derived once. */
  machineId: () => Promise<string>;
  /** @param path below the server's address, with a query */
  ask: (method: Question['method'], path: string, asking?: Asking) => Promise<Exchange>;
}

export function contextOf(settings: Settings, cache: Cache, machineId: () => Promise<string>): Context {
  const { server, timeoutMs } = settings;
  return {
    ...settings,
    cache,
    machineId,
    ask: (method, path, asking = {}) => exchange({ method, url: below(server, path), timeoutMs, ...asking }),
  };
}
