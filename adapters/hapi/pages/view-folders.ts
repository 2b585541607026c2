import { join } from 'node:path';
import type { HttpServer } from '../../../ports/http-server.js';

type Parts = Pick<Parameters<HttpServer['mount']>[0], 'pages' | 'panels'>;

export const owners = ({ pages, panels }: Parts): (readonly [plugin: string, views: string])[] =>
  [...pages, ...panels].map(({ plugin, views }) => [plugin, views] as const);

/** @returns the folder of a plugin's views; for `''` the service's own */
export function viewFolders(webDir: string, parts: Parts): (plugin: string) => string {
  const byPlugin = new Map(owners(parts));
  return (plugin) => byPlugin.get(plugin) ?? join(webDir, 'views');
}
