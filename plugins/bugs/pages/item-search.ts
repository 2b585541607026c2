/** A ref or `client_ref` finds its item; other text searches the list. */
import { toHeadline } from '../../../lib/text/error-title.js';
import type { SearchAction, SearchProvider } from '../../../ports/domain/search.js';
import type { BugDeps } from '../deps.js';
import { findIdsByClientRef } from '../store/client-ref-lookup.js';
import type { IndirectMatchService } from '../store/indirect-matches.js';
import { toItemFilter, toItemSort } from '../item/filters.js';

const REF_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}-\d{1,10}$/;

type SearchDeps = Pick<BugDeps, 'items' | 'refs' | 'projects'> & { indirectMatches: IndirectMatchService };

async function findRefByClientRef(parts: SearchDeps, clientRef: string): Promise<string | null> {
  const [id, ...more] = await findIdsByClientRef(parts, clientRef);
  if (id === undefined || more.length > 0) return null;
  const item = await parts.items.get(id);
  return item === null ? null : `/bugs/${item.ref}`;
}

const SEARCH_CHANGES = [
  { verb: 'Assign', also: ['give', 'take'], field: 'assign' },
  { verb: 'Resolve', also: ['fix', 'done'], field: 'build-resolved' },
  { verb: 'Comment', also: ['answer', 'write'], field: 'f-body' },
] as const;

const buildSearchActions = (parts: SearchDeps): SearchAction[] => [
  {
    verb: 'New',
    also: ['add', 'create', 'report'],
    noun: 'issue',
    nouns: ['bug', 'feature', 'item'],
    href: '/bugs/new',
  },
  ...SEARCH_CHANGES.map(({ verb, also, field }): SearchAction => ({
    verb,
    also,
    on: async ({ words: [ref = '', ...more], limit }) => {
      if (more.length > 0 || !REF_PATTERN.test(ref)) return [];
      const page = await parts.items.find({ filter: { ref }, limit });
      return page.items.map(({ title, status }) => ({
        title: ref,
        href: `/bugs/${ref}#${field}`,
        detail: title,
        state: status,
      }));
    },
  })),
];

export const buildItemSearch = (parts: SearchDeps): SearchProvider => ({
  label: 'Issues',
  icon: 'bug',
  order: 10,
  role: 'member',
  find: async ({ text, limit }) => {
    const filter = toItemFilter(await parts.indirectMatches.addTo({ q: [text] }));
    const page = await parts.items.find({ filter, sort: toItemSort(), limit });
    return page.items.map(({ ref, title, exception_class, status, muted }) => {
      const { message, kind } = toHeadline(title, exception_class);
      const detail = [ref, kind, muted ? 'muted' : null].filter(Boolean).join(' · ');
      return { title: message, href: `/bugs/${ref}`, detail, state: status };
    });
  },
  findExact: async ({ text, words: [ref, ...more] }) => {
    if (ref !== undefined && more.length === 0 && REF_PATTERN.test(ref)) {
      const page = await parts.items.find({ filter: { ref }, limit: 1 });
      if (page.items.length > 0) return `/bugs/${ref}`;
    }
    return findRefByClientRef(parts, text);
  },
  acts: buildSearchActions(parts),
  getListHref: (text) => `/bugs?${new URLSearchParams({ q: text }).toString()}`,
});
