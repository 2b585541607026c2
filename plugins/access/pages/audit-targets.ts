import type { AuditTargets } from '../../../ports/domain/audit.js';
import type { Accounts } from '../accounts/accounts.js';

export const createAccountTargets = (accounts: Pick<Accounts, 'findByUsername'>): AuditTargets => ({
  noun: 'user',
  describe: async (username) => {
    const account = await accounts.findByUsername(username).catch(() => null);
    return account && { name: account.username, href: `/users/${account.id}` };
  },
});
