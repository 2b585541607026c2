/**
 * The weekly examination of the embedded store, what the last one found, and what calls have met since: shown by health
 * and on /system.
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

/** The last examination; there is one document. */
export interface ExaminationDoc extends Examined {
  id: string;
  checked_at: string;
}

/** `ok` and `checked_at` are null until the first one has ended. */
export interface IntegrityCheck {
  ok: boolean | null;
  checked_at: string | null;
  /** What was found, at most twenty sentences. */
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

  /** Reads all that is stored. Nothing where the engine's server looks after its files itself. */
  async examine(signal?: AbortSignal): Promise<void> {
    const found = await this.runtime.examineStore(signal);
    if (found === null) return;
    await this.last.bulk([{ put: { id: LAST_EXAMINATION_ID, ...found, checked_at: this.clock.iso() } }]);
    const { ok, documents, damage, more } = found;
    if (ok) return this.log.info({ documents }, 'the store was read whole: no damage');
    this.log.error({ documents, damage, more }, 'the store is damaged: aos doctor --deep says what to do');
  }

  /** Null where there was none, or what it found is damaged itself. */
  async #getLast(): Promise<Readonly<ExaminationDoc> | null> {
    try {
      return await this.last.get(LAST_EXAMINATION_ID);
    } catch (error) {
      if (error instanceof StoreDamaged) return null;
      throw error;
    }
  }

  /** Findings of the last examination and damage encountered since; null when stores are not examined. */
  async check(): Promise<IntegrityCheck | null> {
    if (!this.runtime.examinesStore) return null;
    const met = this.runtime.metDamage();
    const doc = await this.#getLast();
    const checked_at = doc?.checked_at ?? null;
    // What was met before the last examination is in its findings, or mended. One that lies ahead is of a clock
    // that was put back: nobody knows what came first.
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
