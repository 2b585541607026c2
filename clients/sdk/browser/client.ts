import { CommonClient } from '../client.js';
import { createContext } from '../context.js';
import { parseOptions, type ClientOptions } from '../options.js';
import { createBrowserHost } from './host.js';

/**
 * Creates a client for a page.
 * @throws TypeError for an invalid option
 */
export function createClient(options: ClientOptions): CommonClient {
  const settings = parseOptions(options);
  if ('cacheDir' in options) throw new TypeError('cacheDir is only for Node; a page stores its cache in localStorage');
  return new CommonClient(createContext(settings, createBrowserHost(settings.project)));
}
