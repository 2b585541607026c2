import { CommonClient } from '../client.js';
import { contextOf } from '../context.js';
import { settingsOf, type ClientOptions } from '../options.js';
import { browserHost } from './host.js';

/**
 * Creates a client for a page, without features that need files or a process.
 * @throws TypeError for an invalid option
 */
export function createClient(options: ClientOptions): CommonClient {
  const settings = settingsOf(options);
  if ('cacheDir' in options) throw new TypeError('cacheDir is for Node: a page keeps its cache in localStorage');
  return new CommonClient(contextOf(settings, browserHost(settings.project)));
}
