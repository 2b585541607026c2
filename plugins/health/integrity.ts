/**
 * Weekly integrity check of the embedded store. Health and /system show its last findings and
 * damage encountered since.
 */
import {
  collection,
  inject,
  injectable,
  PORT,
  StoreDamaged,
  type Clock,
  type Collection,
  type Logger,
} from '../../kernel/contract.js';
import { hasElapsed } from '../../lib/clock-skew.js';
import { RUNTIME, type ServiceRuntime } from '../../ports/domain/system.js';
import type { DamagedPlace } from '../../ports/store/damage.js';
import type { Examined } from '../../ports/store/examination.js';

export interface ExaminationDoc extends Examined {
  id: string;
  checked_at: string;
}

/** `ok` and `checked_at` are null before the first check ended. */
export interface IntegrityCheck {
  ok: boolean | null;
  checked_at: string | null;
  damage: readonly string[];
}

const LAST_EXAMINATION_ID = 'last';
const MAX_LISTED_DOCUMENTS = 20;

@injectable()
export class IntegrityExaminer {
  constructor(
    @inject(RUNTIME) private readonly runtime: ServiceRuntime,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.log) private readonly log: Logger,
    @inject(collection<ExaminationDoc>('examinations')) private readonly last: Collection<ExaminationDoc>,
  ) {}

  async examine(signal?: AbortSignal): Promise<void> {
    const found = await this.runtime.examineStore(signal);
    if (found === null) return;
    await this.last.bulk([{ put: { id: LAST_EXAMINATION_ID, ...found, checked_at: this.clock.iso() } }]);
    const { ok, documents, damage, more } = found;
    if (ok) return this.log.info({ documents }, 'the store was read whole: no damage');
    this.log.error({ documents, damage, more }, 'the store is damaged: aos doctor --deep says what to do');
  }

  async #getLast(): Promise<Readonly<ExaminationDoc> | null> {
    try {
      return await this.last.get(LAST_EXAMINATION_ID);
    } catch (error) {
      if (error instanceof StoreDamaged) return null;
      throw error;
    }
  }

  /**
   * Returns findings of the last check and damage encountered since; null when stores are not
   * checked.
   */
  async check(): Promise<IntegrityCheck | null> {
    if (!this.runtime.examinesStore) return null;
    const met = this.runtime.metDamage();
    const doc = await this.#getLast();
    const checked_at = doc?.checked_at ?? null;
    // Earlier damage is in the findings or repaired. A check time in the future comes from a clock
    // that moved backwards, so the order is unknown.
    const unknown = checked_at === null || hasElapsed(checked_at, Infinity, this.clock.now());
    const since = met.filter(({ at }) => unknown || at > checked_at).map(({ place }) => describeDamage(place));
    const damage = [...new Set([...(doc?.damage ?? []), ...since])].slice(0, MAX_LISTED_DOCUMENTS);
    return { ok: since.length > 0 ? false : (doc?.ok ?? null), checked_at, damage };
  }
}

function describeDamage({ collection, id }: DamagedPlace): string {
  if (collection === null) return 'the file of the store cannot be read';
  return `${id === null ? 'a document' : `the document "${id}"`} of ${collection}: a call could not read it`;
}
