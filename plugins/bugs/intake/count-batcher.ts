/**
 * Counts concurrent occurrences of one item in one write, because each write rewrites the whole
 * item. Every caller still gets its own state: the result minus the occurrences after its own.
 *
 * Occurrences are concurrent when they arrive in one turn of the event loop or during a write of
 * their item. The turn ends early when no other report arrives; with several items, a write does
 * not wait for its end. A delay was rejected, because it would delay every response.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import type { Filter, Update } from '../../../ports/store/index.js';
import { type IncomingReport, needsReferenceNote } from './incoming-report.js';
import { FAST_COUNT_KIND_FIELD } from '../item/stored-field-names.js';
import { WriteCommitter, type DocumentWrite } from '../store/write-committer.js';
import { DeltaWatermark } from '../store/delta-watermark.js';
import type { ItemDoc } from '../item/model.js';
import { toMinuteKey, toOccurrenceHourKey } from '../item/occurrence-rate.js';
import { ClientRefService } from '../store/client-refs.js';
import { addUsersToCount, AffectedUserCounter } from './affected-users.js';
import { toIsoString } from '../../../lib/time.js';
import { formatReportedVersion } from '../item/build-names.js';

/**
 * @param stamp the item's `updated_at`
 * @param late the occurrence names a version below the one that fixed the error
 */
export function buildCountUpdate(incoming: IncomingReport, stamp: string, late = false): Update {
  const { report, now, occurred, ref } = incoming;
  const seen = toIsoString(occurred);
  const update: Update = {
    inc: { hit_count: 1, [`minutes.${toMinuteKey(now)}`]: 1, [`hours.${toOccurrenceHourKey(occurred, now)}`]: 1 },
    max: { updated_at: stamp, last_seen_at: seen },
    min: { first_seen_at: seen },
    set: {},
  };
  if (incoming.flooded) update.inc = { ...update.inc, flooded: 1 };
  if (late) update.inc = { ...update.inc, late_count: 1 };
  if (typeof report.app_version === 'string') update.set = { last_build: report.app_version };
  if (report.build_number) update.set = { ...update.set, last_numbered: formatReportedVersion(report) };
  if (needsReferenceNote(ref)) update.set = { ...update.set, [`inflight.${ref.id}`]: 1 };
  return update;
}

/**
 * Drops unneeded notes (client-refs.ts), except those that the count writes: a reference may be
 * recreated after its item was deleted.
 */
export function removeStaleNotes(count: Update, paths: readonly string[]): Update {
  const unset = paths.filter((path) => count.set?.[path] === undefined);
  return unset.length === 0 ? count : { ...count, unset };
}

const MIN_EARLY_ITEMS = 4;
/** An existing reference among them sends all of them to the slow path. */
const MAX_BATCHED_COUNTS = 128;

export interface BatchedCount {
  doc: ItemDoc;
  /** Null if undecided. */
  sampled: boolean | null;
}

interface WaitingCount {
  incoming: IncomingReport;
  payload: DocumentWrite | null | undefined;
  resolve: (counted: BatchedCount | null) => void;
  reject: (error: unknown) => void;
}

interface WrittenCount {
  doc: ItemDoc;
  kept: ReadonlyMap<DocumentWrite, true | null>;
}

interface Batch {
  id: string;
  kind: string;
  waiting: WaitingCount[];
}

@injectable()
export class CountBatcher {
  readonly #batches = new Map<string, Batch>();
  #ready: Batch[] = [];

  constructor(
    @inject(WriteCommitter) private readonly commit: WriteCommitter,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(ClientRefService) private readonly refs: ClientRefService,
    @inject(AffectedUserCounter) private readonly people: AffectedUserCounter,
  ) {}

  /**
   * @param kind of occurrences that are counted without reading the item (`getItemFastCountKind`)
   * @returns null if the item counts no such occurrence blindly, or the reference exists; nothing
   *   is counted
   */
  count(
    id: string,
    kind: string,
    incoming: IncomingReport,
    payload: DocumentWrite | null | undefined,
  ): Promise<BatchedCount | null> {
    return new Promise((resolve, reject) => {
      const key = `${id} ${kind}`;
      const one = { incoming, payload, resolve, reject };
      const batch = this.#batches.get(key);
      if (batch !== undefined) {
        batch.waiting.push(one);
        return;
      }
      const first = { id, kind, waiting: [one] };
      this.#batches.set(key, first);
      this.#ready.push(first);
      if (this.#ready.length >= MIN_EARLY_ITEMS) this.#startWrites();
      else if (this.#ready.length === 1) setImmediate(() => this.#startWrites());
    });
  }

  #startWrites(): void {
    const ready = this.#ready;
    this.#ready = [];
    for (const batch of ready) void this.#writeAll(batch);
  }

  async #writeAll(batch: Batch): Promise<void> {
    while (batch.waiting.length > 0) await this.#write(batch, batch.waiting.splice(0, MAX_BATCHED_COUNTS));
    this.#batches.delete(`${batch.id} ${batch.kind}`);
  }

