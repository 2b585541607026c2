/**
 * Monitors as this process last wrote them, so that a heartbeat needs no lookup. Entries may be
 * outdated: a write based on one compares `rev` and `series`, and rereads on a conflict.
 */
import { BoundedMap } from '../../../lib/bounded-map.js';
import type { MonitorDoc } from '../model/documents.js';

const MAX_CACHED_MONITORS = 5_000;

export class RecentMonitorCache {
  readonly #docs = new BoundedMap<MonitorDoc>({ most: MAX_CACHED_MONITORS });

  get(source: string): MonitorDoc | undefined {
    return this.#docs.get(source);
  }

  /** Stored without the outbox: the write that created the events sends them, or the reconciler. */
  set(doc: MonitorDoc): void {
    this.#docs.set(doc.source, doc.outbox.length === 0 ? doc : { ...doc, outbox: [], outbox_at: null });
  }

  delete(source: string): void {
    this.#docs.delete(source);
  }
}
