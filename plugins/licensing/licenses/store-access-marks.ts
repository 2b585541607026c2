/**
 * A crash may lose their announcement (docs/consistency.md). The mark changes when a change begins
 * and ends, so a reader in between reads again.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { hasElapsed } from '../../../lib/clock-skew.js';
import { MINUTE_MS } from '../../../lib/time.js';
import { DEPS, type LicensingDeps } from '../deps.js';

const MARK_ID = 'opening';
/** Changes take milliseconds; an older one belongs to a dead process. */
const ABANDONED_AFTER_MS = MINUTE_MS;

@injectable()
export class StoreAccessMarks {
  constructor(@inject(DEPS) private readonly deps: Pick<LicensingDeps, 'marks' | 'clock' | 'ids'>) {}

  async runChange<T>(change: () => Promise<T>): Promise<T> {
    const { marks, clock, ids } = this.deps;
    const id = ids.uuid();
    await marks.change({ id: MARK_ID }, { push: { open: { each: [{ id, at: clock.iso() }] } } }, { upsert: true });
    try {
      return await change();
    } finally {
      await this.#close([id]);
    }
  }

  async read(): Promise<string> {
    const mark = await this.deps.marks.get(MARK_ID);
    const open = (mark?.open ?? []).map(({ id }) => id).sort();
    return [mark?.n ?? 0, ...open].join(' ');
  }

  async reconcile(): Promise<boolean> {
    const now = this.deps.clock.now();
    const mark = await this.deps.marks.get(MARK_ID);
    const left = (mark?.open ?? []).filter(({ at }) => hasElapsed(at, ABANDONED_AFTER_MS, now)).map(({ id }) => id);
    if (left.length > 0) await this.#close(left);
    return left.length > 0;
  }

  async #close(ids: readonly string[]): Promise<void> {
    await this.deps.marks.change({ id: MARK_ID }, { inc: { n: 1 }, pull: { open: { field: 'id', in: ids } } });
  }
}
