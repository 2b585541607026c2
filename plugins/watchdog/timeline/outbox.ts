/**
 * The outbox of a monitor: its new timeline entries, and the events among them. They are written with the change that
 * caused them, inside the monitor, and leave it afterwards (docs/consistency.md).
 *
 * Order: the change with its entries → timeline documents (ids known, so twice is once) → `emit`, which stores
 * deliveries → the outbox is emptied, guarded by `outbox_at`. One flush at a time per monitor, its entries in their
 * order, so that a recovery never overtakes its alarm. A crash anywhere leaves `outbox_at`, by which the job finds the
 * monitor.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import { pages } from '../../../lib/paging.js';
import { isoOf } from '../../../lib/time.js';
import type { Filter } from '../../../ports/store.js';
import { DEPS, type Deps } from '../deps.js';
import type { MonitorDoc, OutboxEntry, TimelineDoc } from '../model/documents.js';

/** Older entries than this belong to a process that is gone, or to a listener that failed. */
const LEFTOVER_MS = 10_000;
/** Entries further ahead than this are from before the clock was set back. */
const AHEAD_MS = 60_000;
const BATCH = 200;
/** Monitors whose timeline is written in one go. */
const GROUP = 200;
const NONE: ReadonlySet<string> = new Set();

@injectable()
export class Outbox {
  readonly #mutex = new KeyedMutex();
  readonly #background = new Set<Promise<void>>();
  readonly #storing = new Set<Promise<void>>();

  constructor(@inject(DEPS) private readonly deps: Deps) {}

  /** For a run with thousands of entries: flushes behind the caller. A reader of the timeline waits for `stored`. */
  flushLater(docs: readonly MonitorDoc[]): void {
    const task = this.flush(docs).catch((error: unknown) =>
      this.deps.log.error({ err: error }, 'the timeline was not written; a job repeats it'),
    );
    this.#storing.add(task);
    void task.finally(() => this.#storing.delete(task));
  }

  /** The timeline has what was sent. */
  async stored(): Promise<void> {
    while (this.#storing.size > 0) await Promise.all(this.#storing);
  }

  /**
   * Resolves when the timeline has it; events go out behind the answer.
   * @param docs as they were written
   */
  async flush(docs: readonly MonitorDoc[]): Promise<void> {
    for (let i = 0; i < docs.length; i += GROUP) {
      const part = docs.slice(i, i + GROUP);
      const entries = part.flatMap((doc) => doc.outbox.map((entry) => ({ insert: timelineOf(doc, entry) })));
      await this.deps.timeline.bulk(entries);
      const stored = new Set(entries.map(({ insert }) => insert.id));
      for (const doc of part) void this.#flushBehind(doc.id, stored);
    }
  }

  #old(): Filter {
    const now = this.deps.clock.now();
    const old = { gt: '', lt: isoOf(now - LEFTOVER_MS) };
    return { or: [{ outbox_at: old }, { outbox_at: { gt: isoOf(now + AHEAD_MS) } }] };
  }

  #flushBehind(id: string, stored: ReadonlySet<string>): Promise<void> {
    const task = this.#mutex.run(id, () => this.#flushOne(id, stored));
    return this.#track(task, 'the outbox of a monitor could not be emptied; a job repeats it', id);
  }

  /** Never rejects. */
  #track(work: Promise<unknown>, failure: string, monitor?: string): Promise<void> {
    const task = work.then(
      () => undefined,
      (error: unknown) => this.deps.log.error({ err: error, monitor }, failure),
    );
    this.#background.add(task);
    return task.finally(() => this.#background.delete(task));
  }

  /**
   * Emits the entries in their order, and removes those that every durable listener has stored.
   * @param stored ids that the timeline has already
   */
  async #flushOne(id: string, stored: ReadonlySet<string>): Promise<void> {
    const { monitors, timeline, emit } = this.deps;
    const doc = await monitors.get(id);
    if (doc === null || doc.outbox_at === null) return;
    const missing = doc.outbox.filter((entry) => !stored.has(entry.id));
    if (missing.length > 0) await timeline.bulk(missing.map((entry) => ({ insert: timelineOf(doc, entry) })));
    const gone: string[] = [];
    for (const entry of doc.outbox) {
      const options = { id: entry.id, timestamp: entry.at, project_slug: doc.project };
      if (entry.data && !(await emit(entry.type, { source: doc.source, ...entry.data }, options))) break;
      gone.push(entry.id);
    }
    if (gone.length === doc.outbox.length) {
      const same = { id, outbox_at: doc.outbox_at };
      // A deleted monitor goes when its outbox is empty.
      if (doc.deleted_at !== null && (await monitors.remove({ ...same, deleted_at: doc.deleted_at })) > 0) return;
      if (await monitors.change(same, { set: { outbox: [], outbox_at: null } })) return;
    }
    if (gone.length > 0) await monitors.change({ id }, { pull: { outbox: { field: 'id', in: gone } } });
  }

  /**
   * At the start of a process, behind it: every outbox. Another process may be flushing some of them; listeners that
   * store know an event by its id.
   */
  resume(): void {
    void this.#track(
      this.reconcile({ outbox_at: { gt: '' } }),
      'outboxes could not be flushed at the start; a job repeats it',
    );
  }

  /** Tells what a crash or a failed listener left behind. Answers how many monitors had something. */
  async reconcile(filter: Filter = this.#old(), signal?: AbortSignal): Promise<number> {
    let n = 0;
    for await (const items of pages(this.deps.monitors, { filter, sort: [['outbox_at', 'asc']], limit: BATCH })) {
      await Promise.all(items.map(({ id }) => this.#flushBehind(id, NONE)));
      n += items.length;
      if (signal?.aborted === true) break;
    }
    return n;
  }

  /** Seconds since the oldest entry that is not out yet; 0: all are. */
  async oldestAge(): Promise<number> {
    const { monitors, clock } = this.deps;
    const page = await monitors.find({ filter: { outbox_at: { gt: '' } }, sort: [['outbox_at', 'asc']], limit: 1 });
    const at = page.items[0]?.outbox_at;
    // `outbox_at` is a time and the id of the last entry.
    return at ? Math.max(0, (clock.now() - Date.parse(at.split(' ', 1)[0] ?? '')) / 1000) : 0;
  }

  /** Waits for what is on its way. */
  async drain(): Promise<void> {
    await this.stored();
    while (this.#background.size > 0) await Promise.all(this.#background);
  }
}

function timelineOf({ source, project }: MonitorDoc, entry: OutboxEntry): TimelineDoc {
  const { id, kind, type, level, from = null, to = null, message, suppressed_by = null, at } = entry;
  const data = entry.data === undefined ? null : JSON.stringify({ source, ...entry.data });
  const alarm_id = entry.data?.alarm_id ?? null;
  return { id, source, project, kind, type, level, from, to, message, data, alarm_id, suppressed_by, at };
}
