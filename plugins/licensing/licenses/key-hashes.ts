/**
 * Computes the bcrypt hash of each key once (contract 40, access files). Keys are hashed one at a
 * time, after password checks, so that logins never wait. `hash_due` marks missing hashes, so the
 * job finds them after a crash.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { each } from '../../../lib/paging.js';
import type { Find } from '../../../ports/store.js';
import { DEPS, type LicensingDeps } from '../deps.js';
import type { LicenseDoc } from '../model/documents.js';
import { OpeningMarks } from './marks.js';
import { LicenseChangeNotifier } from './watchers.js';

export const KEY_PURPOSE = 'licensing.key';
const COST = 8;
const BATCH = 200;
const GROUP = 100;

@injectable()
export class KeyHashes {
  #tail: Promise<unknown> = Promise.resolve();
  #background: Promise<void> | null = null;
  #stopped = false;

  constructor(
    @inject(DEPS) private readonly deps: Pick<LicensingDeps, 'licenses' | 'cipher' | 'hasher' | 'log'>,
    @inject(OpeningMarks) private readonly marks: OpeningMarks,
    @inject(LicenseChangeNotifier) private readonly watchers: LicenseChangeNotifier,
  ) {}

  async hash(key: string): Promise<string> {
    return this.deps.hasher.hash(key, COST, { background: true });
  }

  later(): void {
    this.#background ??= this.reconcile()
      .then(
        () => undefined,
        (err: unknown) => this.deps.log.error({ err }, 'keys of licenses were not hashed; a job repeats it'),
      )
      .finally(() => (this.#background = null));
  }

  /**
   * Hashes every key whose hash was missing at `before`, oldest first.
   * @returns the number of new hashes
   */
  async reconcile(before?: string, signal?: AbortSignal): Promise<number> {
    const run = this.#tail.then(() => this.#all(before, signal));
    this.#tail = run.catch(() => undefined);
    return run;
  }

  async #all(before?: string, signal?: AbortSignal): Promise<number> {
    let n = 0;
    let hashed: { id: string; hash: string }[] = [];
    const store = async (): Promise<void> => {
      const group = hashed;
      hashed = [];
      if (group.length === 0) return;
      await this.marks.around(() => this.#store(group));
      await this.watchers.tell(null);
      n += group.length;
    };
    const hash_due = before === undefined ? { gt: '' } : { gt: '', lt: before };
    const due: Find = { filter: { hash_due }, sort: [['hash_due', 'asc']], limit: BATCH };
    for await (const license of each(this.deps.licenses, due)) {
      if (this.#stopped || signal?.aborted === true) break;
      const hash = await this.#hashOf(license);
      if (hash !== null) hashed.push({ id: license.id, hash });
      if (hashed.length >= GROUP) await store();
    }
    await store();
    return n;
  }

  /** Returns null for a key sealed with another data key; the remaining keys are still hashed. */
  async #hashOf({ id, key_sealed }: LicenseDoc): Promise<string | null> {
    let key: string;
    try {
      key = this.deps.cipher.open(key_sealed, KEY_PURPOSE);
    } catch (err) {
      this.deps.log.error(
        { err, license: id },
        'a license was sealed with another data key; it cannot open the release store',
      );
      return null;
    }
    return this.hash(key);
  }

  async #store(hashed: readonly { id: string; hash: string }[]): Promise<void> {
    await this.deps.licenses.bulk(
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
