/**
 * One commit (contract 20, transitions): keys (groups/grouping-keys.ts), reference, number, texts,
 * item and first payload. A call that loses a race wastes a number.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { addHashes } from '../../../lib/text/distinct-sketch.js';
import { DEPS } from '../deps.js';
import { ChangeSet } from '../item/change-set.js';
import { ClientRefService } from '../store/client-refs.js';
import { WriteCommitter, type PreparedWrites } from '../store/write-committer.js';
import { DeltaWatermark } from '../store/delta-watermark.js';
import type { ItemDoc } from '../item/model.js';
import type { OccurrenceDoc } from '../item/occurrence-documents.js';
import { packFirstOccurrence } from '../item/occurrence-payload.js';
import { VersionFaultTracker } from '../builds/version-faults.js';
import { buildItemDocument, buildTextsDocument, buildSearchTextDocument } from '../item/first-document.js';
import {
  type AcceptedReport,
  type CountResult,
  toIncomingReport,
  type IncomingReport,
  needsReferenceNote,
  type Placement,
} from './incoming-report.js';
import { toPeopleFields } from '../store/people-sketches.js';
import { UNFILED_CREATION_FIELD } from '../item/stored-field-names.js';
import { AffectedUserCounter } from './affected-users.js';
import { PayloadSampler } from './payload-sampler.js';
import type { Ids } from '../../../ports/ids.js';
import type { CounterDoc } from '../item/operation-documents.js';
import type { Collection } from '../../../ports/store/index.js';

interface WaitingCaller {
  resolve: (n: number) => void;
  reject: (error: unknown) => void;
}

/** Calls during a write share the next one, without gaps. */
@injectable()
export class ItemNumberAllocator {
  readonly #waiting = new Map<string, WaitingCaller[]>();

  constructor(@inject(DEPS.counters) private readonly counters: Collection<CounterDoc>) {}

  allocate(project: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(project);
      if (waiting !== undefined) waiting.push({ resolve, reject });
      else {
        this.#waiting.set(project, []);
        void this.#allocateAll(project, [{ resolve, reject }]);
      }
    });
  }

  async #allocateAll(project: string, callers: readonly WaitingCaller[]): Promise<void> {
    try {
      const counter = await this.counters.change({ id: project }, { inc: { n: callers.length } }, { upsert: true });
      const last = counter?.doc.n ?? 0;
      for (const [i, { resolve }] of callers.entries()) resolve(last - callers.length + 1 + i);
    } catch (error) {
      for (const { reject } of callers) reject(error);
    }
    const next = this.#waiting.get(project) ?? [];
    if (next.length === 0) this.#waiting.delete(project);
    else {
      this.#waiting.set(project, []);
      void this.#allocateAll(project, next);
    }
  }
}

@injectable()
export class ItemCreator {
  /**
   * Calls in progress by item: only one report completes an item, because the others would waste
   * numbers.
   */
  readonly #completing = new Map<string, Promise<unknown>>();

  constructor(
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(WriteCommitter) private readonly commit: WriteCommitter,
    @inject(ClientRefService) private readonly refs: ClientRefService,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(VersionFaultTracker) private readonly faults: VersionFaultTracker,
    @inject(PayloadSampler) private readonly sampler: PayloadSampler,
    @inject(ItemNumberAllocator) private readonly numbers: ItemNumberAllocator,
    @inject(AffectedUserCounter) private readonly people: AffectedUserCounter,
  ) {}

