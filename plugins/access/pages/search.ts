/** Accounts for the search, by name: for administrators, who alone read them (contract 10, roles). */
import type { SearchProvider } from '../../../ports/domain/search.js';
import type { Accounts } from '../accounts/accounts.js';

export const accountSearch = (accounts: Pick<Accounts, 'list'>): SearchProvider => ({
  label: 'Users',
  icon: 'users',
  order: 70,
  role: 'admin',
  find: async ({ words, limit }) => {
    const all = await accounts.list();
    const found = all.filter(({ username }) => words.every((word) => username.toLowerCase().includes(word)));
    return found.slice(0, limit).map(({ id, username, role, disabled }) => ({
      title: username,
      href: `/users/${id}`,
      detail: role,
      state: disabled ? 'disabled' : null,
    }));
  },
});
