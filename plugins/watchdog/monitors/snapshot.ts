/**
 * All monitors as they were at one moment, shared by everyone who asks in this process (contract 30, endpoints: /status). A
 * small store is read anew for every question, so that a caller sees its own heartbeat; a large one at most every 2 s. It
 * is read in pages, with a turn of the event loop between them, and each monitor is kept as the JSON text that is sent.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { pages } from '../../../lib/paging.js';
import { SharedReading } from '../../../lib/shared-reading.js';
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
  /** When its reading began, RFC 3339. */
  at: string;
  /** By source. */
  rows: readonly MonitorRow[];
  /** The hierarchy of all; made when it is asked for, once. */
  forest: () => Promise<Forest<MonitorRow>>;
}

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
    const query = { filter: { deleted_at: null }, sort: [['source', 'asc']] as const, limit: PAGE };
    for await (const docs of pages(monitors, query)) {
      for (const doc of docs) rows.push(rowOf(doc));
      if (docs.length === PAGE) await turn();
    }
    let made: Promise<Forest<MonitorRow>> | undefined;
    const forest = (): Promise<Forest<MonitorRow>> => (made ??= Forest.of(rows, turn));
    return { at, rows, forest };
  }
}

function rowOf(doc: MonitorDoc): MonitorRow {
  const { id, source, name, state, alarm, parent_source, suppressed_by, project } = doc;
  return { id, source, name, state, alarm, parent_source, suppressed_by, project, json: jsonOf(doc) };
}
