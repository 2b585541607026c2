import { join } from 'node:path';
import type { HttpServer } from '../../../ports/http-server.js';

type MountedParts = Pick<Parameters<HttpServer['mount']>[0], 'pages' | 'panels'>;

export const listViewFolders = ({ pages, panels }: MountedParts): (readonly [plugin: string, views: string])[] =>
  [...pages, ...panels].map(({ plugin, views }) => [plugin, views] as const);

export function createFolderResolver(webDir: string, parts: MountedParts): (plugin: string) => string {
  const byPlugin = new Map(listViewFolders(parts));
  return (plugin) => byPlugin.get(plugin) ?? join(webDir, 'views');
}
