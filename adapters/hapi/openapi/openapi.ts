/** Builds the OpenAPI 3.1 document (contract 95) from the same table that mounts the routes. */
import { setImmediate as turn } from 'node:timers/promises';
import type { ErrorCodes, MountedRoute, RouteSpec } from '../../../ports/http.js';
import { Components } from './components.js';
import { operation, securitySchemes } from './operation.js';
import { ANY_BARE_ERROR, ANY_ERROR, BARE_ERROR, ERROR, HEADERS } from './responses.js';

type Json = Record<string, unknown>;

const SLICE_MS = 4;

export interface AboutService {
  version: string;
  /** Empty: the server that answered. */
  base_url: string;
  codes: ErrorCodes;
}

/** Builds the document in slices, so that it does not block other requests. */
export async function describeRoutes(mounted: readonly MountedRoute[], about: AboutService): Promise<Json> {
  const routes = mounted.filter(({ spec }) => spec.hidden !== true);
  const paths: Record<string, Json> = {};
  const tags = new Map<string, string>();
  const components = new Components();
  const shared: Record<string, Json> = {};
  const ids = new Set<string>();
  const bare = routes.some(({ spec }) => spec.bare === true);
  components.keep('ErrorAnswer', ERROR);
  if (bare) components.keep('BareError', BARE_ERROR);
  let began = performance.now();
  for (const route of routes) {
    if (performance.now() - began > SLICE_MS) {
      await turn();
      began = performance.now();
    }
    for (const [method, path, id] of operationsOf(route.spec)) {
      const tag = route.spec.tag ?? tagOf(path);
      const described = (paths[path] ??= {});
      if (described[method.toLowerCase()] !== undefined) continue;
      if (!tags.has(tag)) tags.set(tag, route.about?.tags[tag] ?? route.about?.title ?? tag);
      const place = { method, path, tag };
      described[method.toLowerCase()] = operation(route, place, unique(ids, id), {
        components,
        shared,
        codes: about.codes,
      });
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'AOS',
      summary: 'Application Operations Service',
      description:
        'Errors and bugs, agents, monitors, releases, licenses. Answers carry `status: success` and the data, or `status: error` and `error.code`; ' +
        'the license endpoints answer without this envelope. Every answer carries `X-Request-Id`. Coding agents can use operations with `x-mcp-tools` ' +
        'as tools of the Model Context Protocol at `POST /mcp`.',
      version: about.version,
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: about.base_url || '/' }],
    tags: [...tags].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, description]) => ({ name, description })),
    paths,
    'x-error-codes': catalogue(about.codes),
    components: {
      schemas: components.schemas,
      responses: { ...shared, ...ANY_ERROR, ...(bare && ANY_BARE_ERROR) },
      headers: HEADERS,
      securitySchemes: securitySchemes(routes, about.base_url.startsWith('https:')),
    },
  };
}

const catalogue = (codes: ErrorCodes): Json =>
  Object.fromEntries(
    Object.entries(codes)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([code, [status, description]]) => [code, { status, description }]),
  );

function operationsOf(spec: RouteSpec): [method: string, path: string, id: string][] {
  const given = [spec.operationId ?? []].flat();
  const paths = [spec.path, ...(spec.aliases ?? [])].map((path) =>
    path.replace(/\{([^*?}]+)[*?]?\d*\}/g, '{$1}').replace(/(?<=.)\/$/, ''),
  );
  return [...new Set(paths)]
    .flatMap((path) => [spec.method].flat().map((method): [string, string] => [method, path]))
    .map(([method, path], at) => [method, path, given[at] ?? given[0] ?? idOf(method, path)]);
}

const tagOf = (path: string): string => {
  const [first = 'root', second] = path.split('/').filter((part) => part !== '' && !part.startsWith('{'));
  return first === 'api' ? (second ?? 'api') : first;
};

/** Returns the operationId: `GET /api/bugtracker/v1/bugs/{id}` → `getBugtrackerBugsById`. */
function idOf(method: string, path: string): string {
  const words = path
    .split('/')
    .filter((part) => part !== '' && part !== 'api' && part !== 'v1')
    .flatMap((part) => part.replace(/^\{/, 'by-').split(/\W+/))
    .filter((word) => word !== '');
  return method.toLowerCase() + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
}

function unique(taken: Set<string>, id: string): string {
  let name = id;
  for (let n = 2; taken.has(name); n++) name = `${id}${n}`;
  taken.add(name);
  return name;
}
