/** Weekly integrity check of the embedded store. */
import {
  collection,
  inject,
  injectable,
  PORT,
  StoreDamaged,
  type Clock,
  type Collection,
  type Logger,
} from '../../kernel/contract/index.js';
import { hasElapsed } from '../../lib/clock-skew.js';
import { RUNTIME, type ServiceRuntime } from '../../ports/domain/system.js';
import type { DamageLocation } from '../../ports/store/damage.js';
import type { StoreExaminationResult } from '../../ports/store/examination.js';

export interface IntegrityCheckDoc extends StoreExaminationResult {
  id: string;
  checked_at: string;
}

/** `ok` and `checked_at` are null before the first check ended. */
export interface IntegrityStatus {
  ok: boolean | null;
  checked_at: string | null;
  damage: readonly string[];
}

const LAST_CHECK_ID = 'last';
const MAX_LISTED_DOCUMENTS = 20;

@injectable()
export class IntegrityChecker {
  constructor(
    @inject(RUNTIME) private readonly runtime: ServiceRuntime,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.log) private readonly log: Logger,
    @inject(collection<IntegrityCheckDoc>('examinations')) private readonly last: Collection<IntegrityCheckDoc>,
  ) {}

  async runCheck(signal?: AbortSignal): Promise<void> {
    const found = await this.runtime.examineStore(signal);
    if (found === null) return;
    await this.last.bulk([{ put: { id: LAST_CHECK_ID, ...found, checked_at: this.clock.iso() } }]);
    const { ok, documents, damage, more } = found;
    if (ok) return this.log.info({ documents }, 'the store was checked completely: no damage');
    this.log.error({ documents, damage, more }, 'the store is damaged: run aos doctor --deep for a fix');
  }

  async #getLast(): Promise<Readonly<IntegrityCheckDoc> | null> {
    try {
      return await this.last.get(LAST_CHECK_ID);
    } catch (error) {
      if (error instanceof StoreDamaged) return null;
      throw error;
    }
  }

  /** Null when stores are not checked. */
  async getStatus(): Promise<IntegrityStatus | null> {
    if (!this.runtime.canExamineStore) return null;
    const encounteredDamage = this.runtime.listDamage();
    const doc = await this.#getLast();
    const checked_at = doc?.checked_at ?? null;
    // Earlier damage is in the findings or repaired. A check time in the future comes from a clock
    // that moved backwards, so the order is unknown.
    const unknown = checked_at === null || hasElapsed(checked_at, Infinity, this.clock.now());
    const since = encounteredDamage
      .filter(({ at }) => unknown || at > checked_at)
      .map(({ place }) => describeDamage(place));
    const damage = [...new Set([...(doc?.damage ?? []), ...since])].slice(0, MAX_LISTED_DOCUMENTS);
    return { ok: since.length > 0 ? false : (doc?.ok ?? null), checked_at, damage };
  }
}

function describeDamage({ collection, id }: DamageLocation): string {
  if (collection === null) return 'the file of the store cannot be read';
  return `${id === null ? 'a document' : `the document "${id}"`} of ${collection}: a request could not read it`;
}
