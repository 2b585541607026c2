/**
 * Monitors store id and end of their open window, for both kinds (contract 30, amendments). Order
 * of writes: the window, then its monitors. The next evaluator run repairs what a crash left and
 * follows changes of subtrees (docs/consistency.md).
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import { createProcessLease, type HeldLease } from '../../../lib/lease.js';
import { collectAll } from '../../../lib/paging.js';
import { toIsoString } from '../../../lib/time.js';
import type { StoreDamaged, Collection } from '../../../ports/store/index.js';
import { CorruptionReporter } from '../../../ports/store/corruption-reporter.js';
import { DEPS } from '../deps.js';
import { MonitorChangeSet } from '../model/monitor-change-set.js';
import type { MonitorDoc, LeaseDoc } from '../model/documents.js';
import { getMonitorId } from '../model/monitor-id.js';
import {
  getWindowKind,
  findNextSpan,
  findOpenSpan,
  type WindowDoc,
  type WindowKind,
} from '../model/maintenance-window.js';
import { writeChangeSets, type PendingWrite } from '../change-set-writes.js';
import { AncestryLoader } from '../tree/ancestry.js';
import type { Processes } from '../../../ports/processes.js';
import type { Logger } from '../../../ports/logger.js';
import type { Ids } from '../../../ports/ids.js';
import type { Clock } from '../../../ports/clock.js';

const BATCH_SIZE = 500;
const WINDOWS_LEASE_MS = 30_000;
const LEASE_WAIT_MS = 15_000;
const RETRY_DELAY_MS = 20;
const MAX_ATTEMPTS = 3;

const WINDOW_FIELDS = {
  maintenance: { id: 'maintenance_id', until: 'maintenance_until' },
  silence: { id: 'silence_id', until: 'silence_until' },
} as const satisfies Record<WindowKind, Record<'id' | 'until', keyof MonitorDoc>>;
const WINDOW_KINDS = Object.keys(WINDOW_FIELDS) as WindowKind[];

/** Of its kind, the window that ends last. */
interface MonitorHold {
  doc: MonitorDoc;
  window: WindowDoc;
  until: string;
}

interface ApplyResult {
  changed: MonitorDoc[];
  errors: number;
}

@injectable()
export class WindowApplier {
  readonly #damage: CorruptionReporter;
  readonly #mutex = new KeyedMutex();

