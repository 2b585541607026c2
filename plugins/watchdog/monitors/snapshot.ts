/**
 * All monitors as they were at one moment, shared by everyone who asks in this process (contract 30, endpoints:
 * /status). A small store is read anew for every question, so that a caller sees its own heartbeat; a large one at most
 * every 2 s. It is read in pages, with a turn of the event loop between them. For the API each monitor is kept as the
 * JSON text that is sent; the page of the hierarchy shows seven fields of each, which costs a fraction.
 */
import { inject, injectable, JsonText } from '../../../kernel/contract.js';
import { SharedReading } from '../../../lib/shared-reading.js';
import { findRendered, type Rendered, type Renderer } from '../../../ports/rendering.js';
import type { Find } from '../../../ports/store.js';
import { DEPS, type WatchdogDeps } from '../deps.js';
import { Forest, type TreeItem } from './forest.js';
import { OUTLINE_ROW, type OutlineRow } from './outline-row.js';
import { MONITOR_ROW, type MonitorRow } from './snapshot-row.js';
import { LeftOutDocuments, type Warned } from '../../../ports/store/left-out.js';

/** How old a snapshot may be when it is given out, counted from the beginning of its reading. */
const MAX_AGE_MS = 2_000;
/** A store that was read within this time is read anew for every question. */
const QUICK_MS = 25;
/** So many monitors are a small store, however busy the machine is. */
const FEW = 500;
const PAGE = 200;

export interface Snapshot<Row extends TreeItem = MonitorRow> extends Warned {
  /** When its reading began, RFC 3339. */
  at: string;
  /** By source. */
  rows: readonly Row[];
  /** The hierarchy of all; made when it is asked for, once. */
  forest: () => Promise<Forest<Row>>;
}

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

@injectable()
export class Snapshots {
  readonly #whole: SharedReading<Snapshot>;
  readonly #outline: SharedReading<Snapshot<OutlineRow>>;

  constructor(@inject(DEPS) private readonly deps: Pick<WatchdogDeps, 'monitors' | 'clock'>) {
    const options = {
      maxAgeMs: MAX_AGE_MS,
      quickMs: QUICK_MS,
      isSmall: ({ rows }: { rows: readonly unknown[] }) => rows.length <= FEW,
      monotonic: () => deps.clock.monotonic(),
    };
    this.#whole = new SharedReading(() => this.#read<MonitorRow>(MONITOR_ROW), options);
    this.#outline = new SharedReading(() => this.#read<OutlineRow>(OUTLINE_ROW), options);
  }

  /** Each monitor as the API shows it. */
  take(): Promise<Snapshot> {
    return this.#whole.take();
  }

  /** Each monitor as the hierarchy shows it. */
  outline(): Promise<Snapshot<OutlineRow>> {
    return this.#outline.take();
  }

  async #read<Row extends TreeItem>(renderer: Renderer): Promise<Snapshot<Row>> {
    const { monitors, clock } = this.deps;
    const at = clock.iso();
    const rows: Row[] = [];
    const left = new LeftOutDocuments();
    const damaged = left.tell;
    const query: Find = { filter: { deleted_at: null }, sort: [['source', 'asc']], limit: PAGE, damaged };
    for (let after: string | null = null, more = true; more; more = after !== null) {
      const page: Rendered = await findRendered(monitors, { ...query, after }, { ...renderer, context: null });
      for (const row of new JsonText(page.json).toJSON() as Row[]) rows.push(row);
      after = page.next;
      if (after !== null) await turn();
    }
    let made: Promise<Forest<Row>> | undefined;
    const forest = (): Promise<Forest<Row>> => (made ??= Forest.of(rows, turn));
    return { at, rows, forest, ...left.warned };
  }
}
