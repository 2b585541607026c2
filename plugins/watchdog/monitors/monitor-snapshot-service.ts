/**
 * Shared by concurrent requests (contract 30, endpoints: /status). A small store is read for every
 * request, so that callers see their own heartbeats; a large one at most every 2 s.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { CoalescedCache } from '../../../lib/caching/coalesced-cache.js';
import { yieldToEventLoop } from '../../../lib/process/event-loop.js';
import type { MonitorState } from '../../../ports/domain/watchdog.js';
import type { FindQuery, Page, Collection } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import type { MonitorDoc } from '../model/documents.js';
import { toMonitorJson, toMaintenanceView, toSilenceView } from '../model/monitor-view.js';
import { MonitorForest, type TreeItem } from './monitor-forest.js';
import { SkippedDocuments, type ListWarnings } from '../../../ports/store/skipped-documents.js';
import type { Clock } from '../../../ports/clock.js';

const MAX_SNAPSHOT_AGE_MS = 2_000;
const FAST_READ_MS = 25;
const MAX_SMALL_STORE_MONITORS = 500;
const PAGE_SIZE = 200;

export interface MonitorRow {
  id: string;
  source: string;
  name: string;
  state: MonitorState;
  alarm: MonitorDoc['alarm'];
  parent_source: string | null;
  suppressed_by: string | null;
  project: string | null;
  json: string;
}

export interface OutlineRow {
  source: string;
  name: string;
  state: MonitorState;
  down_since: string | null;
  alarm: MonitorDoc['alarm'];
  parent_source: string | null;
  suppressed_by: string | null;
  maintenance_until: string | null;
  silenced_until: string | null;
}

export interface Snapshot<Row extends TreeItem = MonitorRow> extends ListWarnings {
  /** Start of the read, RFC 3339. */
  at: string;
  rows: readonly Row[];
  forest: () => Promise<MonitorForest<Row>>;
}

@injectable()
export class MonitorSnapshotService {
  readonly #whole: CoalescedCache<Snapshot>;
  readonly #outline: CoalescedCache<Snapshot<OutlineRow>>;

  constructor(
    @inject(DEPS.monitors) private readonly monitors: Collection<MonitorDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
  ) {
    const options = {
      maxAgeMs: MAX_SNAPSHOT_AGE_MS,
      quickMs: FAST_READ_MS,
      isSmall: ({ rows }: { rows: readonly unknown[] }) => rows.length <= MAX_SMALL_STORE_MONITORS,
      monotonic: () => clock.monotonic(),
    };
    this.#whole = new CoalescedCache(() => this.#read(toMonitorRow), options);
    this.#outline = new CoalescedCache(() => this.#read(toOutlineRow), options);
  }

  take(): Promise<Snapshot> {
    return this.#whole.get();
  }

  getOutline(): Promise<Snapshot<OutlineRow>> {
    return this.#outline.get();
  }

  async #read<Row extends TreeItem>(rowOf: (doc: MonitorDoc) => Row): Promise<Snapshot<Row>> {
    const { monitors, clock } = this;
    const at = clock.iso();
    const rows: Row[] = [];
    const left = new SkippedDocuments();
    const damaged = left.add;
    const query: FindQuery = { filter: { deleted_at: null }, sort: [['source', 'asc']], limit: PAGE_SIZE, damaged };
    for (let after: string | null = null, more = true; more; more = after !== null) {
      const page: Page<MonitorDoc> = await monitors.find({ ...query, after });
      for (const doc of page.items) rows.push(rowOf(doc));
      after = page.next;
      if (after !== null) await yieldToEventLoop();
    }
    let made: Promise<MonitorForest<Row>> | undefined;
    const forest = (): Promise<MonitorForest<Row>> => (made ??= MonitorForest.create(rows, yieldToEventLoop));
    return { at, rows, forest, ...left.toWarnings };
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
