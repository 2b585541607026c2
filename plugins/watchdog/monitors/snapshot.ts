/**
 * All monitors as they were at one moment, shared by everyone who asks in this process (contract 30, endpoints: /status). A
 * small store is read anew for every question, so that a caller sees its own heartbeat; a large one at most every 2 s. It
 * is read in pages, with a turn of the event loop between them, and each monitor is kept as the JSON text that is sent.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { SharedReading } from '../../../lib/shared-reading.js';
import type { Find, Rendered } from '../../../ports/store.js';
import { DEPS, type Deps } from '../deps.js';
import { Forest } from './forest.js';
import { MONITOR_ROW, type MonitorRow } from './snapshot-row.js';

/** How old a snapshot may be when it is given out, counted from the beginning of its reading. */
const MAX_AGE_MS = 2_000;
/** A store that was read within this time is read anew for every question. */
const QUICK_MS = 25;
const PAGE = 200;

export interface Snapshot {
  /** When its reading began, RFC 3339. */
  at: string;
  /** By source. */
  rows: readonly MonitorRow[];
  /** The hierarchy of all; made when it is asked for, once. */
  forest: () => Promise<Forest<MonitorRow>>;
}

const decoder = new TextDecoder();

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

@injectable()
export class Snapshots {
  readonly #readings: SharedReading<Snapshot>;

  constructor(@inject(DEPS) private readonly deps: Pick<Deps, 'monitors' | 'clock'>) {
    const monotonic = (): number => deps.clock.monotonic();
    this.#readings = new SharedReading(() => this.#read(), { maxAgeMs: MAX_AGE_MS, quickMs: QUICK_MS, monotonic });
  }

  take(): Promise<Snapshot> {
    return this.#readings.take();
  }

  async #read(): Promise<Snapshot> {
    const { monitors, clock } = this.deps;
    const at = clock.iso();
    const rows: MonitorRow[] = [];
    const query: Find = { filter: { deleted_at: null }, sort: [['source', 'asc']], limit: PAGE };
    for (let after: string | null = null, more = true; more; more = after !== null) {
      const page: Rendered = await monitors.render({ ...query, after }, { module: MONITOR_ROW, context: null });
      for (const row of JSON.parse(decoder.decode(page.json)) as MonitorRow[]) rows.push(row);
      after = page.next;
      if (after !== null) await turn();
    }
    let made: Promise<Forest<MonitorRow>> | undefined;
    const forest = (): Promise<Forest<MonitorRow>> => (made ??= Forest.of(rows, turn));
    return { at, rows, forest };
  }
}
