/**
 * Once per key (contract 40, access files), one at a time, after password checks, so that logins
 * never wait. `hash_due` marks missing hashes, so the job finds them after a crash.
 */
import { inject, injectable, type Collection, type Logger } from '../../../kernel/contract/index.js';
import { iterateItems } from '../../../lib/paging.js';
import type { FindQuery } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import type { LicenseDoc } from '../model/documents.js';
import { StoreAccessMarks } from './store-access-marks.js';
import { LicenseChangeNotifier } from './change-notifier.js';
import type { PasswordHasher } from '../../../ports/hasher.js';
import type { Cipher } from '../../../ports/cipher.js';

export const KEY_PURPOSE = 'licensing.key';
const BCRYPT_COST = 8;
const BATCH_SIZE = 200;
const NOTIFY_GROUP_SIZE = 100;

@injectable()
export class KeyHashService {
  #tail: Promise<unknown> = Promise.resolve();
  #background: Promise<void> | null = null;
  #stopped = false;

  constructor(
    @inject(DEPS.licenses) private readonly licenses: Collection<LicenseDoc>,
    @inject(DEPS.cipher) private readonly cipher: Cipher,
    @inject(DEPS.hasher) private readonly hasher: Pick<PasswordHasher, 'hash'>,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(StoreAccessMarks) private readonly marks: StoreAccessMarks,
    @inject(LicenseChangeNotifier) private readonly watchers: LicenseChangeNotifier,
  ) {}

  async hash(key: string): Promise<string> {
    return this.hasher.hash(key, BCRYPT_COST, { background: true });
  }

  scheduleMissing(): void {
    this.#background ??= this.reconcile()
      .then(
        () => undefined,
        (err: unknown) => this.log.error({ err }, 'license keys could not be hashed; a job will retry'),
      )
      .finally(() => (this.#background = null));
  }

  /**
   * Missing at `before`, oldest first.
   * @returns the number of new hashes
   */
  async reconcile(before?: string, signal?: AbortSignal): Promise<number> {
    const run = this.#tail.then(() => this.#hashAllDue(before, signal));
    this.#tail = run.catch(() => undefined);
    return run;
  }

  async #hashAllDue(before?: string, signal?: AbortSignal): Promise<number> {
    let n = 0;
    let hashed: { id: string; hash: string }[] = [];
    const store = async (): Promise<void> => {
      const group = hashed;
      hashed = [];
      if (group.length === 0) return;
      await this.marks.runChange(() => this.#store(group));
      await this.watchers.notify(null);
      n += group.length;
    };
    const hash_due = before === undefined ? { gt: '' } : { gt: '', lt: before };
    const due: FindQuery = { filter: { hash_due }, sort: [['hash_due', 'asc']], limit: BATCH_SIZE };
    for await (const license of iterateItems(this.licenses, due)) {
      if (this.#stopped || signal?.aborted === true) break;
      const hash = await this.#hashLicenseKey(license);
      if (hash !== null) hashed.push({ id: license.id, hash });
      if (hashed.length >= NOTIFY_GROUP_SIZE) await store();
    }
    await store();
    return n;
  }

  /** Returns null for a key sealed with another data key. */
  async #hashLicenseKey({ id, key_sealed }: LicenseDoc): Promise<string | null> {
    let key: string;
    try {
      key = this.cipher.open(key_sealed, KEY_PURPOSE);
    } catch (err) {
      this.log.error(
        { err, license: id },
        'a license was encrypted with another data key; it cannot unlock the release store',
      );
      return null;
    }
    return this.hash(key);
  }

  async #store(hashed: readonly { id: string; hash: string }[]): Promise<void> {
    await this.licenses.bulk(
      hashed.map(({ id, hash }) => ({
        change: { id, key_hash: null },
        update: { set: { key_hash: hash }, unset: ['hash_due'] },
      })),
    );
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([this.#tail, this.#background]);
  }
}
