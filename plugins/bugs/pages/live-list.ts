import joi from 'joi';
import { Reply, getTimeZone, type PageSpec } from '../../../kernel/contract/index.js';
import type { PageDeps } from './shared/page-deps.js';
import { applyDefaultFilters, toItemQuery, listQuerySchema, type ItemListQuery } from './shared/list-query.js';

const MARK_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const liveQuerySchema = listQuerySchema.keys({ since: joi.string().pattern(MARK_PATTERN).required() });

export function buildLiveListPages({ services: { board }, deps: { clock }, timezone }: PageDeps): PageSpec[] {
  return [
    {
      path: '/bugs/live',
      title: 'Bugs',
      access: { session: 'member' },
      input: { query: liveQuerySchema },
      handle: async (request) => {
        const { since, sort: _order, cursor: _page, ...given } = request.query as ItemListQuery & { since: string };
        const filters = toItemQuery(
          applyDefaultFilters(given),
          clock.now(),
          getTimeZone(request.principal, timezone()),
        );
        const { items, mark } = await board.listChangedGroups(filters, since);
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
