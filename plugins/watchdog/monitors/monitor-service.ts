import { inject, injectable } from '../../../kernel/contract/index.js';
import { conflict, invalid, owned, unknownProject } from '../../../kernel/errors.js';
import {
  MONITOR_SOURCE_PATTERN,
  type MonitorFields,
  type MonitorQuery,
  type MonitorView,
} from '../../../ports/domain/watchdog.js';
import { StoreConflict, type Page, type Update, type Collection } from '../../../ports/store/index.js';
import { WindowApplier } from '../maintenance/window-applier.js';
import { DeferredAlarmService } from '../evaluator/deferred-alarms.js';
import { listAncestors, MAX_TREE_DEPTH, AncestryLoader } from '../tree/ancestry.js';
import { assertCanAccess, type WatchdogCaller } from '../model/caller.js';
import { toIsoString } from '../../../lib/time.js';
import { cleanText } from '../../../lib/text/clean-text.js';
import { DEPS } from '../deps.js';
import type { MonitorDoc, AddressDoc } from '../model/documents.js';
import { validateTiming, toTimingFields } from './timing-fields.js';
import { createMonitor, toMonitorView } from '../model/monitor-view.js';
import { MonitorOutbox } from '../timeline/monitor-outbox.js';
import { getMonitorId, isMonitorId } from '../model/monitor-id.js';
import { maskView, SourceVisibility } from '../tree/source-visibility.js';
import { MonitorChangeSet } from '../model/monitor-change-set.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';
import type { TokenIssuer } from '../../../ports/domain/tokens.js';
import type { Ids } from '../../../ports/ids.js';
import type { Clock } from '../../../ports/clock.js';
import type { IncidentDoc } from '../model/incident.js';

export type MonitorUpdate = Omit<MonitorFields, 'source'>;

const cleanFields = <T extends MonitorUpdate>(fields: T): T =>
  Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, typeof value === 'string' ? cleanText(value) : value]),
  ) as T;