  constructor(
    @inject(DEPS.monitors) private readonly monitors: Collection<MonitorDoc>,
    @inject(DEPS.leases) private readonly leases: Collection<LeaseDoc>,
    @inject(DEPS.windows) private readonly windows: Collection<WindowDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.processes) private readonly processes: Processes,
    @inject(DEPS.isClockTrusted) private readonly isClockTrusted: () => Promise<boolean>,
    @inject(AncestryLoader) private readonly ancestry: AncestryLoader,
  ) {
    this.#damage = new CorruptionReporter(log, 'a maintenance window');
  }

  /**
   * Also deletes windows that ended for good. Only one process at a time: one with an older list
   * would release monitors from a window it has not seen (contract 30, amendments).
   */
  apply(): Promise<ApplyResult> {
    return this.#mutex.run('windows', async () => {
      const held = await this.#acquireLease();
      if (held === null) {
        this.log.warn({}, 'maintenance windows are being applied by another process; the next run checks again');
        return { changed: [], errors: 1 };
      }
      try {
        return await this.#applyWindows(this.clock.now());
      } finally {
        await held.release();
      }
    });
  }

  async #acquireLease(): Promise<HeldLease | null> {
    const options = {
      id: 'maintenance',
      what: 'maintenance windows',
      ttlMs: WINDOWS_LEASE_MS,
      expiryMode: 'clock',
    } as const;
    const lease = await createProcessLease(
      this.leases,
      { clock: this.clock, ids: this.ids, log: this.log, processes: this.processes },
      options,
    );
    for (let waited = 0; waited < LEASE_WAIT_MS; waited += RETRY_DELAY_MS) {
      const held = await lease.acquire();
      if (held !== null) return held;
      await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY_MS));
    }
    return null;
  }

  async #applyWindows(now: number): Promise<ApplyResult> {
    const unread: string[] = [];
    const windows = await collectAll(this.windows, {
      limit: BATCH_SIZE,
      damaged: (error) => this.#recordDamage(error, unread),
    });
    const over = windows.filter((window) => findOpenSpan(window, now) === null && findNextSpan(window, now) === null);
    const changed: MonitorDoc[] = [];
    let errors = 0;
    let holds: MonitorHold[] = [];
    for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
      holds = await this.#listHolds(windows, now);
      const due = holds.filter(({ doc, window, until }) => {
        const fields = WINDOW_FIELDS[getWindowKind(window)];
        return doc[fields.id] !== window.id || doc[fields.until] !== until;
      });
      if (due.length === 0) break;
      const first = due.filter((hold, i) => due.findIndex(({ doc }) => doc.id === hold.doc.id) === i);
      const written = await this.#write(first.map((hold) => this.#buildHoldWrite(hold, now)));
      changed.push(...written.won);
      errors += written.errors;
      if (written.won.length + written.errors >= due.length) break;
    }
    // A window that cannot be read is not gone.
    const ended = await this.#release(holds, unread, now);
    if (over.length > 0 && (await this.isClockTrusted()))
      await this.windows.remove({ id: { in: over.map(({ id }) => id) } });
    return { changed, errors: errors + ended };
  }

  #recordDamage(error: StoreDamaged, ids: string[]): void {
    if (error.place.id !== null) ids.push(error.place.id);
    this.#damage.report(error);
  }

  #buildHoldWrite({ doc, window, until }: MonitorHold, now: number): PendingWrite {
    const { id, reason } = window;
    const changeSet = new MonitorChangeSet(doc, this.ids, now);
    const given = { id, until, reason };
    return {
      changeSet:
        getWindowKind(window) === 'silence' ? changeSet.enterSilence(given) : changeSet.enterMaintenance(given),
    };
  }

  async #listHolds(windows: readonly WindowDoc[], now: number): Promise<MonitorHold[]> {
    const holds = new Map<string, MonitorHold>();
    for (const window of windows) {
      const span = findOpenSpan(window, now);
      if (span === null) continue;
      const until = toIsoString(span.until);
      for (const doc of await this.#findMonitors(window)) {
        const key = `${getWindowKind(window)} ${doc.id}`;
        const known = holds.get(key);
        if (known === undefined || known.until < until) holds.set(key, { doc, window, until });
      }
    }
    return [...holds.values()];
  }

  async #findMonitors({ sources, subtree, project, series }: WindowDoc): Promise<MonitorDoc[]> {
    const named = subtree === null ? sources : [...sources, subtree];
    const there = await collectAll(this.monitors, {
      filter: { id: { in: named.map(getMonitorId) } },
      limit: BATCH_SIZE,
      damaged: this.#damage.report,
    });
    // A recreated monitor is another monitor.
    const found = there.filter((doc) => series === undefined || series.includes(doc.series));
    if (subtree !== null && found.some(({ source }) => source === subtree))
      found.push(...(await this.ancestry.listDescendants(subtree)));
    return found.filter((doc) => doc.deleted_at === null && (project === null || doc.project === project));
  }

  /** Makes monitors due that left their window. Returns how many failed. */
  async #release(holds: readonly MonitorHold[], unread: readonly string[], now: number): Promise<number> {
    let errors = 0;
    for (const kind of WINDOW_KINDS) {
      const own = holds.filter(({ window }) => getWindowKind(window) === kind);
      errors += await this.#releaseKind(kind, own, unread, now);
    }
    return errors;
  }

  async #releaseKind(
    kind: WindowKind,
    holds: readonly MonitorHold[],
    unread: readonly string[],
    now: number,
  ): Promise<number> {
    const { monitors, ids } = this;
    const fields = WINDOW_FIELDS[kind];
    const counts = await monitors.groupCount(fields.id, { [fields.id]: { gt: '' } });
    const held = new Map<string, Set<string>>();
    for (const { doc, window } of holds) held.set(window.id, (held.get(window.id) ?? new Set()).add(doc.id));
    const names = counts.filter(({ key, n }) => n > (held.get(String(key))?.size ?? 0)).map(({ key }) => String(key));
    const until = toIsoString(now);
    let errors = 0;
    for (const id of names.filter((name) => !unread.includes(name))) {
      const docs = await collectAll(monitors, { filter: { [fields.id]: id }, limit: BATCH_SIZE });
      const early = docs.filter(
        (doc) => doc.deleted_at === null && held.get(id)?.has(doc.id) !== true && (doc[fields.until] ?? '') > until,
      );
      const writes = early.map((doc) => ({
        changeSet: new MonitorChangeSet(doc, ids, now).assign({ [fields.until]: until }),
      }));
      errors += (await this.#write(writes)).errors;
    }
    return errors;
  }

  async removeMonitor({ source, series }: MonitorDoc): Promise<void> {
    const windows = this.windows;
    for (const window of await collectAll(windows, { limit: BATCH_SIZE, damaged: this.#damage.report })) {
      if (window.subtree !== source && !window.sources.includes(source)) continue;
      if (window.series !== undefined && !window.series.includes(series)) continue;
      const sources = window.sources.filter((one) => one !== source);
      const subtree = window.subtree === source ? null : window.subtree;
      if (sources.length === 0 && subtree === null) await windows.remove({ id: window.id });
      else await windows.change({ id: window.id }, { set: { sources, subtree } });
    }
  }

  async #write(writes: readonly PendingWrite[]): Promise<{ won: MonitorDoc[]; errors: number }> {
    const { won, errors } = await writeChangeSets(this.monitors, writes, this.log);
    return { won: won.map(({ next }) => next), errors };
  }
}
