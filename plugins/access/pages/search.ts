import type { TokenRecord } from '../../../ports/domain/tokens.js';
import type { SearchProvider } from '../../../ports/domain/search.js';
import type { AccountService } from '../accounts/accounts.js';
import { isLive } from '../model/token.js';
import type { TokenService } from '../tokens/tokens.js';

export const createAccountSearch = (accounts: Pick<AccountService, 'list'>): SearchProvider => ({
  label: 'Members',
  icon: 'users',
  order: 70,
  role: 'admin',
  acts: [
    {
      verb: 'Invite',
      also: ['add', 'create', 'new'],
      noun: 'member',
      nouns: ['account', 'person', 'user'],
      href: '/users',
    },
  ],
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

function getTokenState(token: TokenRecord, now: string): string | null {
  if (token.revoked_at !== null) return 'revoked';
  return isLive(token, now) ? null : 'expired';
}

/** Finds by full name or visible prefix, never by a whole secret. */
export const createTokenSearch = (tokens: Pick<TokenService, 'named'>, now: () => string): SearchProvider => ({
  label: 'Tokens',
  icon: 'key',
  order: 75,
  role: 'admin',
  acts: [
    { verb: 'New', also: ['add', 'create'], noun: 'token', nouns: ['api key', 'credential'], href: '/tokens/new' },
  ],
  find: async ({ text, limit }) => {
    const found = await tokens.named(text, limit);
    return found.map((token) => ({
      title: token.name,
      href: `/tokens?kind=${token.kind}`,
      detail: `${token.kind} · ${token.prefix}…`,
      state: getTokenState(token, now()),
    }));
  },
});
