/** /machines: installed machines, with installers and the command to copy (contract 80). */
import joi from 'joi';
import { View, type HttpRequest, type Installers, type PageSpec } from '../../kernel/contract/index.js';
import type { ProjectDirectory, ProjectInfo, ProjectPartProvider } from '../../ports/domain/projects.js';
import type { VersionAdoption, WatchdogApi } from '../../ports/domain/watchdog.js';

const PAGE_SIZE = 50;
/** Each project is one index query; the store cannot group by two fields. */
const MAX_PROJECTS = 20;
const MAX_BAR_PARTS = 6;
const MAX_VERSIONS = 30;
const MAX_SHOWN_MACHINES = 6;

export interface MachinePageDeps {
  watchdog: Pick<WatchdogApi, 'listVersionAdoption' | 'listMonitors'>;
  projects: Pick<ProjectDirectory, 'get' | 'list'>;
  installers: Pick<Installers, 'readManifest' | 'getPendingManifest'>;
  baseUrl: () => string;
}

const getMachineUrl = (source: string): string => `/monitors/${encodeURIComponent(source)}`;
const countMachines = (adoption: readonly VersionAdoption[]): number =>
  adoption.reduce((sum, { version, monitors }) => sum + (version === null ? 0 : monitors), 0);

function toBarParts(adoption: readonly VersionAdoption[]): { label: string; value: number; tone: string }[] {
  const reported = adoption.filter(({ version }) => version !== null);
  const parts = reported
    .slice(0, MAX_BAR_PARTS)
    .map(({ version, monitors }, i) => ({ label: version ?? '', value: monitors, tone: i === 0 ? 'success' : 'info' }));
  const rest = countMachines(reported.slice(MAX_BAR_PARTS));
  return rest === 0 ? parts : [...parts, { label: 'Others', value: rest, tone: 'neutral' }];
}

async function loadInstallers(installers: MachinePageDeps['installers']): Promise<object> {
  if (installers.getPendingManifest() !== null) return { installers_placing: true };
  try {
    return { installers: await installers.readManifest() };
  } catch (error) {
    return { installers_fault: error instanceof Error ? error.message : String(error) };
  }
}

async function loadProjectMachines(
  { watchdog }: MachinePageDeps,
  { slug, name }: ProjectInfo,
  { version, cursor }: { version?: string; cursor?: string },
): Promise<object> {
  const [adoption, page] = await Promise.all([
    watchdog.listVersionAdoption(slug),
    watchdog.listMonitors({ project: slug, app_version: version ?? true, limit: PAGE_SIZE, after: cursor ?? null }),
  ]);
  const address = `/machines?project=${encodeURIComponent(slug)}`;
  return {
    project: { slug, name },
    // Not `version`, which is the service's own in the page footer.
    only_version: version,
    parts: toBarParts(adoption),
    versions: adoption
      .filter((one) => one.version !== null)
      .slice(0, MAX_VERSIONS)
      .map((one) =>
        Object.assign({}, one, {
          href: `${address}&version=${encodeURIComponent(one.version ?? '')}`,
          active: one.version === version,
        }),
      ),
    items: page.items.map((monitor) => ({ ...monitor, href: getMachineUrl(monitor.source) })),
    next_cursor: page.next,
  };
}

async function loadAllMachines({ watchdog, projects }: MachinePageDeps): Promise<object> {
  const all = (await projects.list()).filter(({ archived }) => !archived);
  const rows = all.slice(0, MAX_PROJECTS).map(async ({ slug, name }) => {
    const adoption = await watchdog.listVersionAdoption(slug);
    return { slug, name, machines: countMachines(adoption), parts: toBarParts(adoption) };
  });
  return { projects: await Promise.all(rows), more: all.length > MAX_PROJECTS };
}

async function renderMachines(deps: MachinePageDeps, request: HttpRequest): Promise<View> {
  const { project: slug, ...rest } = request.query as { project?: string; version?: string; cursor?: string };
  const project = slug === undefined ? null : await deps.projects.get(slug);
  const url = deps.baseUrl().replace(/\/$/, '');
  const [shown, installers] = await Promise.all([
    project === null ? loadAllMachines(deps) : loadProjectMachines(deps, project, rest),
    loadInstallers(deps.installers),
  ]);
  return new View('machines', {
    live_topics: 'monitors',
    ...shown,
    ...installers,
    install: `curl -fsSL ${url}/installer/install.sh | sh`,
    install_windows: `irm ${url}/installer/install.ps1 | iex`,
  });
}

export const buildMachinePages = (deps: MachinePageDeps): PageSpec[] => [
  {
    path: '/machines',
    title: 'Machines',
    nav: {
      section: 'delivery',
      label: 'Machines',
      icon: 'terminal',
      order: 20,
      also: ['installers', 'installations', 'update agent', 'hosts', 'servers', 'versions'],
    },
    access: { session: 'member' },
    projectQuery: 'project',
    input: {
      query: joi.object({
        project: joi.string().max(64).empty(''),
        version: joi.string().max(200).empty(''),
        cursor: joi.string().max(20_000).empty(''),
      }),
    },
    handle: (request) => renderMachines(deps, request),
  },
];

export const createMachinePart = ({ watchdog }: Pick<MachinePageDeps, 'watchdog'>): ProjectPartProvider => ({
  id: 'machines',
  order: 30,
  loadPart: async ({ slug }) => {
    const address = `/machines?project=${encodeURIComponent(slug)}`;
    const [adoption, page] = await Promise.all([
      watchdog.listVersionAdoption(slug),
      watchdog.listMonitors({ project: slug, app_version: true, limit: MAX_SHOWN_MACHINES }),
    ]);
    return {
      heading: 'Machines',
      all: { label: 'View all machines', href: address },
      figures: adoption
        .filter(({ version }) => version !== null)
        .slice(0, 3)
        .map(({ version, monitors }) => ({
          label: version ?? '',
          value: monitors,
          href: `${address}&version=${encodeURIComponent(version ?? '')}`,
          tone: null,
        })),
      lines: page.items.map(({ source, name, app_version, last_heartbeat_at }) => ({
        title: name,
        href: getMachineUrl(source),
        detail: app_version,
        badge: null,
        at: last_heartbeat_at,
      })),
      empty: page.items.length === 0 ? { text: 'No machines', label: 'Install on a machine', href: address } : null,
    };
  },
});
