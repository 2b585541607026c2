import { inject, injectable } from '../../kernel/contract/index.js';
import { HOUR_MS, toIsoString, MINUTE_MS } from '../../lib/time.js';
import { DEPS } from './deps.js';
import type { MonitorDoc, TimelineDoc, ChangeDoc } from './model/documents.js';
import { getMonitorId } from './model/monitor-id.js';
import { explainDown } from './model/down-explanation.js';
import { AncestryLoader, listAncestors } from './tree/ancestry.js';
import type { Clock } from '../../ports/clock.js';
import type { Collection } from '../../ports/store/index.js';

const LOOKBACK_MS = 24 * HOUR_MS;
const MAX_SIBLINGS = 500;
const MAX_TIMELINE_ENTRIES = 50;
const MAX_SHOWN_CHANGES = 10;
const MAX_SHOWN_ANCESTORS = 3;

export interface EarlierChange {
  at: string;
  type: string;
  text: string;
  source: string | null;
}

export interface DownExplanation {
  why: string;
  changes: EarlierChange[];
}

@injectable()
export class DownExplanationService {
  constructor(
    @inject(DEPS.monitors) private readonly monitors: Collection<MonitorDoc>,
    @inject(DEPS.timeline) private readonly timeline: Collection<TimelineDoc>,
    @inject(DEPS.changes) private readonly changes: Collection<ChangeDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(AncestryLoader) private readonly ancestry: AncestryLoader,
  ) {}

  /**
   * @param probed whether the service probes it
   * @returns null when it is not down
   */
  async explain(doc: MonitorDoc, probed: boolean): Promise<DownExplanation | null> {
    if (doc.state !== 'down') return null;
    const [around, changes] = await Promise.all([this.#loadContext(doc), this.#listChanges(doc)]);
    const why = explainDown(doc, { ...around, probed }, this.clock.now());
    return why === null ? null : { why, changes };
  }

  async recordRelease(id: string, at: string, project: string | null, text: string): Promise<void> {
    await this.changes.change({ id }, { setOnInsert: { at, project, text } }, { upsert: true });
  }

  async #loadContext({ source, parent_source, down_since_utc }: MonitorDoc) {
    const alone = { parent: null, siblings: 0, together: 0 };
    if (parent_source === null) return alone;
    const monitors = this.monitors;
    const parent = await monitors.get(getMonitorId(parent_source));
    if (parent === null || parent.deleted_at !== null) return alone;
    const { items } = await monitors.find({ filter: { parent_source, deleted_at: null }, limit: MAX_SIBLINGS });
    const others = items.filter((one) => one.source !== source);
    const since = Date.parse(down_since_utc ?? '');
    const near = ({ state, down_since_utc: at }: MonitorDoc): boolean =>
      state === 'down' && at !== null && Math.abs(Date.parse(at) - since) < MINUTE_MS;
    const { name, state } = parent;
    return { parent: { name, state }, siblings: others.length, together: others.filter(near).length };
  }

  async #listChanges(doc: MonitorDoc): Promise<EarlierChange[]> {
    const { timeline, changes } = this;
    const down = Date.parse(doc.down_since_utc ?? doc.last_state_change_utc);
    const at = { gte: toIsoString(down - LOOKBACK_MS), lte: toIsoString(down) };
    const above = listAncestors(doc, await this.ancestry.loadAncestors([doc])).slice(0, MAX_SHOWN_ANCESTORS);
    const sort: [string, 'desc'][] = [['at', 'desc']];
    const notes = await Promise.all(
      [doc.source, ...above.map(({ source }) => source)].map((source) =>
        timeline.find({ filter: { source, at }, sort, limit: MAX_TIMELINE_ENTRIES }),
      ),
    );
    const noted = notes.flatMap(({ items }) => items.filter(({ kind }) => kind === 'annotation'));
    const { items } =
      doc.project === null
        ? { items: [] }
        : await changes.find({ filter: { project: doc.project, at }, sort, limit: MAX_SHOWN_CHANGES });
    const all: EarlierChange[] = [
      ...noted.map(({ at: when, type, message, source }) => ({ at: when, type, text: message ?? '', source })),
      ...items.map(({ at: when, text }) => ({ at: when, type: 'release', text, source: null })),
    ];
    return all.toSorted((a, b) => (a.at < b.at ? 1 : -1)).slice(0, MAX_SHOWN_CHANGES);
  }
}
