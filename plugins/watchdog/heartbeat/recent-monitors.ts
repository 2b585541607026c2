/**
 * Monitors as this process last wrote them, so that the next heartbeat needs no look-up. What stands here may be old:
 * another process may have written since. A write made from it compares `rev` and `series`, and whoever loses reads.
 */
import type { MonitorDoc } from '../model.js';

const MOST = 5_000;

export class RecentMonitors {
  readonly #docs = new Map<string, MonitorDoc>();

  get(source: string): MonitorDoc | undefined {
    return this.#docs.get(source);
  }

  /** The oldest makes room. What the monitor had to tell is told by others and not kept. */
  keep(doc: MonitorDoc): void {
    this.#docs.delete(doc.source);
    this.#docs.set(doc.source, doc.outbox.length === 0 ? doc : { ...doc, outbox: [], outbox_at: null });
    if (this.#docs.size <= MOST) return;
    const oldest = this.#docs.keys().next();
    if (!oldest.done) this.#docs.delete(oldest.value);
  }

  forget(source: string): void {
    this.#docs.delete(source);
  }
}
