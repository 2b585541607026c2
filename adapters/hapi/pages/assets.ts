/**
 * Static files through inert: `web/assets` below `/assets/`, and each plugin's `assets/` (the folder beside its views)
 * below `/assets/<plugin>/`. An address with the file's own version (`?v=<hash>`, made by the helper `asset`) never
 * changes its content and is kept for a year; an address without a version is kept for an hour, and checked by its
 * ETag. The build puts `.br` and `.gz` beside the larger files (scripts/assets.mjs), for clients that accept them.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { createBrotliCompress } from 'node:zlib';
import type { Server } from '@hapi/hapi';
import Inert from '@hapi/inert';
import { QUICK } from '../transport/compress.js';

export const ASSETS = '/assets/';

/** The style sheet in a plugin's `assets/` that its pages get after the general ones. */
const STYLE = 'style.css';

/** inert knows `lookupMap`; its types do not yet. */
const PRECOMPRESSED = { lookupCompressed: true, lookupMap: { br: '.br', gzip: '.gz' } };

export class Assets {
  /** The first 16 hex digits of each file's SHA-256, by its path below `/assets/`. */
  readonly #versions = new Map<string, string>();
  readonly #folders = new Map<string, string>();

  /** Reads the files once. @param plugins each plugin's folder of views, by its id */
  constructor(webDir: string, plugins: ReadonlyMap<string, string>) {
    this.#add('', join(webDir, 'assets'));
    for (const [id, views] of plugins) if (views !== '') this.#add(`${id}/`, join(views, '..', 'assets'));
  }

  #add(prefix: string, folder: string): void {
    if (!existsSync(folder)) return;
    this.#folders.set(prefix, folder);
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || /\.(br|gz)$/.test(entry.name)) continue;
      const path = join(entry.parentPath, entry.name);
      const hash = createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16);
      this.#versions.set(prefix + relative(folder, path).split(sep).join('/'), hash);
    }
  }

  /** The address of a file with its version: `asset "aos.css"` → `/assets/aos.css?v=…`. */
  readonly address = (path: unknown): string => {
    const version = this.#versions.get(String(path));
    return `${ASSETS}${String(path)}${version ? `?v=${version}` : ''}`;
  };

  /** The style sheets of these plugins, as names for the helper `asset`. */
  stylesOf(plugins: Iterable<string>): string[] {
    return [...new Set(plugins)].map((id) => `${id}/${STYLE}`).filter((path) => this.#versions.has(path));
  }

  /** Mounts the files. Answers their paths, for the table of known paths. */
  async serve(server: Server): Promise<string[]> {
    await server.register(Inert);
    server.encoder('br', () => createBrotliCompress(QUICK));
    const paths = [...this.#folders].map(([prefix, folder]) => {
      const path = `${ASSETS}${prefix}{path*}`;
      server.route({
        method: 'GET',
        path,
        handler: {
          directory: { path: folder, index: false, listing: false, redirectToSlash: false, ...PRECOMPRESSED },
        },
        options: { state: { parse: false, failAction: 'ignore' } },
      });
      return path;
    });
    return paths;
  }

  /** `Cache-Control` for a path below `/assets/` requested with this `v`. */
  caching(path: string, version: unknown): string {
    const current = this.#versions.get(path.slice(ASSETS.length));
    return current !== undefined && version === current
      ? 'public, max-age=31536000, immutable'
      : 'public, max-age=3600';
  }
}
