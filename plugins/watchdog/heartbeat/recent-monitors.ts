/**
 * Monitors as this process last wrote them, so that the next heartbeat needs no look-up. They may be old:
 * another process may have written since. A write made from one compares `rev` and `series`, and the loser reads.
 */
import { BoundedMap } from '../../../lib/bounded-map.js';
import type { MonitorDoc } from '../model/documents.js';

const MAX_CACHED_MONITORS = 5_000;

export class RecentMonitors {
  readonly #docs = new BoundedMap<MonitorDoc>({ most: MAX_CACHED_MONITORS });

  get(source: string): MonitorDoc | undefined {
    return this.#docs.get(source);
  }

  /** Without its outbox: its events are sent by the write that made them, and by the reconciler. */
  set(doc: MonitorDoc): void {
    this.#docs.set(doc.source, doc.outbox.length === 0 ? doc : { ...doc, outbox: [], outbox_at: null });
  }

  delete(source: string): void {
    this.#docs.delete(source);
  }
}
