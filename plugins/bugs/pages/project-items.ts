import { toIsoString } from '../../../lib/time.js';
import type { Clock } from '../../../kernel/contract/index.js';
import type { ProjectChart, ProjectFigure, ProjectPartProvider } from '../../../ports/domain/projects.js';
import type { PublishedVersions } from '../../../ports/domain/releases.js';
import type { ItemQuery } from '../item/filters.js';
import type { ItemBoard } from '../lists/item-board.js';

const MAX_ROWS = 5;
const CHART_DAYS = 30;
const DAY_MS = 86_400_000;

/** Others are the normal case. */
const NAMED_SEVERITIES: ReadonlySet<string> = new Set(['critical', 'high']);
const SEVERITY_TONES = { critical: 'danger', high: 'warning', medium: 'info', low: 'neutral' } as const;

export function buildProjectItemsPart(
  board: Pick<ItemBoard, 'listNewest' | 'countItems' | 'getTraffic'>,
  publishes: Pick<PublishedVersions, 'listLatestPublishes'>,
  clock: Pick<Clock, 'now'>,
): ProjectPartProvider {
  const loadChart = async (slug: string): Promise<ProjectChart> => {
    const until = Math.ceil(clock.now() / DAY_MS) * DAY_MS;
    const { counts, from, step } = await board.getTraffic({ project: slug, until, hours: CHART_DAYS * 24 });
    const found = await publishes.listLatestPublishes(slug, toIsoString(from));
    const slots = DAY_MS / step;
    return {
      title: 'Errors per day',
      href: `/errors?project=${encodeURIComponent(slug)}`,
      counts: Array.from({ length: CHART_DAYS }, (_, day) =>
        counts.slice(day * slots, (day + 1) * slots).reduce((sum, n) => sum + n, 0),
      ),
      from,
      step: DAY_MS,
      marks: found.map(({ version, published_at }) => ({
        at: published_at,
        label: version,
        href: `/releases?product=${encodeURIComponent(slug)}`,
      })),
    };
  };
  return {
    id: 'items',
    order: 10,
    loadPart: async ({ slug }) => {
      const address = (search: string): string => `/bugs?project=${encodeURIComponent(slug)}&${search}`;
      const open: ItemQuery = { project: [slug], status: ['open'], muted: [false] };
      const figure = async (
        label: string,
        query: ItemQuery,
        search: string,
        tone: ProjectFigure['tone'] = null,
      ): Promise<ProjectFigure> => {
        const value = await board.countItems(`home ${slug} ${label}`, query);
        return { label, value, href: address(search), tone: value ? tone : null };
      };
      const since = toIsoString(Math.floor((clock.now() - DAY_MS) / 60_000) * 60_000);
      const [chart, newest, ...figures] = await Promise.all([
        loadChart(slug),
        board.listNewest(slug, MAX_ROWS),
        figure('Open', open, 'status=open&muted=false'),
        figure('Critical', { ...open, severity: ['critical'] }, 'status=open&severity=critical&muted=false', 'danger'),
        figure('Regressed', { ...open, regression: [true] }, 'status=open&regression=true&muted=false', 'warning'),
        figure('New in 24 h', { ...open, first_seen_at: { gte: since } }, 'status=open&first_seen=24h&muted=false'),
        figure('In progress', { project: [slug], status: ['in_progress'] }, 'status=in_progress'),
      ]);
      const nothing = newest.length === 0 && figures.every(({ value }) => !value);
      return {
        heading: 'Newest issues',
        figures_heading: 'Issues',
        all: { label: 'View all issues', href: address('status=open&muted=false') },
        figures,
        lines: newest.map(({ ref, title, severity, first_seen_at }) => ({
          title,
          href: `/bugs/${ref}`,
          detail: ref,
          badge: NAMED_SEVERITIES.has(severity) ? { text: severity, tone: SEVERITY_TONES[severity] } : null,
          at: first_seen_at,
        })),
        chart,
        empty: nothing ? { text: 'No open issues', label: 'New issue', href: `/bugs/new?project=${slug}` } : null,
      };
    },
  };
}
