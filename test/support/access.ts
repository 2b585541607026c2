/** What the bug tracker asks of accounts and tokens, for kernels that boot without the access plugin. */
import { definePlugin } from '../../kernel/contract.js';
import { ACCOUNTS, LIVE_TOKENS } from '../../ports/domain/access.js';

export const fakeAccess = definePlugin({
  id: 'access',
  version: '1.0.0',
  api: 1,
  title: 'Accounts and tokens',
  provides: [ACCOUNTS.name, LIVE_TOKENS.name],
  setup: () => ({
    services: {
      [ACCOUNTS.name]: { named: async () => null },
      [LIVE_TOKENS.name]: { heldIn: async () => false },
    },
  }),
});
