/**
 * Says whether what opens the release store may have changed, so that a change that a crash cut off from its
 * announcement is found by the next look. The answer differs as soon as a change begins, and differs again when it has
 * ended: whoever read the licenses in between has the first of the two, and looks again (docs/consistency.md).
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { MINUTE_MS, isoOf } from '../../../lib/time.js';
import { DEPS, type LicensingDeps } from '../deps.js';

const ID = 'opening';
/** A change takes milliseconds; one that is open for longer belongs to a process that is gone. */
const LEFT_MS = MINUTE_MS;

@injectable()
export class OpeningMarks {
  constructor(@inject(DEPS) private readonly deps: Pick<LicensingDeps, 'marks' | 'clock' | 'ids'>) {}

  /** Runs a change, announced before and after. */
  async around<T>(change: () => Promise<T>): Promise<T> {
    const { marks, clock, ids } = this.deps;
    const id = ids.uuid();
    await marks.change({ id: ID }, { push: { open: { each: [{ id, at: clock.iso() }] } } }, { upsert: true });
    try {
      return await change();
    } finally {
      await this.#close([id]);
    }
  }

  async read(): Promise<string> {
    const mark = await this.deps.marks.get(ID);
    const open = (mark?.open ?? []).map(({ id }) => id).sort();
    return [mark?.n ?? 0, ...open].join(' ');
  }

  /** Ends what dead processes left open. Answers whether there was any. */
  async reconcile(): Promise<boolean> {
    const before = isoOf(this.deps.clock.now() - LEFT_MS);
    const mark = await this.deps.marks.get(ID);
    const left = (mark?.open ?? []).filter(({ at }) => at < before).map(({ id }) => id);
    if (left.length > 0) await this.#close(left);
    return left.length > 0;
  }

  async #close(ids: readonly string[]): Promise<void> {
    await this.deps.marks.change({ id: ID }, { inc: { n: 1 }, pull: { open: { field: 'id', in: ids } } });
  }
}
