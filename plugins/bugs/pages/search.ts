/** Items for the search: a ref in any case leads to its item; words are looked for as in the list. */
import type { SearchProvider } from '../../../ports/domain/search.js';
import type { Deps } from '../deps.js';
import { filterOf, sortOf } from '../lists/filters.js';

const REF = /^[a-z0-9][a-z0-9._-]{0,63}-\d{1,10}$/;

export const itemSearch = ({ items }: Pick<Deps, 'items'>): SearchProvider => ({
  label: 'Bugs and features',
  icon: 'bug',
  order: 10,
  role: 'member',
  find: async ({ text, limit }) => {
    const page = await items.find({ filter: filterOf({ q: [text] }), sort: sortOf(), limit });
    return page.items.map(({ ref, title, status, muted }) => ({
      title,
      href: `/bugs/${ref}`,
      detail: `${ref}${muted ? ' · muted' : ''}`,
      state: status,
    }));
  },
  exact: async ({ words: [ref, ...more] }) => {
    if (ref === undefined || more.length > 0 || !REF.test(ref)) return null;
    const page = await items.find({ filter: { ref }, limit: 1 });
    return page.items.length === 0 ? null : `/bugs/${ref}`;
  },
  more: (text) => `/bugs?${new URLSearchParams({ q: text }).toString()}`,
});
