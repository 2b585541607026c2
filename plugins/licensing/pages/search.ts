/** Licenses for the search, by what their list looks through: never by a whole key, which has no place in an address. */
import type { SearchProvider } from '../../../ports/domain/search.js';
import type { Licenses } from '../licenses/licenses.js';

export const licenseSearch = (licenses: Pick<Licenses, 'page'>): SearchProvider => ({
  label: 'Licenses',
  icon: 'license',
  order: 40,
  role: 'member',
  find: async ({ text, limit, principal }) => {
    const { items } = await licenses.page(principal, { q: text, limit });
    return items.map(({ id, licensee, email, product, status }) => ({
      title: licensee ?? email ?? 'License without a name',
      href: `/licenses/${id}`,
      detail: [product, licensee === null ? null : email].filter(Boolean).join(' · '),
      state: status,
    }));
  },
  more: (text) => `/licenses?${new URLSearchParams({ q: text }).toString()}`,
});
