/** /machines, with installers and the command to copy (contract 80). */
import joi from 'joi';
import {
  View,
  type HttpRequest,
  type Installers,
  type PageResult,
  type PageSpec,
} from '../../kernel/contract/index.js';
import type { MachineInventory } from '../../ports/domain/machines/inventory.js';
import type { ProjectDirectory, ProjectPartProvider } from '../../ports/domain/projects.js';
import type { WatchdogApi } from '../../ports/domain/watchdog.js';
import {
  buildMachineCsv,
  buildMachinesUrl,
  loadMachineList,
  toVersionParts,
  type MachineFilters,
} from './machine-list.js';

const MAX_SHOWN_MACHINES = 6;
const MAX_FIGURES = 3;

export interface MachinePageDeps {
  machines: () => MachineInventory | undefined;
  watchdog: Pick<WatchdogApi, 'find'>;
  projects: Pick<ProjectDirectory, 'list'>;
  installers: Pick<Installers, 'readManifest' | 'getPendingManifest'>;
  baseUrl: () => string;
}

async function loadInstallers(installers: MachinePageDeps['installers']): Promise<object> {
  if (installers.getPendingManifest() !== null) return { installers_placing: true };
  try {
    return { installers: await installers.readManifest() };
  } catch (error) {
    return { installers_fault: error instanceof Error ? error.message : String(error) };
  }
}

async function renderMachines(deps: MachinePageDeps, request: HttpRequest): Promise<PageResult> {
  const { format, ...filters } = request.query as MachineFilters & { format?: string };
  const machines = deps.machines();
  if (format === 'csv' && machines !== undefined) return buildMachineCsv(machines, filters);
  const projects = await deps.projects.list();
  const url = deps.baseUrl().replace(/\/$/, '');
  const [shown, installers] = await Promise.all([
    machines === undefined ? {} : loadMachineList(machines, deps.watchdog, projects, filters),
    loadInstallers(deps.installers),
  ]);
  return new View('machines', {
    live_topics: 'monitors',
    ...shown,
    ...installers,
    projects: projects.map(({ slug, name }) => ({ value: slug, label: name })),
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
      icon: 'machine',
      order: 20,
      also: ['installers', 'installations', 'update agent', 'hosts', 'servers', 'versions'],
    },
    access: { session: 'member' },
    projectQuery: 'project',
    input: {
      query: joi.object({
        project: joi.string().max(64).empty(''),
        version: joi.string().max(200).empty(''),
        state: joi.string().valid('outdated', 'silent').empty(''),
        format: joi.string().valid('csv').empty(''),
        cursor: joi.string().max(20_000).empty(''),
      }),
    },
    handle: (request) => renderMachines(deps, request),
  },
];

export const createMachinePart = ({ machines }: Pick<MachinePageDeps, 'machines'>): ProjectPartProvider => ({
  id: 'machines',
  order: 30,
  loadPart: async ({ slug }) => {
    const href = buildMachinesUrl({ project: slug });
    const inventory = machines();
    const [counts, page] = await Promise.all([
      inventory?.listCounts(slug) ?? [],
      inventory?.list({ project: slug, limit: MAX_SHOWN_MACHINES }) ?? { items: [] },
    ]);
    return {
      heading: 'Machines',
      all: { label: 'View all machines', href },
      figures: toVersionParts(counts)
        .slice(0, MAX_FIGURES)
        .map(({ label, value }) => ({
          label,
          value,
          href: buildMachinesUrl({ project: slug, version: label }),
          tone: null,
        })),
      shares: toVersionParts(counts),
      lines: page.items.map((machine) => ({
        title: machine.name,
        href: buildMachinesUrl({ project: slug, ...(machine.version !== null && { version: machine.version }) }),
        detail: machine.version,
        badge: machine.outdated ? { text: 'Outdated', tone: 'warning' as const } : null,
        at: machine.last_seen_at,
      })),
      empty: page.items.length === 0 ? { text: 'No machines', label: 'Install on a machine', href } : null,
    };
  },
});
