/**
 * Versions of a project with their sessions, and the dashboard card (contract 21, release health).
 */
import joi from 'joi';
import { createCsvFile, View, type HttpRequest, type PageSpec, type Reply } from '../../kernel/contract/index.js';
import { formatCsvRecords } from '../../lib/text/csv.js';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import type { ReleaseHealth, VersionHealth } from '../../ports/domain/release-health.js';

export interface HealthPageDeps {
  figures: ReleaseHealth;
  projects: Pick<ProjectDirectory, 'list'>;
  latest: () => Promise<string | null>;
}

const DEFAULT_HOURS = 24;
const MAX_ROWS = 50;
const RANGE_OPTIONS = [
  { hours: 24, label: '24 hours' },
  { hours: 168, label: '7 days' },
  { hours: 720, label: '30 days' },
] as const;

interface HealthPageQuery {
  project?: string;
  environment?: string;
  hours: number;
  format?: 'csv';
}

const formatPercent = (share: number | null): string | null =>
  share === null ? null : `${(share * 100).toFixed(2)} %`;

function toRow(health: VersionHealth): object {
  return {
    ...health,
    name: health.version ?? 'other versions',
    crash_free_sessions: formatPercent(health.crash_free_sessions),
    crash_free_people: formatPercent(health.crash_free_people),
    adoption: formatPercent(health.adoption),
    trend: health.hours.slice(-DEFAULT_HOURS).map(({ started }) => started),
  };
}

const buildPageUrl = ({ hours, format: _format, ...given }: HealthPageQuery): string => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) search.set(name, value);
  if (hours !== DEFAULT_HOURS) search.set('hours', String(hours));
  return search.size === 0 ? '/release-health' : `/release-health?${search.toString()}`;
};

const CSV_COLUMNS = [
  'version',
  'started',
  'crashed',
  'crash_free_sessions',
  'people',
  'crash_free_people',
  'adoption',
] as const satisfies readonly (keyof VersionHealth)[];

async function renderHealthPage(
  { figures, projects, latest }: HealthPageDeps,
  { query }: HttpRequest,
): Promise<View | Reply> {
  const given = query as unknown as HealthPageQuery;
  const known = await projects.list();
  const project = given.project ?? (await latest()) ?? known[0]?.slug ?? null;
  const { hours, environment } = given;
  const versions = project === null ? [] : await figures.listVersions({ project, hours, environment });
  if (given.format === 'csv') return createCsvFile('release-health', formatCsvRecords(CSV_COLUMNS, versions));
  const search = new URLSearchParams({
    ...(project !== null && { project }),
    ...(environment !== undefined && { environment }),
    hours: String(hours),
    format: 'csv',
  });
  return new View('release-health', {
    csv: `/release-health?${search.toString()}`,
    chosen: project,
    items: versions.slice(0, MAX_ROWS).map(toRow),
    more: Math.max(0, versions.length - MAX_ROWS),
    ranges: RANGE_OPTIONS.map(({ hours: range, label }) => ({
      label,
      href: buildPageUrl({ ...given, hours: range }),
      active: range === hours,
    })),
    projects: known.map(({ slug, name }) => ({ value: slug, label: name })),
    init: `Sentry.init({ dsn: '…', release: '${project ?? 'shop'}@1.4.2' });`,
  });
}

export const buildReleaseHealthPages = (deps: HealthPageDeps): PageSpec[] => [
  {
    path: '/release-health',
    title: 'Release health',
    nav: {
      section: 'delivery',
      label: 'Release health',
      icon: 'health',
      order: 20,
      within: '/releases',
      tab: 'Health',
      also: ['sessions', 'crash-free', 'crashes', 'adoption', 'versions'],
    },
    access: { session: 'member' },
    projectQuery: 'project',
    input: {
      query: joi.object({
        project: joi.string().max(64).empty(''),
        environment: joi.string().max(200).empty(''),
        hours: joi
          .number()
          .valid(...RANGE_OPTIONS.map(({ hours }) => hours))
          .default(DEFAULT_HOURS),
        format: joi.string().valid('csv').empty(''),
      }),
    },
    handle: (request) => renderHealthPage(deps, request),
  },
];
