/** Where what the configuration names lies, and where the service listens. */
import { dirname, resolve } from 'node:path';
import { packageRoot } from '../load.js';

/**
 * The folder of the file that names the plugins: their paths are relative to it. The service's own files are named from
 * its root.
 */
export function folderOf(origin: string): string {
  return dirname(resolve(/^config\/(default|local)\.json$/.test(origin) ? packageRoot() : process.cwd(), origin));
}

/** What `server.base_url` defaults to (contract 00, configuration); with port 0 it is known after listening. */
export function listenUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