@injectable()
export class MonitorService {
  constructor(
    @inject(DEPS.monitors) private readonly monitors: Collection<MonitorDoc>,
    @inject(DEPS.incidents) private readonly incidents: Collection<IncidentDoc>,
    @inject(DEPS.addresses) private readonly addresses: Collection<AddressDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.tokens)
    private readonly tokens: Pick<TokenIssuer, 'issue' | 'list' | 'find' | 'revoke' | 'revokeBySource'>,
    @inject(DEPS.projects) private readonly projects: Pick<ProjectDirectory, 'get' | 'list'>,
    @inject(AncestryLoader) private readonly ancestry: AncestryLoader,
    @inject(DeferredAlarmService) private readonly alarms: DeferredAlarmService,
    @inject(MonitorOutbox) private readonly outbox: MonitorOutbox,
    @inject(SourceVisibility) private readonly visibility: SourceVisibility,
    @inject(WindowApplier) private readonly maintenance: WindowApplier,
  ) {}

  async find(name: string): Promise<MonitorDoc | null> {
    const monitors = this.monitors;
    let doc = MONITOR_SOURCE_PATTERN.test(name) ? await monitors.get(getMonitorId(name)) : null;
    if (doc === null && isMonitorId(name)) doc = await monitors.get(name);
    return doc === null || doc.deleted_at !== null ? null : doc;
  }

  async listPage({
    app_version,
    project,
    state,
    parent_source,
    limit,
    after,
  }: MonitorQuery): Promise<Page<MonitorDoc>> {
    const version = app_version === true ? { gt: '' } : app_version;
    const filter = { project, state, parent_source, app_version: version, deleted_at: null };
    return this.monitors.find({ filter, sort: [['source', 'asc']], limit, after });
  }

  async toCallerView(view: MonitorView, caller: WatchdogCaller): Promise<MonitorView> {
    return maskView(view, await this.visibility.findHiddenInViews([view], caller));
  }

  /** @throws ServiceError not_found, insufficient_scope */
  async getMonitor(name: string, caller: WatchdogCaller): Promise<MonitorDoc> {
    return owned(caller.project, await this.find(name), ({ project }) => project, `monitor ${name}`);
  }

  /** @throws ServiceError conflict (existing source, cycle), unknown_project, insufficient_scope */
  async create(given: MonitorFields, caller: WatchdogCaller): Promise<MonitorView> {
    const fields = cleanFields({ ...given, project: given.project ?? caller.project });
    if (!MONITOR_SOURCE_PATTERN.test(fields.source))
      throw invalid({ source: 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : @ / -' });
    assertCanAccess(caller, { project: fields.project ?? null });
    await this.#checkProject(fields.project);
    validateTiming(fields, null);
    await this.#checkParent(fields.source, fields.parent_source ?? null, caller);
    const { monitors, ids, clock } = this;
    const fresh = createMonitor(fields, ids, clock.now());
    try {
      await monitors.insert(fresh);
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      if (!(await this.#revive(fresh))) throw conflict(`Monitor ${fields.source} already exists.`);
    }
    return this.toCallerView(toMonitorView(fresh), caller);
  }

  /** Its events are not published yet. */
  async #revive(fresh: MonitorDoc): Promise<boolean> {
    const { id, outbox: _outbox, outbox_at: _at, rev: _rev, ...set } = fresh;
    const update = { set: set as unknown as NonNullable<Update['set']>, inc: { rev: 1 } };
    return (await this.monitors.change({ id, deleted_at: { gt: '' } }, update)) !== null;
  }

  /** @throws ServiceError not_found, conflict (cycle), unknown_project, insufficient_scope */
  async update(name: string, given: MonitorUpdate, caller: WatchdogCaller): Promise<MonitorView> {
    const fields = cleanFields(given);
    // The lookup would reveal whether another project exists.
    if (fields.project !== undefined) assertCanAccess(caller, { project: fields.project });
    await this.#checkProject(fields.project);
    for (;;) {
      const doc = await this.getMonitor(name, caller);
      validateTiming(fields, doc);
      const moved = fields.parent_source !== undefined && fields.parent_source !== doc.parent_source;
      if (moved) await this.#checkParent(doc.source, fields.parent_source ?? null, caller);
      const { ids, clock, monitors } = this;
      const now = clock.now();
      const changeSet = new MonitorChangeSet(doc, ids, now).assign(resolveNames(fields, doc));
      changeSet.assign({ updated_at: clock.iso() });
      if (moved) await this.#releaseSuppressed();
      if (moved) changeSet.assign({ relook: true, reparented_at: clock.iso() });
      if ((await monitors.change({ id: doc.id, rev: doc.rev }, changeSet.toUpdate())) === null) continue;
      // Delays start now; after a crash the next run calls `reevaluateTree`.
      if (moved) await this.alarms.reevaluateTree(changeSet.next, now);
      // The subtree may have left a window.
      const isInWindow = typeof doc.maintenance_id === 'string' || typeof doc.silence_id === 'string';
      if (isInWindow && (moved || fields.project !== undefined)) {
        const { changed } = await this.maintenance.apply();
        await this.outbox.flush(changed);
      }
      return this.toCallerView(toMonitorView(changeSet.next), caller);
    }
  }

  /**
   * Revokes its tokens and ends an open alarm (`monitor.alarm_closed`). The cleanup deletes its
   * samples, which no later monitor of this source can access.
   * @throws ServiceError not_found, insufficient_scope
   */
  async remove(name: string, caller: WatchdogCaller): Promise<string> {
    for (;;) {
      const doc = await this.getMonitor(name, caller);
      const { ids, clock, monitors, tokens, addresses } = this;
      await tokens.revokeBySource(doc.source);
      await addresses.remove({ source: doc.source });
      if (doc.state === 'down') await this.#releaseSuppressed();
      const now = clock.now();
      const cutOff = await this.alarms.markSubtreeForRelease(doc.source, now);
      const changeSet = new MonitorChangeSet(doc, ids, now).closeAlarm().assign({
        deleted_at: clock.iso(),
        managed: null,
      });
      const same = { id: doc.id, rev: doc.rev };
      const quiet = changeSet.entries.length === 0 && doc.outbox_at === null;
      const gone = quiet
        ? (await monitors.remove(same)) > 0
        : (await monitors.change(same, changeSet.toUpdate())) !== null;
      if (!gone) continue;
      await this.maintenance.removeMonitor(doc);
      await this.#endIncident(doc);
      if (!quiet) await this.outbox.flush([changeSet.next]);
      if (doc.state === 'down') await this.#releaseSuppressed();
      for (const one of cutOff) await this.alarms.reevaluateTree(one, now);
      return doc.source;
    }
  }

  /** After a crash the incident stays open until its retention ends. */
  async #endIncident({ incident_id, down_since_utc }: MonitorDoc): Promise<void> {
    if (typeof incident_id !== 'string') return;
    const { incidents, clock } = this;
    const ended_at = toIsoString(Math.max(clock.now(), Date.parse(down_since_utc ?? '') || 0));
    await incidents.change({ id: incident_id, ended_at: null }, { set: { ended_at } });
  }

  /**
   * Before and after a down monitor leaves a tree: delays whose suppressor recovered earlier start
   * then, the others now.
   */
  async #releaseSuppressed(): Promise<void> {
    await this.alarms.releaseAlarms(await this.alarms.findReleased(), this.clock.now());
  }

  /**
   * It may be missing, but not of another project.
   * @throws ServiceError conflict, insufficient_scope
   */
  async #checkParent(source: string, parent: string | null, caller: WatchdogCaller): Promise<void> {
    if (parent === null) return;
    if (parent === source) throw conflict('A monitor cannot be its own parent.');
    const found = await this.find(parent);
    if (found !== null) assertCanAccess(caller, found);
    const above = { source: `${source} `, parent_source: parent };
    const family = await this.ancestry.loadAncestors([above]);
    const chain = listAncestors(above, family);
    if (chain.some((ancestor) => ancestor.source === source || ancestor.parent_source === source)) {
      throw conflict(`${parent} is below ${source}: this would create a cycle.`);
    }
    if (chain.length >= MAX_TREE_DEPTH) throw conflict(`The hierarchy can be at most ${MAX_TREE_DEPTH} levels deep.`);
  }

  async #checkProject(slug: string | null | undefined): Promise<void> {
    if (slug === null || slug === undefined) return;
    if ((await this.projects.get(slug)) === null) throw unknownProject(slug);
  }
}

function resolveNames(fields: MonitorUpdate, doc: MonitorDoc): Partial<MonitorDoc> {
  const { name, group, ...rest } = { ...fields, ...toTimingFields(fields, doc) };
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return {
    ...given,
    ...(group !== undefined && { group: group ? true : null }),
    ...(name !== undefined && { name: name || doc.source }),
  };
}
