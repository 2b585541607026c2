/**
 * All monitors as they were at one moment, shared by everyone who asks in this process (contract 30, endpoints:
 * /status). A small store is read anew for every question, so that a caller sees its own heartbeat; a large one at most
 * every 2 s. It is read in pages, with a turn of the event loop between them. For the API each monitor is kept as the
 * JSON text that is sent; the page of the hierarchy shows seven fields of each, which costs a fraction.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { CoalescedCache } from '../../../lib/shared-reading.js';
import { yieldToEventLoop } from '../../../lib/process/event-loop.js';
import type { MonitorState } from '../../../ports/domain/watchdog.js';
import type { Find, Page } from '../../../ports/store.js';
import { DEPS, type WatchdogDeps } from '../deps.js';
import type { MonitorDoc } from '../model/documents.js';
import { toMonitorJson, toMaintenanceView, toSilenceView } from '../model/monitor.js';
import { MonitorForest, type TreeItem } from './forest.js';
import { LeftOutDocuments, type Warned } from '../../../ports/store/left-out.js';

/** How old a snapshot may be when it is given out, counted from the beginning of its reading. */
const MAX_AGE_MS = 2_000;
/** A store that is read within this time is read again for every request. */
const FAST_READ_MS = 25;
/** So many monitors are a small store, however busy the machine is. */
const SMALL_STORE_MONITORS = 500;
const PAGE_SIZE = 200;

/** A monitor as the API shows it, with what choosing and masking need. */
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

/** A monitor as the page of the hierarchy shows it. */
export interface OutlineRow {
  source: string;
  name: string;
  state: MonitorState;
  /** Null while it is not down. */
  down_since: string | null;
  alarm: MonitorDoc['alarm'];
  parent_source: string | null;
  suppressed_by: string | null;
  /** When the maintenance window that it is in ends. */
  maintenance_until: string | null;
  /** When its silence ends. */
  silenced_until: string | null;
}

export interface Snapshot<Row extends TreeItem = MonitorRow> extends Warned {
  /** When its reading began, RFC 3339. */
  at: string;
  /** By source. */
  rows: readonly Row[];
  /** The hierarchy of all monitors, built once on first use. */
  forest: () => Promise<MonitorForest<Row>>;
}

@injectable()
export class MonitorSnapshots {
  readonly #whole: CoalescedCache<Snapshot>;
  readonly #outline: CoalescedCache<Snapshot<OutlineRow>>;

  constructor(@inject(DEPS) private readonly deps: Pick<WatchdogDeps, 'monitors' | 'clock'>) {
    const options = {
      maxAgeMs: MAX_AGE_MS,
      quickMs: FAST_READ_MS,
      isSmall: ({ rows }: { rows: readonly unknown[] }) => rows.length <= SMALL_STORE_MONITORS,
      monotonic: () => deps.clock.monotonic(),
    };
    this.#whole = new CoalescedCache(() => this.#read(toMonitorRow), options);
    this.#outline = new CoalescedCache(() => this.#read(toOutlineRow), options);
  }

  /** Each monitor as the API shows it. */
  take(): Promise<Snapshot> {
    return this.#whole.take();
  }

  /** Each monitor as the hierarchy shows it. */
  outline(): Promise<Snapshot<OutlineRow>> {
    return this.#outline.take();
  }

  async #read<Row extends TreeItem>(rowOf: (doc: MonitorDoc) => Row): Promise<Snapshot<Row>> {
    const { monitors, clock } = this.deps;
    const at = clock.iso();
    const rows: Row[] = [];
    const left = new LeftOutDocuments();
    const damaged = left.tell;
    const query: Find = { filter: { deleted_at: null }, sort: [['source', 'asc']], limit: PAGE_SIZE, damaged };
    for (let after: string | null = null, more = true; more; more = after !== null) {
      const page: Page<MonitorDoc> = await monitors.find({ ...query, after });
      for (const doc of page.items) rows.push(rowOf(doc));
      after = page.next;
      if (after !== null) await yieldToEventLoop();
    }
    let made: Promise<MonitorForest<Row>> | undefined;
    const forest = (): Promise<MonitorForest<Row>> => (made ??= MonitorForest.of(rows, yieldToEventLoop));
    return { at, rows, forest, ...left.warned };
  }
}

function toMonitorRow(doc: MonitorDoc): MonitorRow {
  const { id, source, name, state, alarm, parent_source, suppressed_by, project } = doc;
  return { id, source, name, state, alarm, parent_source, suppressed_by, project, json: toMonitorJson(doc) };
}

function toOutlineRow(doc: MonitorDoc): OutlineRow {
  const { source, name, state, alarm, parent_source, suppressed_by } = doc;
  const down_since = state === 'down' ? doc.down_since_utc : null;
  const maintenance_until = toMaintenanceView(doc)?.until ?? null;
  const silenced_until = toSilenceView(doc)?.until ?? null;
  return { source, name, state, down_since, alarm, parent_source, suppressed_by, maintenance_until, silenced_until };
}
