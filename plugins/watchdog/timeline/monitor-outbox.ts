/**
 * One monitor's flushes run in sequence, so that a recovery never overtakes its alarm
 * (lib/outbox.ts). Order: the change with its entries → timeline and incidents (idempotent by id) →
 * events → the outbox is emptied.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { Outbox } from '../../../lib/outbox.js';
import { buildElapsedFilter } from '../../../lib/clock-skew.js';
import type { Filter, Collection } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import type { MonitorDoc, TimelineOutboxEntry, TimelineDoc } from '../model/documents.js';
import { buildIncidentWrites, splitIntoBulks, type IncidentDoc } from '../model/incident.js';
import type { Logger } from '../../../ports/logger.js';
import type { Clock } from '../../../ports/clock.js';

const LEFTOVER_AGE_MS = 10_000;
const FLUSH_BATCH_SIZE = 200;

@injectable()
export class MonitorOutbox {
  readonly #outbox: Outbox<MonitorDoc, TimelineOutboxEntry>;
  readonly #storing = new Set<Promise<void>>();
  #resuming: Promise<unknown> = Promise.resolve();

  constructor(
    @inject(DEPS.monitors) monitors: Collection<MonitorDoc>,
    @inject(DEPS.timeline) private readonly timeline: Collection<TimelineDoc>,
    @inject(DEPS.incidents) private readonly incidents: Collection<IncidentDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.emit)
    emit: (
      event: string,
      data: object,
      options: { id: string; timestamp: string; project_slug: string | null },
    ) => Promise<boolean>,
  ) {
    this.#outbox = new Outbox({
      rows: monitors,
      place: async (doc, entries) => {
        await timeline.bulk(entries.map((entry) => ({ insert: toTimelineDoc(doc, entry) })));
        await this.#writeIncidents(buildIncidentWrites(doc, entries));
      },
      deliver: ({ project, source }, { id, type, at, data }) =>
        data === undefined
          ? Promise.resolve(true)
          : emit(type, { source, ...data }, { id, timestamp: at, project_slug: project }),
      inOrder: true,
      onEmptied: async ({ id, outbox_at, deleted_at }) =>
        deleted_at !== null && (await monitors.remove({ id, outbox_at, deleted_at })) > 0,
      now: () => clock.now(),
      onFailed: (err, monitor) =>
        log.error({ err, monitor }, 'the outbox of a monitor could not be emptied; a job will retry'),
    });
  }

  flushLater(docs: readonly MonitorDoc[]): void {
    const task = this.flush(docs).catch((error: unknown) =>
      this.log.error({ err: error }, 'the timeline could not be written; a job will retry'),
    );
    this.#storing.add(task);
    void task.finally(() => this.#storing.delete(task));
  }

  async waitUntilStored(): Promise<void> {
    while (this.#storing.size > 0) await Promise.all(this.#storing);
  }

  /**
   * Resolves when the timeline is stored; events follow in the background.
   * @param docs as written
   */
  async flush(docs: readonly MonitorDoc[]): Promise<void> {
    for (let i = 0; i < docs.length; i += FLUSH_BATCH_SIZE) {
      const part = docs.slice(i, i + FLUSH_BATCH_SIZE);
      const entries = part.flatMap((doc) => doc.outbox.map((entry) => ({ insert: toTimelineDoc(doc, entry) })));
      const incidents = part.flatMap((doc) => buildIncidentWrites(doc, doc.outbox));
      await Promise.all([this.timeline.bulk(entries), this.#writeIncidents(incidents)]);
      const placed = new Set(entries.map(({ insert }) => insert.id));
      for (const doc of part) void this.#outbox.sendAll(doc.id, placed);
    }
  }

  /**
   * Flushes in the background. Another process may flush some too; listeners deduplicate events by
   * id.
   */
  resume(): void {
    this.#resuming = this.reconcile({ outbox_at: { gt: '' } }).catch((error: unknown) =>
      this.log.error({ err: error }, 'outboxes could not be flushed at start; a job will retry'),
    );
  }

  /**
   * Publishes entries left by a crash or a failed listener.
   * @returns the number of monitors that had some
   */
  reconcile(filter: Filter = this.#buildLeftoverFilter(), signal?: AbortSignal): Promise<number> {
    return this.#outbox.reconcile(signal, filter);
  }

  async #writeIncidents(writes: ReturnType<typeof buildIncidentWrites>): Promise<void> {
    for (const turn of splitIntoBulks(writes)) await this.incidents.bulk(turn);
  }

  #buildLeftoverFilter(): Filter {
    return buildElapsedFilter('outbox_at', LEFTOVER_AGE_MS, this.clock.now());
  }

  getOldestAgeSeconds(): Promise<number> {
    return this.#outbox.getOldestAge();
  }

  async drain(): Promise<void> {
    await this.#resuming;
    await this.waitUntilStored();
    await this.#outbox.drain();
  }
}

function toTimelineDoc({ source, project }: MonitorDoc, entry: TimelineOutboxEntry): TimelineDoc {
  const { id, kind, type, level, from = null, to = null, message, suppressed_by = null, at } = entry;
  const data = entry.data === undefined ? null : JSON.stringify({ source, ...entry.data });
  const alarm_id = entry.data !== undefined && 'alarm_id' in entry.data ? entry.data.alarm_id : null;
  return { id, source, project, kind, type, level, from, to, message, data, alarm_id, suppressed_by, at };
}
