/**
 * Global search (contract 80): the box in the top bar, and /search. Other plugins provide the hits.
 * A ref or another full name leads directly to its page.
 */
import joi from 'joi';
import { definePlugin, Redirect, Reply, View, type HttpRequest, type PageSpec } from '../../kernel/contract/index.js';
import { SEARCH_PROVIDERS } from '../../ports/domain/search.js';
import { CATALOG } from '../../ports/domain/system.js';
import type { SessionPrincipal } from '../../ports/http/index.js';
import { createPageSearch } from './page-search.js';
import { SearchService } from './search-service.js';

const PAGE_HITS_PER_KIND = 20;
const LIST_HITS_PER_KIND = 5;

const input = { query: joi.object({ q: joi.string().allow('').max(200).default('') }) };
const access = { session: 'member' } as const;

const getSearchInput = (request: HttpRequest): { q: string; principal: SessionPrincipal } => ({
  q: request.query['q'] as string,
  principal: request.principal as SessionPrincipal,
});

const buildSearchPages = (search: SearchService): PageSpec[] => [
  {
    path: '/search',
    title: 'Search',
    access,
    input,
    handle: async (request) => {
      const { q, principal } = getSearchInput(request);
      const found = await search.find(q, principal, PAGE_HITS_PER_KIND);
      const only = found.exact ?? found.act;
      if (only !== null) return new Redirect(only);
      return new View('search', { q, ...found, title: q === '' ? 'Search' : `Search: ${q}` });
    },
  },
  {
    path: '/search/live',
    title: 'Search',
    access,
    input,
    handle: async (request) => {
      const { q, principal } = getSearchInput(request);
      return new Reply(200, await search.find(q, principal, LIST_HITS_PER_KIND)).header('cache-control', 'no-store');
    },
  },
];

export default definePlugin({
  id: 'search',
  version: '1.0.0',
  api: 1,
  title: 'Search',
  needs: [CATALOG.name],
  extensionPoints: [SEARCH_PROVIDERS.point],
  from: import.meta.url,
  setup: (ctx) => {
    const own = createPageSearch(ctx.resolve(CATALOG));
    return { pages: buildSearchPages(new SearchService(() => [own, ...ctx.extensions(SEARCH_PROVIDERS)], ctx.log)) };
  },
});
