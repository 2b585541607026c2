/**
 * A monitor with `group` takes the worst state of its children, and neither alarms nor suppresses.
 * A child is written before its group; the next evaluator run repairs outdated groups.
 */
import { inject, injectable } from '../../kernel/contract/index.js';
import { iteratePages } from '../../lib/paging.js';
import type { MonitorState } from '../../ports/domain/watchdog.js';
import { DEPS } from './deps.js';
import { MonitorChangeSet } from './model/monitor-change-set.js';
import type { MonitorDoc } from './model/documents.js';
import { getMonitorId } from './model/monitor-id.js';
import { isInMaintenance } from './model/timing.js';
import { MonitorOutbox } from './timeline/monitor-outbox.js';
import { MAX_TREE_DEPTH } from './tree/ancestry.js';
import type { Logger } from '../../ports/logger.js';
import type { Ids } from '../../ports/ids.js';
import type { Clock } from '../../ports/clock.js';
import type { Collection } from '../../ports/store/index.js';

const PAGE_SIZE = 200;
const STATES_WORST_FIRST = ['down', 'warning', 'up', 'maintenance', 'stopped', 'unknown'] as const;

type MonitorChild = Pick<MonitorDoc, 'parent_source'>;

export function findWorstState(states: ReadonlySet<unknown>): MonitorState {
  return STATES_WORST_FIRST.find((state) => states.has(state)) ?? 'unknown';
}

@injectable()
export class GroupStateService {
  readonly #running = new Set<Promise<void>>();

  constructor(
    @inject(DEPS.monitors) private readonly monitors: Collection<MonitorDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(MonitorOutbox) private readonly outbox: MonitorOutbox,
  ) {}

  /** Includes their ancestors; runs in the background. */
  refreshLater(changed: readonly MonitorChild[]): void {
    if (changed.every(({ parent_source }) => parent_source === null)) return;
    const task = this.#refresh(changed).catch((error: unknown) =>
      this.log.error({ err: error }, 'a group could not be updated; the next evaluator run will retry'),
    );
    this.#running.add(task);
    void task.finally(() => this.#running.delete(task));
  }

  /** Flushes a run's timeline entries and events, then refreshes the groups. */
  flushLater(changed: readonly MonitorDoc[]): void {
    this.outbox.flushLater(changed);
    this.refreshLater(changed);
  }

  async refreshAll(): Promise<void> {
    const query = { filter: { group: true, deleted_at: null }, limit: PAGE_SIZE };
    for await (const items of iteratePages(this.monitors, query))
      await this.#refresh(items.map(({ source }) => ({ parent_source: source })));
  }

  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #refresh(changed: readonly MonitorChild[]): Promise<void> {
    let level = changed;
    for (let depth = 0; level.length > 0 && depth < MAX_TREE_DEPTH; depth++) {
      const groups = new Set(level.flatMap(({ parent_source }) => parent_source ?? []));
      const written: MonitorDoc[] = [];
      for (const source of groups) {
        const group = await this.#writeState(source);
        if (group !== null) written.push(group);
      }
      await this.outbox.flush(written);
      level = written;
    }
  }

  /** Returns null when it is not a group or already correct. */
  async #writeState(source: string): Promise<MonitorDoc | null> {
    const { monitors, clock, ids } = this;
    for (;;) {
      const doc = await monitors.get(getMonitorId(source));
      if (doc === null || doc.deleted_at !== null || doc.group !== true) return null;
      const counts = await monitors.groupCount('state', { parent_source: source, deleted_at: null });
      const state = findWorstState(new Set(counts.map(({ key }) => key)));
      const now = clock.now();
      const held = isInMaintenance(doc, now);
      if ((held ? doc.held_state : doc.state) === state) return null;
      const changeSet = new MonitorChangeSet(doc, ids, now);
      if (held) changeSet.setHeldState(state);
      else if (state === 'down') changeSet.setDown(now, 'A monitor of the group is down');
      else changeSet.setState(state, `The group is ${state}`);
      if ((await monitors.change({ id: doc.id, rev: doc.rev }, changeSet.toUpdate())) !== null) return changeSet.next;
    }
  }
}