  async create(accepted: AcceptedReport, place: Placement): Promise<CountResult | null> {
    const { item_id: id } = place;
    const { project } = accepted.report;
    const prepared = await this.#prepare(accepted, place);
    if (prepared === null) return null;
    const { ref: own } = accepted;
    const ref = own && { id: own.id, along: prepared.opened ? [] : prepared.along, helper: false };
    const incoming = toIncomingReport(accepted, place, ref);
    const n = await this.numbers.allocate(project);
    const doc = await this.watermark.write(id, async (stamp) => {
      const firstOccurrence = this.sampler.buildFirst(id, incoming);
      const item = this.#buildFirstDocument(id, n, incoming, firstOccurrence, stamp);
      const words = buildSearchTextDocument(item, incoming.report);
      const written = await this.commit.write([
        ...prepared.along,
        { collection: 'texts', insert: buildTextsDocument(incoming.report, id) },
        ...(words === null ? [] : [{ collection: 'words', insert: words }]),
        { collection: 'items', insert: item },
        {
          collection: 'occurrences',
          insert: isOwnReport(incoming) ? packFirstOccurrence(firstOccurrence) : firstOccurrence,
        },
      ]);
      return written && item;
    });
    return doc && this.#toCountResult(doc, incoming, true);
  }

  #prepare(
    { ref, report: { project } }: AcceptedReport,
    { item_id, writes }: Placement,
  ): Promise<PreparedWrites | null> {
    if (ref === null) return this.commit.prepare(writes, null);
    return this.refs.prepare({ id: ref.id, project, item_id, own: true }, writes);
  }

  /**
   * Creates the item that its key already names, after a crash or a race. Returns null if another
   * call was faster.
   */
  async complete(id: string, incoming: IncomingReport): Promise<CountResult | null> {
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
      return doc && this.#toCountResult(doc, incoming, null);
    } finally {
      this.#completing.delete(id);
    }
  }

  async #complete(id: string, incoming: IncomingReport): Promise<ItemDoc | null> {
    const n = await this.numbers.allocate(incoming.report.project);
    const { id: _, ...texts } = buildTextsDocument(incoming.report, id);
    return this.watermark.write(id, async (stamp) => {
      const item = this.#buildFirstDocument(id, n, incoming, this.sampler.buildFirst(id, incoming), stamp);
      const words = buildSearchTextDocument(item, incoming.report);
      const written = await this.commit.write([
        // The texts come first, so no item is visible without them; another call's texts stay.
        { collection: 'texts', change: { id }, update: { setOnInsert: texts }, upsert: true },
        ...(words === null ? [] : [{ collection: 'words', put: words }]),
        { collection: 'items', insert: item },
      ]);
      return written && item;
    });
  }

  #toCountResult(doc: ItemDoc, incoming: IncomingReport, sampled: true | null): CountResult {
    this.sampler.cacheWindow(doc);
    if (incoming.person !== null) this.people.cacheSketch(doc);
    const { ref } = incoming;
    if (needsReferenceNote(ref))
      this.refs.scheduleClose({ id: ref.id, project: doc.project, item_id: doc.id, own: true, helped: ref.helper });
    return { doc, outcome: 'created', regression: false, entries: doc.outbox, sampled, incoming };
  }

  #buildFirstDocument(
    id: string,
    n: number,
    incoming: IncomingReport,
    firstOccurrence: OccurrenceDoc,
    stamp: string,
  ): ItemDoc {
    const { report, ref } = incoming;
    const first = buildItemDocument(
      report,
      id,
      n,
      incoming.key,
      incoming,
      isOwnReport(incoming) ? firstOccurrence.context : null,
    );
    if (!isOwnReport(incoming)) first.overflow = true;
    if (incoming.person !== null)
      Object.assign(first, toPeopleFields({ own: addHashes(null, [incoming.person]), merged: null }));
    Object.assign(first, this.faults.buildFaultFields(first, report));
    if (needsReferenceNote(ref)) first.inflight = { [ref.id]: 1 };
    const creator = report.reporter ?? report.reported_by;
    first[UNFILED_CREATION_FIELD] = creator;
    const change = new ChangeSet(first, creator, stamp, this.ids);
    change.emit(report.type === 'feature' ? 'feature.created' : 'bug.created');
    if (report.severity === 'critical') change.emit('bug.critical');
    return change.toDocument();
  }
}

const isOwnReport = ({ report, payload }: IncomingReport): boolean => report === payload;
