/**
 * A crash may lose their announcement (docs/consistency.md). The mark changes when a change begins
 * and ends, so a reader in between reads again.
 */
import { inject, injectable, type Collection, type Clock, type Ids } from '../../../kernel/contract/index.js';
import { hasElapsed } from '../../../lib/clock-skew.js';
import { MINUTE_MS } from '../../../lib/time.js';
import { DEPS } from '../deps.js';
import type { StoreAccessMarkDoc } from '../model/documents.js';

const MARK_ID = 'opening';
/** Changes take milliseconds; an older one belongs to a dead process. */
const ABANDONED_AFTER_MS = MINUTE_MS;

@injectable()
export class StoreAccessMarks {
  constructor(
    @inject(DEPS.marks) private readonly marks: Collection<StoreAccessMarkDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
  ) {}

  async runChange<T>(change: () => Promise<T>): Promise<T> {
    const { marks, clock, ids } = this;
    const id = ids.uuid();
    await marks.change({ id: MARK_ID }, { push: { open: { each: [{ id, at: clock.iso() }] } } }, { upsert: true });
    try {
      return await change();
    } finally {
      await this.#close([id]);
    }
  }

  async read(): Promise<string> {
    const mark = await this.marks.get(MARK_ID);
    const open = (mark?.open ?? []).map(({ id }) => id).sort();
    return [mark?.n ?? 0, ...open].join(' ');
  }

  async reconcile(): Promise<boolean> {
    const now = this.clock.now();
    const mark = await this.marks.get(MARK_ID);
    const left = (mark?.open ?? []).filter(({ at }) => hasElapsed(at, ABANDONED_AFTER_MS, now)).map(({ id }) => id);
    if (left.length > 0) await this.#close(left);
    return left.length > 0;
  }

  async #close(ids: readonly string[]): Promise<void> {
    await this.marks.change({ id: MARK_ID }, { inc: { n: 1 }, pull: { open: { field: 'id', in: ids } } });
  }
}
