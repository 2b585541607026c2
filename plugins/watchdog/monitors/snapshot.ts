/**
 * All monitors as they were at one moment, shared by everyone who asks in this process (contract 30, endpoints: /status). A
 * small store is read anew for every question, so that a caller sees its own heartbeat; a large one at most every 2 s. It
 * is read in pages, with a turn of the event loop between them, and each monitor is kept as the JSON text that is sent.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { pages } from '../../../lib/paging.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import type { MonitorState } from '../../../ports/domain/watchdog.js';
import { DEPS, type Deps } from '../deps.js';
import type { MonitorDoc } from '../model.js';
import { Forest } from './forest.js';
import { jsonOf } from './monitor.js';

/** How old a snapshot may be when it is given out, counted from the beginning of its reading. */
const MAX_AGE_MS = 2_000;
/** A store that was read within this time is read anew for every question. */
const QUICK_MS = 25;
const PAGE = 200;
const KEY = 'all';

export interface MonitorRow {
  id: string;
  source: string;
  name: string;
  state: MonitorState;
  alarm: MonitorDoc['alarm'];
  parent_source: string | null;
  suppressed_by: string | null;
  project: string | null;
  /** As the API shows it: JSON. */
  json: string;
}

export interface Snapshot {
  /** When its reading began: RFC 3339, and `clock.monotonic()`. */
  at: string;
  since: number;
  /** By source. */
  rows: readonly MonitorRow[];
  /** The hierarchy of all; made when it is asked for, once. */
  forest: () => Promise<Forest<MonitorRow>>;
}

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

@injectable()
export class Snapshots {
  readonly #flight = new SingleFlight<Snapshot>();
  #last: Snapshot | null = null;
  /** How long the last reading took, in ms; null: there was none. */
  #took: number | null = null;
  #expiry: NodeJS.Timeout | undefined;

  constructor(@inject(DEPS) private readonly deps: Pick<Deps, 'monitors' | 'clock'>) {}

  async take(): Promise<Snapshot> {
    const read = (): Promise<Snapshot> => this.#read();
    if (this.#took !== null && this.#took <= QUICK_MS) return this.#flight.fresh(KEY, read);
    const age = this.#last === null ? Infinity : this.deps.clock.monotonic() - this.#last.since;
    return this.#last !== null && age >= 0 && age <= MAX_AGE_MS ? this.#last : this.#flight.share(KEY, read);
  }

  async #read(): Promise<Snapshot> {
    const { monitors, clock } = this.deps;
    const began = performance.now();
    const [at, since] = [clock.iso(), clock.monotonic()];
    const rows: MonitorRow[] = [];
    const query = { filter: { deleted_at: null }, sort: [['source', 'asc']] as const, limit: PAGE };
    for await (const docs of pages(monitors, query)) {
      for (const doc of docs) rows.push(rowOf(doc));
      if (docs.length === PAGE) await turn();
    }
    this.#took = performance.now() - began;
    let made: Promise<Forest<MonitorRow>> | undefined;
    const forest = (): Promise<Forest<MonitorRow>> => (made ??= Forest.of(rows, turn));
    return this.#keep({ at, since, rows, forest });
  }

  /** Let go when it is too old, so that an idle process holds no copy of its monitors. */
  #keep(snapshot: Snapshot): Snapshot {
    this.#last = snapshot;
    clearTimeout(this.#expiry);
    this.#expiry = setTimeout(() => {
      if (this.#last === snapshot) this.#last = null;
    }, MAX_AGE_MS);
    this.#expiry.unref();
    return snapshot;
  }
}

function rowOf(doc: MonitorDoc): MonitorRow {
  const { id, source, name, state, alarm, parent_source, suppressed_by, project } = doc;
  return { id, source, name, state, alarm, parent_source, suppressed_by, project, json: jsonOf(doc) };
}
