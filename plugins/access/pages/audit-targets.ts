import type { AuditTargetResolver } from '../../../ports/domain/audit.js';
import type { AccountService } from '../accounts/accounts.js';

export const createAccountTargets = (accounts: Pick<AccountService, 'findByUsername'>): AuditTargetResolver => ({
  noun: 'user',
  describe: async (username) => {
    const account = await accounts.findByUsername(username).catch(() => null);
    return account && { name: account.username, href: `/users/${account.id}` };
  },
});
