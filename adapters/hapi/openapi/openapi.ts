import { setImmediate as turn } from 'node:timers/promises';
import type { ErrorCodes, MountedRoute, RouteSpec } from '../../../ports/http/index.js';
import { Components } from './components.js';
import { buildOperation, buildSecuritySchemes } from './operation.js';
import {
  ANY_BARE_ERROR_RESPONSE,
  ANY_ERROR_RESPONSE,
  BARE_ERROR_SCHEMA,
  ERROR_SCHEMA,
  RESPONSE_HEADERS,
} from './responses.js';

type Json = Record<string, unknown>;

const SLICE_MS = 4;

export interface ServiceInfo {
  version: string;
  /** Empty means the server that answered. */
  base_url: string;
  codes: ErrorCodes;
}

/** Builds the document in slices, so that it does not block other requests. */
export async function buildOpenApiDocument(mounted: readonly MountedRoute[], about: ServiceInfo): Promise<Json> {
  const routes = mounted.filter(({ spec }) => spec.hidden !== true);
  const paths: Record<string, Json> = {};
  const tags = new Map<string, string>();
  const components = new Components();
  const shared: Record<string, Json> = {};
  const ids = new Set<string>();
  const bare = routes.some(({ spec }) => spec.bare === true);
  components.register('ErrorAnswer', ERROR_SCHEMA);
  if (bare) components.register('BareError', BARE_ERROR_SCHEMA);
  let began = performance.now();
  for (const route of routes) {
    if (performance.now() - began > SLICE_MS) {
      await turn();
      began = performance.now();
    }
    for (const [method, path, id] of listOperations(route.spec)) {
      const tag = route.spec.tag ?? toTag(path);
      const described = (paths[path] ??= {});
      if (described[method.toLowerCase()] !== undefined) continue;
      if (!tags.has(tag)) tags.set(tag, route.about?.tags[tag] ?? route.about?.title ?? tag);
      const place = { method, path, tag };
      described[method.toLowerCase()] = buildOperation(route, place, makeUnique(ids, id), {
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
        'Errors and bugs, agents, monitors, releases, licenses. Responses contain `status: success` and the data, or `status: error` and `error.code`; ' +
        'the license endpoints respond without this envelope. Every response has an `X-Request-Id` header. Coding agents can use operations with `x-mcp-tools` ' +
        'as Model Context Protocol tools at `POST /mcp`.',
      version: about.version,
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: about.base_url || '/' }],
    tags: [...tags].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, description]) => ({ name, description })),
    paths,
    'x-error-codes': buildErrorCatalog(about.codes),
    components: {
      schemas: components.schemas,
      responses: { ...shared, ...ANY_ERROR_RESPONSE, ...(bare && ANY_BARE_ERROR_RESPONSE) },
      headers: RESPONSE_HEADERS,
      securitySchemes: buildSecuritySchemes(routes, about.base_url.startsWith('https:')),
    },
  };
}

const buildErrorCatalog = (codes: ErrorCodes): Json =>
  Object.fromEntries(
    Object.entries(codes)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([code, [status, description]]) => [code, { status, description }]),
  );

function listOperations(spec: RouteSpec): [method: string, path: string, id: string][] {
  const given = [spec.operationId ?? []].flat();
  const paths = [spec.path, ...(spec.aliases ?? [])].map((path) =>
    path.replace(/\{([^*?}]+)[*?]?\d*\}/g, '{$1}').replace(/(?<=.)\/$/, ''),
  );
  return [...new Set(paths)]
    .flatMap((path) => [spec.method].flat().map((method): [string, string] => [method, path]))
    .map(([method, path], at) => [method, path, given[at] ?? given[0] ?? toOperationId(method, path)]);
}

const toTag = (path: string): string => {
  const [first = 'root', second] = path.split('/').filter((part) => part !== '' && !part.startsWith('{'));
  return first === 'api' ? (second ?? 'api') : first;
};

/** `GET /api/bugtracker/v1/bugs/{id}` → `getBugtrackerBugsById`. */
function toOperationId(method: string, path: string): string {
  const words = path
    .split('/')
    .filter((part) => part !== '' && part !== 'api' && part !== 'v1')
    .flatMap((part) => part.replace(/^\{/, 'by-').split(/\W+/))
    .filter((word) => word !== '');
  return method.toLowerCase() + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
}

function makeUnique(usedNames: Set<string>, id: string): string {
  let name = id;
  for (let n = 2; usedNames.has(name); n++) name = `${id}${n}`;
  usedNames.add(name);
  return name;
}
