import { createHash } from 'node:crypto';
import { collection, inject, injectable, PORT, type Collection, type Logger } from '../../../kernel/contract/index.js';
import { iterateItems } from '../../../lib/paging.js';
import type { AccountDirectory, AccountCredential } from '../../../ports/domain/access.js';
import { CorruptionReporter } from '../../../ports/store/corruption-reporter.js';
import { toUsernameKey, type Account } from '../model/account.js';

const PAGE_SIZE = 500;

@injectable()
export class AccountDirectoryService implements AccountDirectory {
  readonly #damage: CorruptionReporter;

  constructor(
    @inject(collection<Account>('accounts')) private readonly rows: Collection<Account>,
    @inject(PORT.log) log: Logger,
  ) {
    this.#damage = new CorruptionReporter(log, 'an account');
  }

  async findUsername(username: string): Promise<string | null> {
    const page = await this.rows.find({ filter: { username_key: toUsernameKey(username) }, limit: 1 });
    const account = page.items[0];
    return account === undefined || account.disabled ? null : account.username;
  }

  async listUsernames(most: number): Promise<string[]> {
    const { items } = await this.rows.find({ sort: [['username_key', 'asc']], limit: most });
    return items.filter(({ disabled }) => !disabled).map(({ username }) => username);
  }

  async *iterateCredentials(): AsyncIterable<AccountCredential> {
    const query = { sort: [['username_key', 'asc']], limit: PAGE_SIZE, damaged: this.#damage.report } as const;
    for await (const account of iterateItems(this.rows, query)) {
      const { username, role, password_hash: hash, disabled } = account;
      if (!disabled) yield { username, role, hash };
    }
  }

  /** A separate counter could diverge after a crash. */
  async getRevision(): Promise<string> {
    const digest = createHash('sha256');
    for await (const { username, role, hash } of this.iterateCredentials())
      digest.update(`${JSON.stringify([username, role, hash])}\n`);
    return digest.digest('base64url');
  }
}
