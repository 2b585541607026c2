/**
 * Monitors in their maintenance windows (contract 30, beyond the specification). A window is a document; while it is
 * open each of its monitors holds its id and its end, and their end makes the monitor due for the evaluator. Order: the
 * window → its monitors. What a crash leaves between, and monitors that came below a subtree since, the next run of the
 * evaluator finds; a monitor whose window is gone ends there too (docs/consistency.md).
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { all } from '../../../lib/paging.js';
import { isoOf } from '../../../lib/time.js';
import type { StoreDamaged } from '../../../ports/store.js';
import { ToldDamage } from '../../../ports/store/told-damage.js';
import { DEPS, type WatchdogDeps } from '../deps.js';
import { MonitorChangeSet } from '../model/change-set.js';
import type { MonitorDoc } from '../model/documents.js';
import { idOf } from '../model/source.js';
import { nextSpan, openSpan, type WindowDoc } from '../model/window.js';
import { writeChangeSets, type PendingWrite } from '../store/change-set-writes.js';
import { Ancestry } from '../tree/ancestry.js';

const BATCH = 500;
/** A monitor that is written meanwhile is read again so often; after that the next run takes it. */
const TRIES = 3;

/** What holds a monitor: the window of its that ends last. */
interface Hold {
  doc: MonitorDoc;
  window: WindowDoc;
  until: string;
}

interface Applied {
  /** As they were written, with entries of their timeline. */
  changed: MonitorDoc[];
  errors: number;
}

@injectable()
export class Maintenance {
  readonly #damage: ToldDamage;

  constructor(
    @inject(DEPS) private readonly deps: WatchdogDeps,
    @inject(Ancestry) private readonly ancestry: Ancestry,
  ) {
    this.#damage = new ToldDamage(deps.log, 'a maintenance window');
  }

  /** Brings every monitor in line with the windows as they are now, and forgets windows that are over for good. */
  async apply(now: number): Promise<Applied> {
    const unread: string[] = [];
    const windows = await all(this.deps.windows, { limit: BATCH, damaged: (error) => this.#unread(error, unread) });
    const over = windows.filter((window) => openSpan(window, now) === null && nextSpan(window, now) === null);
    const changed: MonitorDoc[] = [];
    let errors = 0;
    for (let tries = 0; tries < TRIES; tries++) {
      const holds = await this.#holds(windows, now);
      const due = holds.filter(({ doc, window, until }) => {
        return doc.maintenance_id !== window.id || doc.maintenance_until !== until;
      });
      if (due.length === 0) break;
      const written = await this.#write(due.map((hold) => this.#held(hold, now)));
      changed.push(...written.won);
      errors += written.errors;
      if (written.won.length + written.errors >= due.length) break;
    }
    // What cannot be read is not gone: its monitors stay as they are.
    const ended = await this.#release(new Set([...windows.map(({ id }) => id), ...unread]), now);
    if (over.length > 0 && (await this.deps.clockBelieved()))
      await this.deps.windows.remove({ id: { in: over.map(({ id }) => id) } });
    return { changed, errors: errors + ended };
  }

  #unread(error: StoreDamaged, ids: string[]): void {
    if (error.place.id !== null) ids.push(error.place.id);
    this.#damage.tell(error);
  }

  #held({ doc, window, until }: Hold, now: number): PendingWrite {
    const { id, reason } = window;
    return { changeSet: new MonitorChangeSet(doc, this.deps.ids, now).hold({ id, until, reason }) };
  }

  async #holds(windows: readonly WindowDoc[], now: number): Promise<Hold[]> {
    const holds = new Map<string, Hold>();
    for (const window of windows) {
      const span = openSpan(window, now);
      if (span === null) continue;
      const until = isoOf(span.until);
      for (const doc of await this.#monitorsOf(window)) {
        const known = holds.get(doc.id);
        if (known === undefined || known.until < until) holds.set(doc.id, { doc, window, until });
      }
    }
    return [...holds.values()];
  }

  async #monitorsOf({ sources, subtree, project }: WindowDoc): Promise<MonitorDoc[]> {
    const named = subtree === null ? sources : [...sources, subtree];
    const found = await all(this.deps.monitors, {
      filter: { id: { in: named.map(idOf) } },
      limit: BATCH,
      damaged: this.#damage.tell,
    });
    if (subtree !== null) found.push(...(await this.ancestry.below(subtree)));
    return found.filter((doc) => doc.deleted_at === null && (project === null || doc.project === project));
  }

  /** Monitors whose window is gone end now: due at once, for the evaluator. Answers how many failed. */
  async #release(known: ReadonlySet<string>, now: number): Promise<number> {
    const { monitors, ids } = this.deps;
    const held = await monitors.groupCount('maintenance_id', { maintenance_id: { gt: '' } });
    const gone = held.map(({ key }) => String(key)).filter((id) => !known.has(id));
    if (gone.length === 0) return 0;
    const docs = await all(monitors, { filter: { maintenance_id: { in: gone } }, limit: BATCH });
    const until = isoOf(now);
    const early = docs.filter(({ maintenance_until }) => (maintenance_until ?? '') > until);
    const writes = early.map((doc) => ({
      changeSet: new MonitorChangeSet(doc, ids, now).assign({ maintenance_until: until }),
    }));
    return (await this.#write(writes)).errors;
  }

  async #write(writes: readonly PendingWrite[]): Promise<{ won: MonitorDoc[]; errors: number }> {
    const { won, errors } = await writeChangeSets(this.deps.monitors, writes, this.deps.log);
    return { won: won.map(({ next }) => next), errors };
  }
}
