/**
 * Every process that finds no users inserts the account under the same id, so that exactly one gets
 * the password (contract 00, first start). If it crashes before printing it, `aos user passwd` sets
 * another.
 */
import type { Collection, Ids } from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import type { AdminBootstrap } from '../../../ports/domain/access.js';
import type { Account } from '../model/account.js';
import type { AccountService } from './accounts.js';

/** Of 1970, so no other account has it. */
const FIRST_ID = '00000000-0000-7000-8000-000000000001';

export function createFirstStart(
  rows: Collection<Account>,
  accounts: AccountService,
  ids: Ids,
  config: { admin_user: string; admin_password: string | null },
): AdminBootstrap {
  return {
    async ensureAdmin() {
      if ((await rows.find({ limit: 1 })).items.length > 0) return null;
      const password = config.admin_password ?? ids.secret(20);
      try {
        const { username } = await accounts.create(
          'system',
          { username: config.admin_user, role: 'admin', password },
          FIRST_ID,
        );
        return { username, password: config.admin_password === null ? password : null };
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'conflict') return null;
        throw error;
      }
    },
  };
}
