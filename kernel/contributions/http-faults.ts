import type { PageSpec, PanelSpec, RouteSpec } from '../../ports/http/index.js';
import type { FullManifest } from '../manifest.js';
import { findAccessFaults, isSessionRule, formatUnknownRule } from './access-faults.js';
import type { NameRegistry } from './name-registry.js';
import { pageSchema, panelSchema, routeSchema, type findSchemaFaults } from './part-schemas.js';

export function findRouteFaults(
  route: RouteSpec,
  { id: plugin }: FullManifest,
  claims: NameRegistry,
  look: typeof findSchemaFaults,
): string[] {
  const methods = [route.method].flat();
  const label = `route ${methods.join('|')} ${route.path}`;
  const faults = [
    ...look(routeSchema, route),
    ...findAccessFaults(route.access, claims.scopes),
    ...findParamFaults(route),
  ];
  const unknown = (route.errors ?? []).filter((code) => !Object.hasOwn(claims.codes, code));
  if (unknown.length > 0)
    faults.push(`${unknown.join(', ')}: neither an error code of the service nor in the errors of a manifest`);
  if (faults.length === 0) {
    for (const path of [route.path, ...(route.aliases ?? [])]) {
      for (const method of methods) faults.push(...findPathConflict(method, path, plugin, claims));
    }
    for (const { name } of [route.tool ?? []].flat()) {
      const owner = claims.claim(`tool ${name}`, plugin);
      if (owner !== null)
        faults.push(
          `the tool "${name}" is already provided by ${owner === plugin ? 'this plugin' : `plugin ${owner}`}`,
        );
    }
  }
  return faults.map((fault) => `${label}: ${fault}`);
}

const VIEWS_MISSING = 'the folder of views is unknown: set `from: import.meta.url` in the plugin';

export function findPanelFaults(panel: PanelSpec, views: string | null, look: typeof findSchemaFaults): string[] {
  const faults = [...look(panelSchema, panel), ...(views === null ? [VIEWS_MISSING] : [])];
  return faults.map((fault) => `panel ${panel.id}: ${fault}`);
}

export function findPageFaults(
  page: PageSpec,
  { id: plugin, views }: { id: string; views: string | null },
  claims: NameRegistry,
  look: typeof findSchemaFaults,
): string[] {
  const method = page.method ?? 'GET';
  const faults = [...look(pageSchema, page), ...findParamFaults(page)];
  if (page.access === undefined) faults.push('declares no access');
  else if (page.access !== 'public' && !isSessionRule(page.access)) faults.push(formatUnknownRule(page.access));
  if (views === null) faults.push(VIEWS_MISSING);
  if (page.shared !== undefined && (page.access !== 'public' || method !== 'GET'))
    faults.push("`shared` requires `access: 'public'` and GET: all clients get the same bytes");
  if ((page.basic !== undefined || page.onOwnHosts === true) && page.access !== 'public')
    faults.push("`basic` and `onOwnHosts` require `access: 'public'`");
  if (page.files === true && (page.access === 'public' || method !== 'POST'))
    faults.push('`files` requires POST and a session');
  if (faults.length === 0) faults.push(...findPathConflict(method, page.path, plugin, claims));
  return faults.map((fault) => `page ${method} ${page.path}: ${fault}`);
}

function findParamFaults({ path, input }: Pick<RouteSpec | PageSpec, 'path' | 'input'>): string[] {
  const params = input?.params;
  if (typeof path !== 'string' || typeof params?.$_terms !== 'object') return [];
  const there = new Set([...path.matchAll(/\{(\w+)/g)].map(([, name]) => name));
  // `describe()` would walk the whole schema.
  const members = (params.$_terms['keys'] ?? []) as { key: string }[];
  const missing = members.map(({ key }) => key).filter((name) => !there.has(name));
  return missing.map((name) => `input.params has "${name}", which is not in the path: add {${name}} to it`);
}

/** Parameter names do not matter. */
function findPathConflict(method: string, path: string, plugin: string, claims: NameRegistry): string[] {
  const owner = claims.claim(`${method} ${path.replaceAll(/\{[^}*?]*/g, '{')}`, plugin);
  if (owner === null) return [];
  return [`${method} ${path} is already mounted by ${owner === plugin ? 'this plugin' : `plugin ${owner}`}`];
}
