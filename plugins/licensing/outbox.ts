/**
 * The events of a change, kept in the document that it changed until they are delivered (docs/decisions/003). Order:
 * the change with its events → `emit`, which stores deliveries → the outbox is emptied. A crash anywhere leaves
 * `outbox_at`, by which the job finds the document.
 */
import { token, type Clock, type Collection, type Logger, type PluginContext } from '../../kernel/contract.js';
import { pages } from '../../lib/paging.js';
import { isoOf } from '../../lib/time.js';
import type { ActivationDoc, LicenseDoc, OutboxEntry, WithOutbox } from './model/documents.js';

/** Older entries belong to a process that is gone, or to a listener that failed. */
const LEFTOVER_MS = 10_000;
const BATCH = 100;

/** Differs for each entry, so that emptying an outbox never hides one that came meanwhile. */
export const outboxAt = ({ at, id }: OutboxEntry): string => `${at} ${id}`;

interface Parts {
  clock: Clock;
  log: Logger;
  emit: PluginContext['emit'];
}

export class Outbox<T extends WithOutbox> {
  readonly #busy = new Set<string>();
  readonly #background = new Set<Promise<void>>();

  constructor(
    private readonly rows: Collection<T>,
    private readonly parts: Parts,
  ) {}

  /** Sends what the document holds, behind the caller. @param doc as it was written */
  send(doc: T): void {
    const mine = doc.outbox.filter(({ id }) => !this.#busy.has(id));
    if (mine.length === 0) return;
    for (const { id } of mine) this.#busy.add(id);
    const task = this.#send(doc, mine).catch((err: unknown) =>
      this.parts.log.error({ err, license: doc.id }, 'the events of a license were not sent; a job repeats it'),
    );
    this.#background.add(task);
    void task.finally(() => {
      this.#background.delete(task);
      for (const { id } of mine) this.#busy.delete(id);
    });
  }

  async #send(doc: T, entries: T['outbox']): Promise<void> {
    const gone: string[] = [];
    for (const { id, event, at, data } of entries) {
      if (!(await this.parts.emit(event, data, { id, timestamp: at, project_slug: doc.product }))) break;
      gone.push(id);
    }
    if (gone.length === 0) return;
    const left = await this.rows.change({ id: doc.id }, { pull: { outbox: { field: 'id', in: gone } } });
    if (left === null || left.doc.outbox.length > 0) return;
    await this.rows.change({ id: doc.id, outbox_at: left.doc.outbox_at }, { set: { outbox_at: null } });
  }

  /** Sends what a crash or a failed listener left behind. */
  async reconcile(): Promise<void> {
    const before = isoOf(this.parts.clock.now() - LEFTOVER_MS);
    const filter = { outbox_at: { gt: '', lt: before } };
    for await (const items of pages(this.rows, { filter, sort: [['outbox_at', 'asc']], limit: BATCH })) {
      for (const doc of items) {
        if (doc.outbox.length > 0) this.send(doc);
        else await this.rows.change({ id: doc.id, outbox_at: doc.outbox_at }, { set: { outbox_at: null } });
      }
      await this.drain();
    }
  }

  /** Waits for what is on its way. */
  async drain(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background);
  }
}

/** Each one for the whole process. */
export const LICENSE_OUTBOX = token<Outbox<LicenseDoc>>('licensing.license_outbox');
export const ACTIVATION_OUTBOX = token<Outbox<ActivationDoc>>('licensing.activation_outbox');
