import { dirname, resolve } from 'node:path';
import { findPackageRoot } from '../load.js';

/** Returns the folder of the file that names the plugins, the base of their paths. */
export function getConfigFolder(origin: string): string {
  return dirname(resolve(/^config\/(default|local)\.json$/.test(origin) ? findPackageRoot() : process.cwd(), origin));
}

/** `server.base_url` (contract 00, configuration). */
export function formatListenUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
