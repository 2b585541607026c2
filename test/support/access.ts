import { definePlugin } from '../../kernel/contract.js';
import { ACCOUNTS, type AccountDirectory } from '../../ports/domain/access.js';
import { LIVE_TOKENS, type LiveTokens } from '../../ports/domain/live-tokens.js';

export const LIVE = `svc_live_${'L'.repeat(43)}`;

export const liveTokens: LiveTokens = { heldIn: async (text) => text.includes(LIVE) };

export const noAccounts: AccountDirectory = {
  named: async () => null,
  names: async () => [],
  opening: async function* () {},
  mark: async () => '',
};

export const fakeAccess = definePlugin({
  id: 'access',
  version: '1.0.0',
  api: 1,
  title: 'Accounts and tokens',
  provides: [ACCOUNTS.name, LIVE_TOKENS.name],
  setup: () => ({
    services: {
      [ACCOUNTS.name]: noAccounts,
      [LIVE_TOKENS.name]: liveTokens,
    },
  }),
});
