/**
 * Serves static files: `web/assets` below `/assets/`, each plugin's `assets/` below
 * `/assets/<plugin>/`.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { createBrotliCompress } from 'node:zlib';
import type { Server } from '@hapi/hapi';
import Inert from '@hapi/inert';
import { FAST_BROTLI_OPTIONS } from '../transport/compressor.js';

export const ASSETS_PATH = '/assets/';

const STYLESHEET = 'style.css';

const PRECOMPRESSED_OPTIONS = { lookupCompressed: true, lookupMap: { br: '.br', gzip: '.gz' } };

export class StaticAssets {
  readonly #versions = new Map<string, string>();
  readonly #folders = new Map<string, string>();

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

  readonly getUrl = (path: unknown): string => {
    const version = this.#versions.get(String(path));
    return `${ASSETS_PATH}${String(path)}${version ? `?v=${version}` : ''}`;
  };

  listStylesheets(plugins: Iterable<string>): string[] {
    return [...new Set(plugins)].map((id) => `${id}/${STYLESHEET}`).filter((path) => this.#versions.has(path));
  }

  async mount(server: Server): Promise<string[]> {
    await server.register(Inert);
    server.encoder('br', () => createBrotliCompress(FAST_BROTLI_OPTIONS));
    const paths = [...this.#folders].map(([prefix, folder]) => {
      const path = `${ASSETS_PATH}${prefix}{path*}`;
      server.route({
        method: 'GET',
        path,
        handler: {
          directory: { path: folder, index: false, listing: false, redirectToSlash: false, ...PRECOMPRESSED_OPTIONS },
        },
        options: { state: { parse: false, failAction: 'ignore' } },
      });
      return path;
    });
    return paths;
  }

  getCacheControl(path: string, version: unknown): string {
    const current = this.#versions.get(path.slice(ASSETS_PATH.length));
    return current !== undefined && version === current
      ? 'public, max-age=31536000, immutable'
      : 'public, max-age=3600';
  }
}
