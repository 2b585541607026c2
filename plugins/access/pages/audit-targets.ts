/** Accounts as the audit log names them: their names link to their pages. */
import type { AuditTargets } from '../../../ports/domain/audit.js';
import type { Accounts } from '../accounts/accounts.js';

export const accountTargets = (accounts: Pick<Accounts, 'named'>): AuditTargets => ({
  noun: 'user',
  describe: async (username) => {
    const account = await accounts.named(username).catch(() => null);
    return account && { name: account.username, href: `/users/${account.id}` };
  },
});
