import { createHash } from 'node:crypto';
import { collection, inject, injectable, PORT, type Collection, type Logger } from '../../../kernel/contract.js';
import { each } from '../../../lib/paging.js';
import type { AccountDirectory, OpeningAccount } from '../../../ports/domain/access.js';
import { ToldDamage } from '../../../ports/store/told-damage.js';
import { toUsernameKey, type Account } from '../model/account.js';

const PAGE_SIZE = 500;

@injectable()
export class Directory implements AccountDirectory {
  readonly #damage: ToldDamage;

  constructor(
    @inject(collection<Account>('accounts')) private readonly rows: Collection<Account>,
    @inject(PORT.log) log: Logger,
  ) {
    this.#damage = new ToldDamage(log, 'an account');
  }

  async named(username: string): Promise<string | null> {
    const page = await this.rows.find({ filter: { username_key: toUsernameKey(username) }, limit: 1 });
    const account = page.items[0];
    return account === undefined || account.disabled ? null : account.username;
  }

  async names(most: number): Promise<string[]> {
    const { items } = await this.rows.find({ sort: [['username_key', 'asc']], limit: most });
    return items.filter(({ disabled }) => !disabled).map(({ username }) => username);
  }

  async *opening(): AsyncIterable<OpeningAccount> {
    const query = { sort: [['username_key', 'asc']], limit: PAGE_SIZE, damaged: this.#damage.tell } as const;
    for await (const account of each(this.rows, query)) {
      const { username, role, password_hash: hash, disabled } = account;
      if (!disabled) yield { username, role, hash };
    }
  }

  /** Hashes the accounts themselves: a separate counter could diverge after a crash. */
  async mark(): Promise<string> {
    const digest = createHash('sha256');
    for await (const { username, role, hash } of this.opening())
      digest.update(`${JSON.stringify([username, role, hash])}\n`);
    return digest.digest('base64url');
  }
}
