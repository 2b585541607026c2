import { PORT, collection, inject, injectable, type Collection } from '../../../kernel/contract/index.js';
import type { PasswordHasher } from '../../../ports/hasher.js';
import { AccountChangeNotifier } from '../accounts/account-change-notifier.js';
import type { Account } from '../model/account.js';
import { MAX_PASSWORD_BYTES } from '../model/password.js';

@injectable()
export class PasswordVerifier {
  constructor(
    @inject(collection<Account>('accounts')) private readonly accounts: Collection<Account>,
    @inject(PORT.hasher) private readonly hasher: PasswordHasher,
    @inject(AccountChangeNotifier) private readonly watchers: AccountChangeNotifier,
  ) {}

  /** Does equal hash work without an account. Replaces hashes of a lower cost. */
  async verify(password: string, account: Account | null): Promise<boolean> {
    if (account === null) {
      await this.hasher.verify(password, null);
      return false;
    }
    const { ok, rehash } = await this.hasher.verify(password, account.password_hash);
    if (ok && rehash && Buffer.byteLength(password) <= MAX_PASSWORD_BYTES) await this.#rehash(account, password);
    return ok;
  }

  async #rehash(account: Account, password: string): Promise<void> {
    const password_hash = await this.hasher.hash(password);
    // The password may have changed in the meantime.
    const same = { id: account.id, password_hash: account.password_hash };
    if ((await this.accounts.change(same, { set: { password_hash } })) !== null) await this.watchers.notifyChanged();
  }
}
