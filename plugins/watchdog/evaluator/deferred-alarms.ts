/**
 * A suppressed monitor without a down ancestor alarms after a delay, unless an ancestor is down
 * again (contract 30, alarms and hierarchy). `suppressed_by` names the nearest ancestor down at the
 * last check.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { collectAll } from '../../../lib/paging.js';
import { toIsoString } from '../../../lib/time.js';
import { listAncestors, findDownAncestor, toRelative, AncestryLoader, type TreeRelative } from '../tree/ancestry.js';
import { CorruptionReporter } from '../../../ports/store/corruption-reporter.js';
import { DEPS, type WatchdogConfig } from '../deps.js';
import type { MonitorDoc } from '../model/documents.js';
import { getMonitorId } from '../model/monitor-id.js';
import { getDeferredAlarmTime, getIntervalSeconds, isSilenced } from '../model/timing.js';
import { MonitorChangeSet } from '../model/monitor-change-set.js';
import { writeChangeSets, type PendingWrite } from '../change-set-writes.js';
import type { Logger } from '../../../ports/logger.js';
import type { Ids } from '../../../ports/ids.js';
import type { Collection } from '../../../ports/store/index.js';

const BATCH_SIZE = 500;

@injectable()
export class DeferredAlarmService {
  readonly #damage: CorruptionReporter;

  constructor(
    @inject(DEPS.monitors) private readonly monitors: Collection<MonitorDoc>,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.config) private readonly config: WatchdogConfig,
    @inject(AncestryLoader) private readonly ancestry: AncestryLoader,
  ) {
    this.#damage = new CorruptionReporter(log, 'a monitor');
  }

  /** @param waiting suppressed monitors with `released_at` */
  async emitDueAlarms(
    waiting: readonly MonitorDoc[],
    now: number,
  ): Promise<{ emitted: MonitorChangeSet[]; errors: number }> {
    const family = await this.ancestry.loadAncestors(waiting);
    const { ids, config } = this;
    const pending = waiting.map((doc): PendingWrite => {
      const changeSet = new MonitorChangeSet(doc, ids, now);
      const by = findDownAncestor(doc, family);
      if (by !== null) return { changeSet: changeSet.assign({ suppressed_by: by.source, released_at: null }) };
      const since = getReleaseTime(doc, listAncestors(doc, family), Date.parse(doc.released_at ?? ''), now);
      // `endSilence` emits it.
      if (isSilenced(doc, now)) return { changeSet: changeSet.assign({ released_at: null }) };
      if (!config.deferred_alarms) return { changeSet: changeSet.assign({ released_at: null }) };
      if (now < getDeferredAlarmTime(since, getIntervalSeconds(doc)))
        return { changeSet: changeSet.assign({ released_at: toIsoString(since) }) };
      return { changeSet: changeSet.emitAlarm(true) };
    });
    const { won, errors } = await writeChangeSets(this.monitors, pending, this.log);
    return { emitted: won.filter(({ next }) => next.alarm === 'open'), errors };
  }

  async findReleased(): Promise<{ doc: MonitorDoc; by: TreeRelative | null }[]> {
    const monitors = this.monitors;
    const groups = await monitors.groupCount('suppressed_by', { suppressed_by: { gt: '' } });
    const names = groups.map(({ key }) => String(key));
    const releasedMonitors: { doc: MonitorDoc; by: TreeRelative | null }[] = [];
    for (let i = 0; i < names.length; i += BATCH_SIZE) {
      const part = names.slice(i, i + BATCH_SIZE);
      const filter = { id: { in: part.map(getMonitorId) } };
      const page = await monitors.find({ filter, limit: BATCH_SIZE, damaged: this.#damage.report });
      const there = page.items.filter((doc) => doc.deleted_at === null);
      const found = new Map(there.map((doc) => [doc.source, doc]));
      for (const name of part) {
        const by = found.get(name);
        if (by?.state === 'down' && by.group !== true) continue;
        for (const doc of await this.#findSuppressedBy(name))
          releasedMonitors.push({ doc, by: by ? toRelative(by) : null });
      }
    }
    return releasedMonitors;
  }

  #findSuppressedBy(source: string): Promise<MonitorDoc[]> {
    return collectAll(this.monitors, {
      filter: { suppressed_by: source },
      limit: BATCH_SIZE,
      damaged: this.#damage.report,
    });
  }

  /**
   * After a suppressor recovered or a monitor moved, another ancestor suppresses the alarm, or its
   * delay starts.
   * @param moved when the position changed, in ms
   * @returns the monitors whose delay runs
   */
  async releaseAlarms(
    releasedMonitors: readonly { doc: MonitorDoc; by: TreeRelative | null; moved?: number | undefined }[],
    now: number,
  ): Promise<{ waiting: MonitorDoc[]; errors: number }> {
    const family = await this.ancestry.loadAncestors(releasedMonitors.map(({ doc }) => doc));
    const pending = releasedMonitors.map(({ doc, by, moved }): PendingWrite => {
      const changeSet = new MonitorChangeSet(doc, this.ids, now);
      const above = findDownAncestor(doc, family);
      if (above !== null) return { changeSet: changeSet.assign({ suppressed_by: above.source, released_at: null }) };
      const gone = by === null ? now : by.left_down_at === null ? 0 : Date.parse(by.left_down_at);
      const since = getReleaseTime(doc, listAncestors(doc, family), moved ?? gone, now);
      return { changeSet: changeSet.assign({ suppressed_by: null, released_at: toIsoString(since) }) };
    });
    const changing = pending.filter(({ changeSet }) => hasChanged(changeSet));
    const { won, errors } = await writeChangeSets(this.monitors, changing, this.log);
    const waiting = won.map(({ next }) => next).filter((doc) => doc.released_at !== null);
    return { waiting, errors };
  }

  async reevaluateTree(top: MonitorDoc, now: number): Promise<{ waiting: MonitorDoc[]; errors: number }> {
    const all = [top, ...(await this.ancestry.listDescendants(top.source))];
    const moved = top.reparented_at === null ? undefined : Date.parse(top.reparented_at);
    const suppressed = all.filter(({ alarm, released_at }) => alarm === 'suppressed' && released_at === null);
    const looked = await this.releaseAlarms(
      suppressed.map((doc) => ({ doc, by: null, moved })),
      now,
    );
    await this.#clearReparented(top, now);
    return looked;
  }

  /**
   * Their suppressor may become unreachable by the deletion. The mark comes first, so that the next
   * run recovers from a crash.
   */
  async markSubtreeForRelease(source: string, now: number): Promise<MonitorDoc[]> {
    const { ids, monitors, log } = this;
    const held = (await this.ancestry.listDescendants(source)).filter(
      ({ alarm, released_at }) => alarm === 'suppressed' && released_at === null,
    );
    const marked = held.map((doc) => ({
      changeSet: new MonitorChangeSet(doc, ids, now).assign({ relook: true, reparented_at: toIsoString(now) }),
    }));
    const { won } = await writeChangeSets(monitors, marked, log);
    return won.map(({ next }) => next);
  }

  async #clearReparented({ id, reparented_at }: MonitorDoc, now: number): Promise<void> {
    const { monitors, ids, log } = this;
    const doc = await monitors.get(id);
    if (doc === null || doc.reparented_at !== reparented_at) return;
    await writeChangeSets(
      monitors,
      [{ changeSet: new MonitorChangeSet(doc, ids, now).assign({ relook: false }) }],
      log,
    );
  }
}

const hasChanged = ({ before, next }: MonitorChangeSet): boolean =>
  before.suppressed_by !== next.suppressed_by || before.released_at !== next.released_at;

/** When the last ancestor left `down` or the monitor moved; never in the future. */
function getReleaseTime(doc: MonitorDoc, ancestors: readonly TreeRelative[], gone: number, now: number): number {
  const times = [gone, ...ancestors.map(({ left_down_at }) => (left_down_at === null ? 0 : Date.parse(left_down_at)))];
  if (doc.down_since_utc !== null) times.push(Date.parse(doc.down_since_utc));
  return Math.min(now, Math.max(...times));
}
