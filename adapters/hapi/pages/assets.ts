/**
 * Static files of `web/assets` through inert. An address with the file's own version (`?v=<hash>`, made by the helper
 * `asset`) never changes its content and is kept for a year; without, for an hour, and asked about by its ETag.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Server } from '@hapi/hapi';
import Inert from '@hapi/inert';

export const ASSETS = '/assets/';

/** The first 16 hex digits of each file's SHA-256, by its path below `web/assets`. Read once, at the start. */
export function assetVersions(folder: string): ReadonlyMap<string, string> {
  const versions = new Map<string, string>();
  if (!existsSync(folder)) return versions;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const hash = createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16);
    versions.set(relative(folder, path).split(sep).join('/'), hash);
  }
  return versions;
}

/** `asset "aos.css"` → `/assets/aos.css?v=…` */
export const assetHelper =
  (versions: ReadonlyMap<string, string>) =>
  (path: unknown): string => {
    const version = versions.get(String(path));
    return `${ASSETS}${String(path)}${version ? `?v=${version}` : ''}`;
  };

export async function serveAssets(server: Server, folder: string): Promise<void> {
  await server.register(Inert);
  server.route({
    method: 'GET',
    path: `${ASSETS}{path*}`,
    handler: { directory: { path: folder, index: false, listing: false, redirectToSlash: false } },
    options: { state: { parse: false, failAction: 'ignore' } },
  });
}

/** `Cache-Control` for a path below `/assets/` asked with this `v`. */
export function assetCaching(versions: ReadonlyMap<string, string>, path: string, version: unknown): string {
  const current = versions.get(path.slice(ASSETS.length));
  return current !== undefined && version === current ? 'public, max-age=31536000, immutable' : 'public, max-age=3600';
}
