import joi from 'joi';
import { Reply, zoneOf, type PageSpec } from '../../../kernel/contract.js';
import type { PageDeps } from './shared/page-deps.js';
import { effective, itemQueryOf, listQuery, type ListQuery } from './shared/query.js';

const MARK = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const query = listQuery.keys({ since: joi.string().pattern(MARK).required() });

export function livePages({ services: { board }, deps: { clock }, timezone }: PageDeps): PageSpec[] {
  return [
    {
      path: '/bugs/live',
      title: 'Bugs',
      access: { session: 'member' },
      input: { query },
      handle: async (request) => {
        const { since, sort: _order, cursor: _page, ...given } = request.query as ListQuery & { since: string };
        const filters = itemQueryOf(effective(given), clock.now(), zoneOf(request.principal, timezone()));
        const { items, mark } = await board.changed(filters, since);
        return new Reply(200, {
          mark,
          rows: items.map(
            ({ ref, fits, created_at, hit_count, hour_count, last_seen_at, status, regression, muted }) => {
              return { ref, fits, created_at, hit_count, hour_count, last_seen_at, status, regression, muted };
            },
          ),
        });
      },
    },
  ];
}
