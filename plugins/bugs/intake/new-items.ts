/**
 * Creates an item from its first report (contract 20, transitions) in one commit: keys
 * (groups/grouping-keys.ts), reference, number, texts, item and first payload. A call that loses a
 * race wastes a number.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { addPrints } from '../../../lib/text/distinct-sketch.js';
import { type BugDeps, DEPS } from '../deps.js';
import { ChangeSet } from '../item/change-set.js';
import { ClientRefs } from '../store/client-refs.js';
import { Commit, type PreparedWrites } from '../store/commit.js';
import { DeltaWatermark } from '../store/delta-watermark.js';
import type { ItemDoc } from '../item/model.js';
import type { OccurrenceDoc } from '../item/occurrence-documents.js';
import { packFirstOccurrence } from '../item/payload.js';
import { Faults } from '../builds/version-faults.js';
import { buildItemDocument, buildTextsDocument, buildWordsDocument } from '../item/first-document.js';
import {
  type AcceptedReport,
  type Counted,
  toIncomingReport,
  type IncomingReport,
  needsReferenceNote,
  type Placement,
} from './incoming-report.js';
import { toPeopleFields } from '../store/people.js';
import { UNFILED_CREATION } from '../item/stored-names.js';
import { People } from './people.js';
import { PayloadSampler } from './payload-sampler.js';

interface Waiting {
  resolve: (n: number) => void;
  reject: (error: unknown) => void;
}

/**
 * Calls during a write share the next one, so a burst of new groups writes the counter once for
 * several items, without gaps.
 */
@injectable()
export class ItemNumbers {
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(@inject(DEPS) private readonly deps: Pick<BugDeps, 'counters'>) {}

  next(project: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(project);
      if (waiting !== undefined) waiting.push({ resolve, reject });
      else {
        this.#waiting.set(project, []);
        void this.#take(project, [{ resolve, reject }]);
      }
    });
  }

  async #take(project: string, callers: readonly Waiting[]): Promise<void> {
    try {
      const counter = await this.deps.counters.change(
        { id: project },
        { inc: { n: callers.length } },
        { upsert: true },
      );
      const last = counter?.doc.n ?? 0;
      for (const [i, { resolve }] of callers.entries()) resolve(last - callers.length + 1 + i);
    } catch (error) {
      for (const { reject } of callers) reject(error);
    }
    const next = this.#waiting.get(project) ?? [];
    if (next.length === 0) this.#waiting.delete(project);
    else {
      this.#waiting.set(project, []);
      void this.#take(project, next);
    }
  }
}

@injectable()
export class NewItems {
  /**
   * Calls in progress by item: only one report completes an item, because the others would waste
   * numbers.
   */
  readonly #completing = new Map<string, Promise<unknown>>();

  constructor(
    @inject(DEPS) private readonly deps: Pick<BugDeps, 'ids'>,
    @inject(Commit) private readonly commit: Commit,
    @inject(ClientRefs) private readonly refs: ClientRefs,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(Faults) private readonly faults: Faults,
    @inject(PayloadSampler) private readonly sampler: PayloadSampler,
    @inject(ItemNumbers) private readonly numbers: ItemNumbers,
    @inject(People) private readonly people: People,
  ) {}

  async create(accepted: AcceptedReport, place: Placement): Promise<Counted | null> {
    const { item_id: id } = place;
    const { project } = accepted.report;
    const prepared = await this.#prepare(accepted, place);
    if (prepared === null) return null;
    const { ref: own } = accepted;
    const ref = own && { id: own.id, along: prepared.opened ? [] : prepared.along, helper: false };
    const incoming = toIncomingReport(accepted, place, ref);
    const n = await this.numbers.next(project);
    const doc = await this.watermark.write(id, async (stamp) => {
      const kept = this.sampler.first(id, incoming);
      const item = this.#first(id, n, incoming, kept, stamp);
      const words = buildWordsDocument(item, incoming.report);
      const written = await this.commit.write([
        ...prepared.along,
        { collection: 'texts', insert: buildTextsDocument(incoming.report, id) },
        ...(words === null ? [] : [{ collection: 'words', insert: words }]),
        { collection: 'items', insert: item },
        { collection: 'occurrences', insert: isOwn(incoming) ? packFirstOccurrence(kept) : kept },
      ]);
      return written && item;
    });
    return doc && this.#created(doc, incoming, true);
  }

  #prepare(
    { ref, report: { project } }: AcceptedReport,
    { item_id, writes }: Placement,
  ): Promise<PreparedWrites | null> {
    if (ref === null) return this.commit.prepare(writes, null);
    return this.refs.prepare({ id: ref.id, project, item_id, own: true }, writes);
  }

  /**
   * Creates the item that its key already names, after a crash or concurrently with another call.
   * Returns null if that call was faster.
   */
  async complete(id: string, incoming: IncomingReport): Promise<Counted | null> {
    const running = this.#completing.get(id);
    if (running !== undefined) {
      await running;
      return null;
    }
    const task = this.#complete(id, incoming);
    this.#completing.set(
      id,
      task.catch(() => null),
    );
    try {
      const doc = await task;
      return doc && this.#created(doc, incoming, null);
    } finally {
      this.#completing.delete(id);
    }
  }

  async #complete(id: string, incoming: IncomingReport): Promise<ItemDoc | null> {
    const n = await this.numbers.next(incoming.report.project);
    const { id: _, ...texts } = buildTextsDocument(incoming.report, id);
    return this.watermark.write(id, async (stamp) => {
      const item = this.#first(id, n, incoming, this.sampler.first(id, incoming), stamp);
      const words = buildWordsDocument(item, incoming.report);
      const written = await this.commit.write([
        // The texts come first, so no item is visible without them; another call's texts stay.
        { collection: 'texts', change: { id }, update: { setOnInsert: texts }, upsert: true },
        ...(words === null ? [] : [{ collection: 'words', put: words }]),
        { collection: 'items', insert: item },
      ]);
      return written && item;
    });
  }

  #created(doc: ItemDoc, incoming: IncomingReport, sampled: true | null): Counted {
    this.sampler.counted(doc);
    if (incoming.person !== null) this.people.counted(doc);
    const { ref } = incoming;
    if (needsReferenceNote(ref))
      this.refs.finish({ id: ref.id, project: doc.project, item_id: doc.id, own: true, helped: ref.helper });
    return { doc, outcome: 'created', regression: false, entries: doc.outbox, sampled, incoming };
  }

  #first(id: string, n: number, incoming: IncomingReport, kept: OccurrenceDoc, stamp: string): ItemDoc {
    const { report, ref } = incoming;
    const first = buildItemDocument(report, id, n, incoming.key, incoming, isOwn(incoming) ? kept.context : null);
    if (!isOwn(incoming)) first.overflow = true;
    if (incoming.person !== null)
      Object.assign(first, toPeopleFields({ own: addPrints(null, [incoming.person]), merged: null }));
    Object.assign(first, this.faults.begun(first, report));
    if (needsReferenceNote(ref)) first.inflight = { [ref.id]: 1 };
    const creator = report.reporter ?? report.reported_by;
    first[UNFILED_CREATION] = creator;
    const change = new ChangeSet(first, creator, stamp, this.deps.ids);
    change.emit(report.type === 'feature' ? 'feature.created' : 'bug.created');
    if (report.severity === 'critical') change.emit('bug.critical');
    return change.document();
  }
}

const isOwn = ({ report, payload }: IncomingReport): boolean => report === payload;
