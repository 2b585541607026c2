/**
 * Items for the search: a ref in any case leads to its item, and so does a reporter's own `client_ref`; words are
 * looked for as in the list.
 */
import type { SearchProvider } from '../../../ports/domain/search.js';
import type { BugDeps } from '../deps.js';
import { hashOf } from '../item/hash-of.js';
import { publicRefId } from '../store/client-refs.js';
import { filterOf, sortOf } from '../item/filters.js';

/** References that one question to the store names. */
const AT_ONCE = 200;

const REF = /^[a-z0-9][a-z0-9._-]{0,63}-\d{1,10}$/;

type Parts = Pick<BugDeps, 'items' | 'refs' | 'projects'>;

/** The item that a report with this `client_ref` made or was counted for, if one project alone knows it. */
async function byClientRef({ items, refs, projects }: Parts, client_ref: string): Promise<string | null> {
  const known = (await projects.list()).flatMap(({ slug }) => [
    hashOf(slug, client_ref),
    publicRefId(slug, client_ref),
  ]);
  const ids = new Set<string>();
  for (let from = 0; from < known.length; from += AT_ONCE) {
    const asked = known.slice(from, from + AT_ONCE);
    for (const { item_id } of (await refs.find({ filter: { id: { in: asked } }, limit: AT_ONCE })).items)
      ids.add(item_id);
  }
  const [id, ...more] = ids;
  if (id === undefined || more.length > 0) return null;
  const item = await items.get(id);
  return item === null ? null : `/bugs/${item.ref}`;
}

export const itemSearch = (parts: Parts): SearchProvider => ({
  label: 'Bugs and features',
  icon: 'bug',
  order: 10,
  role: 'member',
  find: async ({ text, limit }) => {
    const page = await parts.items.find({ filter: filterOf({ q: [text] }), sort: sortOf(), limit });
    return page.items.map(({ ref, title, status, muted }) => ({
      title,
      href: `/bugs/${ref}`,
      detail: `${ref}${muted ? ' · muted' : ''}`,
      state: status,
    }));
  },
  exact: async ({ text, words: [ref, ...more] }) => {
    if (ref !== undefined && more.length === 0 && REF.test(ref)) {
      const page = await parts.items.find({ filter: { ref }, limit: 1 });
      if (page.items.length > 0) return `/bugs/${ref}`;
    }
    return byClientRef(parts, text);
  },
  more: (text) => `/bugs?${new URLSearchParams({ q: text }).toString()}`,
});
