import { isoOf } from '../../../lib/time.js';
import type { Clock } from '../../../kernel/contract.js';
import type { ProjectFigure, ProjectParts } from '../../../ports/domain/projects.js';
import type { ItemQuery } from '../item/filters.js';
import type { Board } from '../lists/board.js';

const SHOWN = 6;
const DAY_MS = 86_400_000;

const TONES = { critical: 'danger', high: 'warning', medium: 'info', low: 'neutral' } as const;

export function projectPart(board: Pick<Board, 'rows' | 'total'>, clock: Pick<Clock, 'now'>): ProjectParts {
  return {
    id: 'items',
    order: 10,
    of: async ({ slug }) => {
      const address = (search: string): string => `/bugs?project=${encodeURIComponent(slug)}&${search}`;
      const open: ItemQuery = { project: [slug], status: ['open'], muted: [false] };
      const figure = async (
        label: string,
        query: ItemQuery,
        search: string,
        tone: ProjectFigure['tone'] = null,
      ): Promise<ProjectFigure> => {
        const value = await board.total(`home ${slug} ${label}`, query);
        return { label, value, href: address(search), tone: value ? tone : null };
      };
      const since = isoOf(Math.floor((clock.now() - DAY_MS) / 60_000) * 60_000);
      const [page, ...figures] = await Promise.all([
        board.rows(open, { sort: 'severity', limit: SHOWN }),
        figure('open', open, 'status=open&muted=false'),
        figure('critical', { ...open, severity: ['critical'] }, 'status=open&severity=critical&muted=false', 'danger'),
        figure('regressed', { ...open, regression: [true] }, 'status=open&regression=true&muted=false', 'warning'),
        figure('new in 24 h', { ...open, first_seen_at: { gte: since } }, 'status=open&first_seen=24h&muted=false'),
        figure('in progress', { project: [slug], status: ['in_progress'] }, 'status=in_progress'),
      ]);
      const nothing = page.items.length === 0 && figures.every(({ value }) => !value);
      return {
        heading: 'Open items',
        all: { label: 'All items', href: address('status=open&muted=false') },
        figures,
        lines: page.items.map(({ ref, title, severity, last_seen_at }) => ({
          title,
          href: `/bugs/${ref}`,
          detail: ref,
          badge: { text: severity, tone: TONES[severity] },
          at: last_seen_at,
        })),
        empty: nothing
          ? { text: 'Nothing is open.', label: 'Report something', href: `/bugs/new?project=${slug}` }
          : null,
      };
    },
  };
}
