/**
 * The busiest path of the service (contract 30): a cached monitor or one lookup, one write that
 * compares `rev`, the response after the commit. A conflict is retried, so no heartbeat is lost.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import { toIsoString } from '../../../lib/time.js';
import type { MonitorState } from '../../../ports/domain/watchdog.js';
import { StoreConflict, type Update, type Collection } from '../../../ports/store/index.js';
import { GroupStateService } from '../group-states.js';
import { AncestryLoader } from '../tree/ancestry.js';
import { assertCanReport, assertCanAccess, type WatchdogCaller } from '../model/caller.js';
import { DEPS, type WatchdogConfig } from '../deps.js';
import { getRequestedState, type ReceivedHeartbeat } from './heartbeat.js';
import type { MonitorDoc, ChunkDoc, RollupDoc } from '../model/documents.js';
import { createMonitor, NO_MAINTENANCE } from '../model/monitor-view.js';
import { MonitorOutbox } from '../timeline/monitor-outbox.js';
import { MonitorQuota } from './monitor-quota.js';
import { RecentMonitorCache } from './recent-monitors.js';
import { getTimingChanges, getIntervalChanges, type Ping } from './ping.js';
import { endRun, type RunEndHeartbeat } from './run-end.js';
import { formatTransitionReason, formatWarningReason } from './heartbeat-reasons.js';
import { addStart } from '../model/run-times.js';
import { appendSamples, indexSamples } from '../metrics/sample-writer.js';
import { getMonitorId } from '../model/monitor-id.js';
import { relaxNextCheck, getIntervalSeconds, isInMaintenance, isSilenced, getLimits } from '../model/timing.js';
import { MonitorChangeSet } from '../model/monitor-change-set.js';
import { getCertificateLevel, formatCertificateReason } from '../model/certificate-expiry.js';
import type { MachineInventory } from '../../../ports/domain/machines/inventory.js';
import type { Ids } from '../../../ports/ids.js';
import type { Clock } from '../../../ports/clock.js';

export interface HeartbeatResult {
  created: boolean;
  source: string;
  state: MonitorState;
  previous_state: MonitorState | null;
  changed: boolean;
  effective_interval_seconds: number;
  warn_after: string;
  down_after: string;
  server_time: string;
  accepted_metrics: number;
  dropped_metrics: string[];
  warnings: string[];
}

interface MonitorWrite {
  changeSet: MonitorChangeSet;
  update: Update;
}

interface PreparedHeartbeat extends MonitorWrite {
  accepted: number;
  dropped: string[];
}

@injectable()
export class HeartbeatIntake {
  readonly #mutex = new KeyedMutex();
  readonly #recent = new RecentMonitorCache();
  #acceptedCount = 0;

  constructor(
    @inject(DEPS.monitors) private readonly monitors: Collection<MonitorDoc>,
    @inject(DEPS.chunks) private readonly chunks: Collection<ChunkDoc>,
    @inject(DEPS.rollups) private readonly rollups: Collection<RollupDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.config) private readonly config: WatchdogConfig,
    @inject(DEPS.machines) private readonly machines: () => MachineInventory | undefined,
    @inject(AncestryLoader) private readonly ancestry: AncestryLoader,
    @inject(MonitorOutbox) private readonly outbox: MonitorOutbox,
    @inject(MonitorQuota) private readonly quota: MonitorQuota,
    @inject(GroupStateService) private readonly groups: GroupStateService,
  ) {}

  get acceptedCount(): number {
    return this.#acceptedCount;
  }

  /**
   * Resolves after the commit.
   * @param ping null for heartbeats of the HTTP API
   * @throws ServiceError source_mismatch (before any lookup), insufficient_scope, validation_failed
   *   (too many monitors)
   */
  async recordHeartbeat(
    heartbeat: ReceivedHeartbeat,
    caller: WatchdogCaller,
    ping: Ping | null = null,
  ): Promise<HeartbeatResult> {
    const result = await this.#process(heartbeat, caller, ping, true);
    return result as HeartbeatResult;
  }

  /** Returns false without creating a missing monitor. */
  async recordIfExists(heartbeat: ReceivedHeartbeat, caller: WatchdogCaller): Promise<boolean> {
    return (await this.#process(heartbeat, caller, null, false)) !== null;
  }

  async #process(
    heartbeat: ReceivedHeartbeat,
    caller: WatchdogCaller,
    ping: Ping | null,
    creates: boolean,
  ): Promise<HeartbeatResult | null> {
    assertCanReport(caller, heartbeat.source);
    const { source } = heartbeat;
    return this.#mutex.run(source, async () => {
      // A project token is checked against the current monitor.
      let known = caller.project === null ? this.#recent.get(source) : undefined;
      for (;;) {
        const doc = known ?? (await this.monitors.get(getMonitorId(source)));
        if (!creates && (doc === null || doc.deleted_at !== null)) return null;
        const result = await this.#attempt(doc, heartbeat, caller, ping);
        if (result !== null) return result;
        this.#recent.delete(source);
        known = undefined;
      }
    });
  }

  /**
   * The state stays unchanged.
   * @throws as `recordHeartbeat`
   */
  recordRunStart(source: string, caller: WatchdogCaller, ping: Ping): Promise<void> {
    return this.#writeFields(source, caller, (doc, now) => ({
      starts: addStart(doc.starts, ping.run ?? '', now),
      ...getTimingChanges(doc, ping),
    }));
  }

  /**
   * Creates it with the state unknown.
   * @throws as `recordHeartbeat`
   */
  ensureMonitor(source: string, caller: WatchdogCaller, ping: Ping): Promise<void> {
    return this.#writeFields(source, caller, (doc) => getTimingChanges(doc, ping));
  }

  /**
   * Writes fields without a heartbeat.
   * @param fields returns null when an existing monitor needs no write
   */
  async #writeFields(
    source: string,
    caller: WatchdogCaller,
    fields: (doc: MonitorDoc, now: number) => Partial<MonitorDoc> | null,
  ): Promise<void> {
    assertCanReport(caller, source);
    await this.#mutex.run(source, async () => {
      for (let written = false; !written;) {
        const now = this.clock.now();
        const doc = await this.monitors.get(getMonitorId(source));
        const { before, alive } = this.#getOrCreate(doc, source, caller, now, true);
        const set = fields(before, now);
        if (alive && set === null) return;
        const changeSet = new MonitorChangeSet(before, this.ids, now).assign(set ?? {});
        written = await this.#store(doc, alive, caller, { changeSet, update: changeSet.toUpdate() });
        this.#recent.delete(source);
      }
    });
  }

  /**
   * A new one has its initial state.
   * @throws ServiceError insufficient_scope
   */
  #getOrCreate(
    doc: MonitorDoc | null,
    source: string,
    caller: WatchdogCaller,
    now: number,
    learns: boolean,
  ): { before: MonitorDoc; alive: boolean } {
    if (doc !== null && doc.deleted_at === null) {
      assertCanAccess(caller, doc);
      return { before: doc, alive: true };
    }
    const fresh: MonitorDoc = {
      ...createMonitor({ source, project: caller.project }, this.ids, now),
      created_by_token: caller.token,
      ...(learns && { learns_interval: true }),
    };
    return { before: doc === null ? fresh : reviveMonitor(doc, fresh), alive: false };
  }

  /**
   * Returns false after a concurrent write.
   * @throws ServiceError validation_failed
   */
  #store(doc: MonitorDoc | null, alive: boolean, caller: WatchdogCaller, write: MonitorWrite): Promise<boolean> {
    if (alive && doc !== null) return this.#change(doc, write, true);
    return this.quota.createWithinQuota(caller, () =>
      doc === null ? this.#insert(write) : this.#change(doc, write, false),
    );
  }

  /**
   * Null after a concurrent write.
   * @param doc the cached monitor
   */
  async #attempt(
    doc: MonitorDoc | null,
    heartbeat: ReceivedHeartbeat,
    caller: WatchdogCaller,
    ping: Ping | null,
  ): Promise<HeartbeatResult | null> {
    const now = this.clock.now();
    const { before, alive } = this.#getOrCreate(doc, heartbeat.source, caller, now, ping !== null);
    const beat = endRun(heartbeat, before, ping?.run ?? null, now);
    const attempt = await this.#prepare(before, beat, now, alive, ping);
    if (!(await this.#store(doc, alive, caller, attempt))) return null;
    const { changeSet } = attempt;
    if (changeSet.entries.length > 0) {
      await this.outbox.flush([changeSet.next]);
      this.groups.refreshLater([changeSet.next]);
    }
    const { next } = changeSet;
    this.#recent.set(next);
    this.#recordMachine(next, heartbeat.instance_id);
    this.#acceptedCount += 1;
    const { warn, down } = getLimits(next, now);
    const interval = next.schedule || next.period_seconds ? (warn - now) / 1000 : getIntervalSeconds(next);
    return {
      created: !alive,
      source: next.source,
      state: next.state,
      previous_state: alive ? before.state : null,
      changed: !alive || before.state !== next.state,
      effective_interval_seconds: interval,
      warn_after: toIsoString(warn),
      down_after: toIsoString(down),
      server_time: changeSet.at,
      accepted_metrics: attempt.accepted,
      dropped_metrics: attempt.dropped,
      warnings: heartbeat.warnings,
    };
  }

  #recordMachine({ source, project, name, app_version: version }: MonitorDoc, instance_id: string | null): void {
    if (project === null || (version === null && instance_id === null)) return;
    const about = { instance_id, name, version, channel: null, platform: null, license_id: null };
    this.machines()?.record({ source: 'heartbeat', project, key: source, ...about });
  }

  async #prepare(
    before: MonitorDoc,
    heartbeat: RunEndHeartbeat,
    now: number,
    alive: boolean,
    ping: Ping | null,
  ): Promise<PreparedHeartbeat> {
    const { config, ids } = this;
    const changeSet = new MonitorChangeSet(before, ids, now);
    const held = isInMaintenance(before, now);
    const was = held ? before.held_state : before.state;
    const stays = heartbeat.unsure === true && was === 'down';
    const state = stays ? 'down' : getRequestedState(heartbeat, config.error_status_is_down);
    const { names, pairs, dropped } = indexSamples(before.names, heartbeat.samples);
    changeSet.assign({
      last_heartbeat_at: changeSet.at,
      beat_interval: heartbeat.interval,
      last_status: heartbeat.status,
      message: heartbeat.message,
      ...((heartbeat.exit_code ?? null) !== (before.exit_code ?? null) && { exit_code: heartbeat.exit_code ?? null }),
      ...((heartbeat.probed === true) !== (before.probed === true) && { probed: heartbeat.probed === true }),
      checks: heartbeat.checks,
      metrics_json: heartbeat.metrics_json,
      app_version: heartbeat.app_version ?? before.app_version,
      os: heartbeat.os ?? before.os,
      // Heartbeats of its own end a group.
      ...(before.group === true && { group: null }),
      ...(heartbeat.starts !== undefined && { starts: heartbeat.starts }),
      ...(names !== null && { names }),
      ...getIntervalChanges(before, heartbeat, ping, now),
    });
    if (!held && typeof before.maintenance_id === 'string') changeSet.assign(NO_MAINTENANCE);
    if (held) changeSet.setHeldState(state);
    else if (state === 'down' && before.state !== 'down') {
      changeSet.setDown(now, 'Reported an error', heartbeat.message);
      changeSet.raiseAlarm(await this.ancestry.findSuppressor(before), heartbeat);
    } else changeSet.setState(state, formatTransitionReason(state, heartbeat, alive));
    if (!held) await this.#notify(changeSet, heartbeat);
    await appendSamples({ chunks: this.chunks, rollups: this.rollups }, changeSet.next, pairs, now);
    return {
      changeSet,
      update: changeSet.toUpdate(relaxNextCheck(changeSet.next, before)),
      accepted: pairs.length,
      dropped: [...heartbeat.dropped, ...dropped],
    };
  }

  async #notify(changeSet: MonitorChangeSet, { certificate, ...heartbeat }: ReceivedHeartbeat): Promise<void> {
    const { before, next } = changeSet;
    const { days_left = 0, expires_at = '', warn_days = 0 } = certificate ?? {};
    const known = before.certificate_level ?? 0;
    const level = certificate === undefined ? known : getCertificateLevel(days_left, warn_days);
    // The first probe after a silence reports the level.
    if (level !== known && !isSilenced(before, Date.parse(changeSet.at))) {
      if (level > known)
        changeSet.emitCertificateExpiring({ days_left, expires_at }, formatCertificateReason(days_left));
      changeSet.assign({ certificate_level: level });
    }
    // A retry may succeed; expiring certificates have their own event.
    const isReported = heartbeat.unsure === true || (level > 0 && heartbeat.status === 'ok');
    if (next.state !== 'warning' || before.state === 'warning' || isReported) return;
    if ((await this.ancestry.findSuppressor(before)) === null) changeSet.emitWarning(formatWarningReason(heartbeat));
  }

  async #insert({ changeSet }: MonitorWrite): Promise<boolean> {
    try {
      await this.monitors.insert(changeSet.next);
      return true;
    } catch (error) {
      if (error instanceof StoreConflict) return false;
      throw error;
    }
  }

  async #change(doc: MonitorDoc, { changeSet, update }: MonitorWrite, alive: boolean): Promise<boolean> {
    const written = alive ? update : { set: omitId(changeSet.next) };
    const { id, rev, series } = doc;
    const [result] = await this.monitors.bulk([{ change: { id, rev, series }, update: written }]);
    return result !== undefined && 'n' in result && result.n === 1;
  }
}

const reviveMonitor = (gone: MonitorDoc, fresh: MonitorDoc): MonitorDoc => ({
  ...fresh,
  rev: gone.rev,
  outbox: gone.outbox,
  outbox_at: gone.outbox_at,
});

function omitId({ id: _id, ...fields }: MonitorDoc): NonNullable<Update['set']> {
  return fields as unknown as NonNullable<Update['set']>;
}
