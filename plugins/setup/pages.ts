/** /machines, with installers and the command to copy (contract 80). */
import joi from 'joi';
import {
  View,
  type HttpRequest,
  type Installers,
  type PageResult,
  type PageSpec,
} from '../../kernel/contract/index.js';
import type { MachineDay, MachineInventory } from '../../ports/domain/machines/inventory.js';
import type { ProjectArea, ProjectDirectory, ProjectPartProvider } from '../../ports/domain/projects.js';
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
const ADOPTION_DAYS = 30;
/** As many as a chart tells apart. */
const MAX_AREA_VERSIONS = 5;

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
        channel: joi.string().max(64).empty(''),
        platform: joi.string().max(64).empty(''),
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
  order: 20,
  loadPart: async ({ slug }) => {
    const href = buildMachinesUrl({ project: slug });
    const inventory = machines();
    const [counts, days, page] = await Promise.all([
      inventory?.listCounts(slug) ?? [],
      inventory?.listDays(slug, ADOPTION_DAYS) ?? [],
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
      // A day alone is no curve.
      ...(page.items.length > 0 && days.length > 1 && { area: toAdoptionArea(days) }),
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

/** The versions with the most machines today, then the others together. */
export function toAdoptionArea(days: readonly MachineDay[]): ProjectArea {
  const totals = new Map<string | null, number>();
  for (const { versions } of days)
    for (const { version, machines } of versions) totals.set(version, (totals.get(version) ?? 0) + machines);
  const today = new Map(days.at(-1)?.versions.map(({ version, machines }) => [version, machines]));
  const sorted = [...totals].toSorted(
    ([a, sumA], [b, sumB]) => (today.get(b) ?? 0) - (today.get(a) ?? 0) || sumB - sumA,
  );
  const shown = sorted.slice(0, sorted.length > MAX_AREA_VERSIONS ? MAX_AREA_VERSIONS - 1 : MAX_AREA_VERSIONS);
  const names = shown.map(([version]) => version);
  const count = (day: MachineDay, fits: (version: string | null) => boolean): number =>
    day.versions.reduce((sum, { version, machines }) => (fits(version) ? sum + machines : sum), 0);
  const series = names.map((name) => ({
    label: name ?? 'Unknown version',
    counts: days.map((day) => count(day, (version) => version === name)),
  }));
  const others = days.map((day) => count(day, (version) => !names.includes(version)));
  return {
    title: 'Machines by version',
    days: days.map(({ day }) => day),
    series: names.length === sorted.length ? series : [...series, { label: 'Others', counts: others }],
  };
}
