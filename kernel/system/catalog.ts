import type { ServiceCatalog } from '../../ports/domain/system.js';
import type { HttpServer } from '../../ports/http-server.js';
import type { PageSpec, Role } from '../../ports/http/index.js';
import type { RouteTools } from '../../ports/tools.js';
import type { PluginRun } from '../plugin-run.js';

const NO_TOOLS: RouteTools = { list: () => [], call: () => Promise.resolve(null) };

export function createCatalog(runs: readonly PluginRun[], http: HttpServer | undefined): ServiceCatalog {
  return {
    listScopes: () => runs.flatMap((run) => run.manifest.scopes),
    listEvents: () => runs.flatMap((run) => run.manifest.events),
    listPages: (role) =>
      runs
        .flatMap((run) => (run.isReady() ? (run.parts.pages ?? []) : []))
        .flatMap(({ path, nav, access }) =>
          nav !== undefined && canOpen(access, role) ? [{ href: path, label: nav.label, also: nav.also ?? [] }] : [],
        ),
    getOpenApi: async () => (await http?.getOpenApi()) ?? {},
    getTools: () => http?.getTools() ?? NO_TOOLS,
  };
}

const canOpen = (access: PageSpec['access'], role: Role): boolean =>
  access === 'public' || role === 'admin' || (role === 'member' && access.session === 'member');
