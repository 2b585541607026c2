/**
 * /release-health: versions of a project with their sessions, and the dashboard card (contract 21,
 * release health).
 */
import joi from 'joi';
import { View, type HttpRequest, type PageSpec, type PanelSpec } from '../../kernel/contract.js';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import type { ReleaseHealth, VersionHealth } from '../../ports/domain/release-health.js';

export interface HealthPageDeps {
  figures: ReleaseHealth;
  projects: Pick<ProjectDirectory, 'list'>;
  latest: () => Promise<string | null>;
}

const HOURS = 24;
const MOST_ROWS = 50;
const MOST_IN_CARD = 3;
const RANGES = [
  { hours: 24, label: '24 hours' },
  { hours: 168, label: '7 days' },
  { hours: 720, label: '30 days' },
] as const;

interface Query {
  project?: string;
  environment?: string;
  hours: number;
}

const percentOf = (share: number | null): string | null => (share === null ? null : `${(share * 100).toFixed(2)} %`);

function rowOf(health: VersionHealth): object {
  return {
    ...health,
    name: health.version ?? 'other versions',
    crash_free_sessions: percentOf(health.crash_free_sessions),
    crash_free_people: percentOf(health.crash_free_people),
    adoption: percentOf(health.adoption),
    trend: health.hours.slice(-HOURS).map(({ started }) => started),
  };
}

const hrefOf = ({ hours, ...given }: Query): string => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) search.set(name, value);
  if (hours !== HOURS) search.set('hours', String(hours));
  return search.size === 0 ? '/release-health' : `/release-health?${search.toString()}`;
};

async function pageOf({ figures, projects, latest }: HealthPageDeps, { query }: HttpRequest): Promise<View> {
  const given = query as unknown as Query;
  const known = await projects.list();
  const project = given.project ?? (await latest()) ?? known[0]?.slug ?? null;
  const { hours, environment } = given;
  const versions = project === null ? [] : await figures.versions({ project, hours, environment });
  return new View('release-health', {
    chosen: project,
    items: versions.slice(0, MOST_ROWS).map(rowOf),
    more: Math.max(0, versions.length - MOST_ROWS),
    ranges: RANGES.map(({ hours: range, label }) => ({
      label,
      href: hrefOf({ ...given, hours: range }),
      active: range === hours,
    })),
    projects: known.map(({ slug, name }) => ({ value: slug, label: name })),
    init: `Sentry.init({ dsn: '…', release: '${project ?? 'shop'}@1.4.2' });`,
  });
}

export const pages = (deps: HealthPageDeps): PageSpec[] => [
  {
    path: '/release-health',
    title: 'Release health',
    nav: {
      section: 'delivery',
      label: 'Release health',
      icon: 'activity',
      order: 20,
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
          .valid(...RANGES.map(({ hours }) => hours))
          .default(HOURS),
      }),
    },
    handle: (request) => pageOf(deps, request),
  },
];

export const panels = ({ figures, latest }: HealthPageDeps): PanelSpec[] => [
  {
    id: 'releasehealth.sessions',
    kind: 'trend',
    order: 25,
    load: async () => {
      const project = await latest();
      const versions = project === null ? [] : await figures.versions({ project, hours: HOURS });
      if (project === null || versions.length === 0) return null;
      const sums = versions[0]?.hours.map((_, i) => versions.reduce((n, { hours }) => n + (hours[i]?.started ?? 0), 0));
      return new View('panel-sessions', {
        project,
        href: hrefOf({ project, hours: HOURS }),
        items: versions.slice(0, MOST_IN_CARD).map(rowOf),
        started: sums,
      });
    },
  },
];
