import type { ServiceCatalog } from '../../ports/domain/system.js';
import type { HttpServer } from '../../ports/http-server.js';
import type { PageSpec, Role } from '../../ports/http.js';
import type { RouteTools } from '../../ports/tools.js';
import type { PluginRun } from '../plugin-run.js';

const NO_TOOLS: RouteTools = { list: () => [], call: () => Promise.resolve(null) };

export function createCatalog(runs: readonly PluginRun[], http: HttpServer | undefined): ServiceCatalog {
  return {
    scopes: () => runs.flatMap((run) => run.manifest.scopes),
    events: () => runs.flatMap((run) => run.manifest.events),
    pages: (role) =>
      runs
        .flatMap((run) => (run.ready() ? (run.parts.pages ?? []) : []))
        .flatMap(({ path, nav, access }) =>
          nav !== undefined && mayOpen(access, role) ? [{ href: path, label: nav.label, also: nav.also ?? [] }] : [],
        ),
    openapi: async () => (await http?.openapi()) ?? {},
    tools: () => http?.tools() ?? NO_TOOLS,
  };
}

const mayOpen = (access: PageSpec['access'], role: Role): boolean =>
  access === 'public' || role === 'admin' || (role === 'member' && access.session === 'member');
