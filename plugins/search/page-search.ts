import type { SearchProvider } from '../../ports/domain/search.js';
import type { ServiceCatalog } from '../../ports/domain/system.js';

export const createPageSearch = (catalog: Pick<ServiceCatalog, 'listPages'>): SearchProvider => ({
  label: 'Pages',
  icon: 'book',
  order: 5,
  role: 'member',
  find: async ({ words, limit, principal: { role } }) => {
    const found = catalog.listPages(role).filter(({ label, also }) => {
      const names = [label, ...also].map((name) => name.toLowerCase());
      return words.every((word) => names.some((name) => name.split(/\s+/).some((part) => part.startsWith(word))));
    });
    return found.slice(0, limit).map(({ label, href }) => ({ title: label, href }));
  },
});
