/**
 * Makes an item from its first report (contract 20, transitions). Where the store has transactions, all of it is one: what
 * decides where its keys lead (grouping/keys.ts), the reference, texts, item and payload, and its number
 * where the last one is known (numbers.ts). A call that loses to another one wastes a number and writes nothing. Elsewhere each
 * is a write of its own, in the order of docs/consistency.md.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { StoreConflict, type TransactionWrite } from '../../../ports/store.js';
import { DEPS, type Deps } from '../deps.js';
import { ChangeSet } from '../item/change-set.js';
import { DeltaWatermark } from '../store/delta-watermark.js';
import type { ItemDoc } from '../item/model.js';
import { Faults } from '../builds/version-faults.js';
import { firstDocument, textsOf } from '../item/first-document.js';
import type { IncomingReport } from './incoming-report.js';
import { Numbers } from './numbers.js';
import { PayloadSampler } from './payload-sampler.js';

@injectable()
export class NewItems {
  /** First reports of one item in this process, one after the other: they would only waste numbers. */
  readonly #creating = new Map<string, Promise<unknown>>();

  constructor(
    @inject(DEPS) private readonly deps: Deps,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(Faults) private readonly faults: Faults,
    @inject(PayloadSampler) private readonly sampler: PayloadSampler,
    @inject(Numbers) private readonly numbers: Numbers,
  ) {}

  /** Item and decision in one transaction; null when another call was faster. @param decision of `Keys.decide` */
  async createWith(
    decision: readonly TransactionWrite[],
    id: string,
    incoming: IncomingReport,
  ): Promise<ItemDoc | null> {
    const { transact } = this.deps;
    if (transact === null) throw new TypeError('the store has no transactions');
    const { project } = incoming.report;
    const ahead = this.numbers.ahead(project);
    const counted = ahead === null ? [] : [ahead.counted];
    const n = ahead?.n ?? (await this.numbers.next(project));
    const payload = this.sampler.first(id, incoming);
    return this.watermark.write(id, async (stamp) => {
      const item = this.#first(id, n, incoming, stamp);
      const done = await transact([
        ...counted,
        ...decision,
        ...[incoming.ref?.unwritten ?? []].flat().map((insert) => ({ collection: 'refs', insert })),
        { collection: 'texts', insert: textsOf(incoming.report, id) },
        { collection: 'items', insert: item },
        { collection: 'occurrences', insert: payload },
      ]);
      if (done === null) this.numbers.unsure(project);
      return done && item;
    });
  }

  /** Inserts the item that its key already names; null when another call has. */
  async create(id: string, incoming: IncomingReport): Promise<ItemDoc | null> {
    const running = this.#creating.get(id);
    if (running !== undefined) {
      await running;
      return null;
    }
    const task = this.#insert(id, incoming);
    this.#creating.set(
      id,
      task.catch(() => null),
    );
    try {
      return await task;
    } finally {
      this.#creating.delete(id);
    }
  }

  async #insert(id: string, incoming: IncomingReport): Promise<ItemDoc | null> {
    const { texts, items } = this.deps;
    const n = await this.numbers.next(incoming.report.project);
    // The texts come first: an item is never seen without them.
    await this.#unlessThere(texts.insert(textsOf(incoming.report, id)));
    return this.watermark.write(id, async (stamp) => {
      const doc = this.#first(id, n, incoming, stamp);
      return (await this.#unlessThere(items.insert(doc))) ? doc : null;
    });
  }

  #first(id: string, n: number, incoming: IncomingReport, stamp: string): ItemDoc {
    const { report, ref } = incoming;
    const first: ItemDoc = firstDocument(report, id, n, incoming.key, incoming);
    if (report !== incoming.payload) first.overflow = true;
    Object.assign(first, this.faults.begun(first, report));
    if (ref !== null && ref.unwritten === undefined) first.inflight = { [ref.id]: 1 };
    first.made_by = report.reporter ?? report.reported_by;
    const change = new ChangeSet(first, first.made_by, stamp, this.deps.ids);
    change.emit(report.type === 'feature' ? 'feature.created' : 'bug.created');
    if (report.severity === 'critical') change.emit('bug.critical');
    return change.document();
  }

  async #unlessThere(insert: Promise<void>): Promise<boolean> {
    try {
      await insert;
      return true;
    } catch (error) {
      if (error instanceof StoreConflict) return false;
      throw error;
    }
  }
}
