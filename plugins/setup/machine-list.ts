/** /machines: every machine once, by project, version and how it keeps up (contract 80). */
import { text, type Reply } from '../../kernel/contract/index.js';
import { formatCsvPages } from '../../lib/text/csv.js';
import { compareNamedVersions } from '../../lib/versions.js';
import type {
  MachineCount,
  MachineInventory,
  MachineQuery,
  MachineView,
} from '../../ports/domain/machines/inventory.js';
import type { ProjectInfo } from '../../ports/domain/projects.js';
import type { WatchdogApi } from '../../ports/domain/watchdog.js';

const PAGE_SIZE = 50;
const CSV_PAGE_SIZE = 1_000;
const MAX_BAR_PARTS = 6;
const MAX_SHOWN_CHANNELS = 8;
const MAX_VERSIONS = 50;
const UNKNOWN_VERSION = 'Unknown version';

export type MachineState = 'outdated' | 'silent';

export interface MachineFilters {
  project?: string;
  version?: string;
  channel?: string;
  platform?: string;
  state?: MachineState;
  cursor?: string;
}

export interface VersionPart {
  label: string;
  value: number;
  tone: string;
}

const toQuery = ({ project, version, channel, platform, state }: MachineFilters): Omit<MachineQuery, 'limit'> => ({
  project,
  version,
  channel,
  platform,
  outdated: state === 'outdated',
  silent: state === 'silent',
});

export function buildMachinesUrl(filters: Partial<Record<string, string>>): string {
  const given = Object.entries(filters).filter((one): one is [string, string] => one[1] !== undefined);
  const query = new URLSearchParams(given).toString();
  return query === '' ? '/machines' : `/machines?${query}`;
}

function countByVersion(counts: readonly MachineCount[]): Map<string, number> {
  const versions = new Map<string, number>();
  for (const { version, machines } of counts) {
    const label = version ?? UNKNOWN_VERSION;
    versions.set(label, (versions.get(label) ?? 0) + machines);
  }
  return versions;
}

/** The newest version first; those that most machines have, when there are many. */
export function toVersionParts(counts: readonly MachineCount[]): VersionPart[] {
  const sorted = [...countByVersion(counts)].toSorted(([, a], [, b]) => b - a);
  const parts = sorted
    .slice(0, MAX_BAR_PARTS)
    .toSorted(([a], [b]) => compareNewestFirst(a, b))
    .map(([label, value], i) => ({ label, value, tone: getVersionTone(label, i) }));
  const rest = sorted.slice(MAX_BAR_PARTS).reduce((sum, [, value]) => sum + value, 0);
  return rest === 0 ? parts : [...parts, { label: 'Others', value: rest, tone: 'neutral' }];
}

function getVersionTone(label: string, position: number): string {
  if (label === UNKNOWN_VERSION) return 'neutral';
  return position === 0 ? 'success' : 'info';
}

function compareNewestFirst(a: string, b: string): number {
  if (a === UNKNOWN_VERSION || b === UNKNOWN_VERSION)
    return Number(a === UNKNOWN_VERSION) - Number(b === UNKNOWN_VERSION);
  return compareNamedVersions(b, a) ?? 0;
}

/** One bar per project and channel, the largest first. */
function listChannelBars(
  counts: readonly MachineCount[],
  projects: readonly ProjectInfo[],
  { project: chosen, version: active }: MachineFilters,
): object[] {
  const groups = new Map<string, MachineCount[]>();
  for (const count of counts) {
    const key = JSON.stringify([count.project, count.channel]);
    groups.set(key, [...(groups.get(key) ?? []), count]);
  }
  return [...groups.values()].slice(0, MAX_SHOWN_CHANNELS).map((group) => {
    const { project = '', channel = '' } = group[0] ?? {};
    const parts = toVersionParts(group);
    const links = chosen === undefined ? [] : listVersionLinks(group, active);
    const name = projects.find(({ slug }) => slug === project)?.name ?? project;
    return { name, project, channel, href: buildMachinesUrl({ project }), parts, links };
  });
}

const listVersionLinks = (counts: readonly MachineCount[], active: string | undefined): object[] =>
  [...countByVersion(counts.filter((count) => count.version !== null))].map(([version, machines]) => {
    const href = buildMachinesUrl({ project: counts[0]?.project, version });
    return { version, machines, href, active: version === active };
  });

export async function loadMachineList(
  machines: MachineInventory,
  watchdog: Pick<WatchdogApi, 'find'>,
  projects: readonly ProjectInfo[],
  filters: MachineFilters,
): Promise<object> {
  const { project, version, channel, platform, state, cursor } = filters;
  const [counts, totals, page] = await Promise.all([
    machines.listCounts(project),
    machines.getTotals(project),
    machines.list({ ...toQuery(filters), limit: PAGE_SIZE, after: cursor ?? null }),
  ]);
  const items = page.items.map(async (machine) => {
    const monitor = machine.monitor === null ? null : await watchdog.find(machine.monitor);
    return {
      ...machine,
      project_name: projects.find(({ slug }) => slug === machine.project)?.name ?? machine.project,
      monitor: monitor === null ? null : { state: monitor.state, href: getMonitorUrl(monitor.source) },
    };
  });
  const versions = new Set(counts.flatMap((one) => one.version ?? []));
  const tab = (label: string, value: MachineState | undefined, count: number): object => {
    return {
      label,
      count,
      active: state === value,
      href: buildMachinesUrl({ project, version, channel, platform, state: value }),
    };
  };
  return {
    items: await Promise.all(items),
    next_cursor: page.next,
    views: [
      tab('All', undefined, totals.machines),
      tab('Outdated', 'outdated', totals.outdated),
      tab('Silent', 'silent', totals.silent),
    ],
    bars: listChannelBars(counts, projects, filters),
    versions: [...versions].slice(0, MAX_VERSIONS).map((value) => ({ value, label: value })),
    filtered: [version, channel, platform, state].some((one) => one !== undefined),
    csv: buildMachinesUrl({ project, version, channel, platform, state, format: 'csv' }),
  };
}

export const getMonitorUrl = (source: string): string => `/monitors/${encodeURIComponent(source)}`;

const CSV_COLUMNS = [
  'name',
  'instance_id',
  'project',
  'version',
  'channel',
  'platform',
  'outdated',
  'last_seen_at',
  'first_seen_at',
  'license_id',
  'monitor',
] as const satisfies readonly (keyof MachineView | 'outdated')[];

export async function buildMachineCsv(machines: MachineInventory, filters: MachineFilters): Promise<Reply> {
  const csv = await formatCsvPages(
    CSV_COLUMNS,
    (after) => machines.list({ ...toQuery(filters), limit: CSV_PAGE_SIZE, after }),
    (machine) => CSV_COLUMNS.map((name) => machine[name]),
  );
  return text(csv, 'text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="machines.csv"');
}