  async #write({ id, kind }: Batch, waiting: readonly WaitingCount[]): Promise<void> {
    try {
      const written = await this.watermark.write(id, (stamp) => this.#writeCount(id, kind, stamp, waiting));
      const docs = written === null ? [] : listIntermediateItems(written.doc, waiting);
      for (const [i, { payload, resolve }] of waiting.entries()) {
        const doc = docs[i];
        const sampled = payload === undefined ? null : payload === null ? false : (written?.kept.get(payload) ?? null);
        resolve(doc === undefined ? null : { doc, sampled });
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  /** Returns null if the write is rejected. */
  async #writeCount(
    id: string,
    kind: string,
    stamp: string,
    waiting: readonly WaitingCount[],
  ): Promise<WrittenCount | null> {
    const counts = mergeCountUpdates(waiting.map(({ incoming }) => buildCountUpdate(incoming, stamp)));
    const count = removeStaleNotes(counts, this.refs.takeRemovablePaths(id));
    const change: Filter = { id, [FAST_COUNT_KIND_FIELD]: kind };
    for (const { incoming } of waiting) Object.assign(change, buildNoNoteFilter(incoming));
    const prints = waiting.flatMap(({ incoming: { person } }) => person ?? []);
    const joining = this.people.buildUpdate(id, prints);
    const together =
      joining && (await this.#commit({ ...change, ...joining.filter }, addUsersToCount(count, joining), waiting));
    const written = together ?? (await this.#commit(change, count, waiting));
    if (written === null || prints.length === 0) return written;
    const settled = this.people.addMissing(written.doc, prints);
    return { doc: settled instanceof Promise ? await settled : settled, kept: written.kept };
  }

  async #commit(change: Filter, update: Update, waiting: readonly WaitingCount[]): Promise<WrittenCount | null> {
    const refs = waiting.flatMap(({ incoming: { ref } }) => ref?.along ?? []);
    const payloads = waiting.flatMap(({ payload }) => payload ?? []);
    const count: DocumentWrite = { collection: 'items', change, update, answer: true };
    const written = await this.commit.write([...refs, count], payloads);
    if (written === null) return null;
    const storedByPayload = new Map(
      payloads.map((payload, i) => [payload, written.beside[i] === true ? (true as const) : null]),
    );
    return { doc: written.docs[refs.length] as ItemDoc, kept: storedByPayload };
  }
}

/** Matches while the item does not contain the reference's note (client-refs.ts). */
export const buildNoNoteFilter = ({ ref }: IncomingReport): Filter =>
  needsReferenceNote(ref) ? { [`inflight.${ref.id}`]: null } : {};

/** Returns the item after each count; the last is the stored one. */
function listIntermediateItems(last: ItemDoc, waiting: readonly WaitingCount[]): ItemDoc[] {
  const docs = [last];
  for (let i = waiting.length - 1; i > 0; i--)
    docs.unshift(subtractCount(docs[0] as ItemDoc, waiting[i] as WaitingCount));
  return docs;
}

const subtractCount = (doc: ItemDoc, { incoming }: WaitingCount): ItemDoc => ({
  ...doc,
  hit_count: doc.hit_count - 1,
  minutes: decrementCounter(doc.minutes, toMinuteKey(incoming.now)),
  hours: decrementCounter(doc.hours, toOccurrenceHourKey(incoming.occurred, incoming.now)),
});

function decrementCounter(counters: { readonly [key: string]: number }, key: string): { [key: string]: number } {
  const { [key]: n = 0, ...others } = counters;
  return n > 1 ? { ...counters, [key]: n - 1 } : others;
}

export function mergeCountUpdates(updates: readonly Update[]): Update {
  const [first = {}, ...others] = updates;
  if (others.length === 0) return first;
  const sum: Update = { set: {}, inc: {}, max: {}, min: {} };
  for (const { set, inc, max, min } of updates) {
    Object.assign(sum.set ?? {}, set);
    for (const path in inc) (sum.inc ??= {})[path] = (sum.inc[path] ?? 0) + (inc[path] ?? 0);
    for (const path in max) (sum.max ??= {})[path] = getLaterText(sum.max[path], max[path] as string);
    for (const path in min) (sum.min ??= {})[path] = getEarlierText(sum.min[path], min[path] as string);
  }
  return sum;
}

const getLaterText = (a: string | number | undefined, b: string): string =>
  a === undefined || String(a) < b ? b : String(a);
const getEarlierText = (a: string | number | undefined, b: string): string =>
  a === undefined || String(a) > b ? b : String(a);
