import { definePlugin } from '../../kernel/contract/index.js';
import { ACCOUNTS, type AccountDirectory } from '../../ports/domain/access.js';
import { LIVE_TOKENS, type LiveTokenDetector } from '../../ports/domain/live-tokens.js';

export const LIVE_TOKEN = `svc_live_${'L'.repeat(43)}`;

export const liveTokens: LiveTokenDetector = { hasLiveToken: async (text) => text.includes(LIVE_TOKEN) };

export const noAccounts: AccountDirectory = {
  findUsername: async () => null,
  listUsernames: async () => [],
  iterateCredentials: async function* () {},
  getRevision: async () => '',
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
