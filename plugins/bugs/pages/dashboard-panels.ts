import { View, type PanelSpec } from '../../../kernel/contract/index.js';
import { toHeadline } from '../../../lib/text/error-title.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';
import type { ItemBoard } from '../lists/item-board.js';
import type { AttentionGroup } from '../lists/attention-groups.js';
import type { MonthlyStatsCache } from './shared/monthly-stats.js';

const MAX_ROWS = 6;

export function buildBugPanels(
  board: Pick<ItemBoard, 'getAttention'>,
  numbers: Pick<MonthlyStatsCache, 'read'>,
  projects: Pick<ProjectDirectory, 'list'>,
): PanelSpec[] {
  return [
    {
      id: 'bugs.attention',
      kind: 'attention',
      order: 10,
      load: async (_session, project) => {
        const { concerns, total, fresh } = await board.getAttention(MAX_ROWS, project);
        if (concerns.length === 0) return null;
        const names = new Map((await projects.list()).map(({ slug, name }) => [slug, name]));
        const top = Math.max(1, ...concerns.flatMap(({ trend }) => trend));
        const items = concerns.map((concern) => buildRow(concern, names.get(concern.item.project), top));
        const toPath = (filter: Record<string, string>): string =>
          `/bugs?${new URLSearchParams({ ...filter, ...(project && { project }) }).toString()}`;
        return new View('panel-attention', {
          items,
          total,
          fresh,
          critical_href: toPath({ status: 'open', severity: 'critical', muted: 'false' }),
          fresh_href: toPath({ sort: 'created_at' }),
          count: items.length,
        });
      },
    },
    {
      id: 'bugs.flow',
      kind: 'side',
      order: 90,
      load: async (_session, project) => {
        // Counted for all projects together.
        if (project) return null;
        const { days, sums } = await numbers.read();
        const any = sums.new + sums.resolved + sums.regressed > 0;
        return any ? new View('panel-flow', { days, sums }) : null;
      },
    },
  ];
}

function buildRow(
  { item, alike, hits, trend, last_seen_at }: AttentionGroup,
  name: string | undefined,
  top: number,
): object {
  const { ref, title, severity, status, regression, project, claim } = item;
  const row = {
    ref,
    severity,
    status,
    regression,
    project: name ?? project,
    alike,
    hits,
    trend,
    top,
    last_seen_at,
    agent: claim?.agent ?? null,
  };
  if (alike === 1 || item.exception_class === null) {
    const { message, kind } = toHeadline(title, item.exception_class);
    return { ...row, title: message, kind, href: `/bugs/${ref}` };
  }
  const search = new URLSearchParams({ status, project, exception_class: item.exception_class, muted: 'false' });
  const kind = toShortClassName(item.exception_class);
  const file = item.file_path?.split(/[\\/]/).at(-1);
  return { ...row, title: file ? `${kind} in ${file}` : kind, href: `/bugs?${search.toString()}` };
}

const toShortClassName = (name: string): string => name.split(/[.\\:/]+/).at(-1) || name;
