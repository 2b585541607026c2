/**
 * Heartbeats (contract 30): the busiest path of the service. The monitor as it was last written, or one look-up by primary
 * key; one write that compares `rev`; the answer after the commit. A heartbeat that meets another write of the same monitor looks again; it is never lost.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import { isoOf } from '../../../lib/time.js';
import type { MonitorState } from '../../../ports/domain/watchdog.js';
import { StoreConflict, type Update } from '../../../ports/store.js';
import { Ancestry } from '../monitors/ancestry.js';
import { mayReport, mayTouch, type Caller } from '../caller.js';
import { DEPS, type Deps } from '../deps.js';
import { stateOf, type Heartbeat } from './heartbeat.js';
import type { MonitorDoc } from '../model.js';
import { freshMonitor } from '../monitors/monitor.js';
import { Outbox } from '../timeline/outbox.js';
import { RecentMonitors } from './recent-monitors.js';
import { append, indexed } from '../metrics/samples.js';
import { idOf } from '../monitors/source.js';
import { eased, intervalOf, thresholds } from '../monitors/timing.js';
import { ChangeSet } from '../monitors/change-set.js';

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

interface Attempt {
  changeSet: ChangeSet;
  update: Update;
  accepted: number;
  dropped: string[];
}

@injectable()
export class Intake {
  readonly #mutex = new KeyedMutex();
  readonly #recent = new RecentMonitors();

  constructor(
    @inject(DEPS) private readonly deps: Deps,
    @inject(Ancestry) private readonly ancestry: Ancestry,
    @inject(Outbox) private readonly outbox: Outbox,
  ) {}

  /**
   * Takes a heartbeat; resolves after the commit.
   * @throws ServiceError source_mismatch (before any look-up), insufficient_scope
   */
  async beat(heartbeat: Heartbeat, caller: Caller): Promise<HeartbeatResult> {
    mayReport(caller, heartbeat.source);
    const { source } = heartbeat;
    return this.#mutex.run(source, async () => {
      // A token of a project is judged by the monitor as it is now.
      let known = caller.project === null ? this.#recent.get(source) : undefined;
      for (;;) {
        const doc = known ?? (await this.deps.monitors.get(idOf(source)));
        const beaten = await this.#attempt(doc, heartbeat, caller);
        if (beaten !== null) return beaten;
        this.#recent.forget(source);
        known = undefined;
      }
    });
  }

  /** Null: another write came between. @param doc what is known of the monitor */
  async #attempt(doc: MonitorDoc | null, heartbeat: Heartbeat, caller: Caller): Promise<HeartbeatResult | null> {
    const { clock, ids } = this.deps;
    const now = clock.now();
    const alive = doc !== null && doc.deleted_at === null;
    if (alive) mayTouch(caller, doc);
    const fresh = (): MonitorDoc => freshMonitor({ source: heartbeat.source, project: caller.project }, ids, now);
    const before = alive ? doc : doc === null ? fresh() : reborn(doc, fresh());
    const attempt = await this.#prepare(before, heartbeat, now, alive);
    const written = doc === null ? await this.#insert(attempt) : await this.#change(doc, attempt, alive);
    if (!written) return null;
    const { changeSet } = attempt;
    if (changeSet.entries.length > 0) await this.outbox.flush([changeSet.next]);
    const { next } = changeSet;
    this.#recent.keep(next);
    const interval = intervalOf(next);
    const { warn, down } = thresholds(now, interval);
    return {
      created: !alive,
      source: next.source,
      state: next.state,
      previous_state: alive ? before.state : null,
      changed: !alive || before.state !== next.state,
      effective_interval_seconds: interval,
      warn_after: isoOf(warn),
      down_after: isoOf(down),
      server_time: isoOf(now),
      accepted_metrics: attempt.accepted,
      dropped_metrics: attempt.dropped,
      warnings: heartbeat.warnings,
    };
  }

  async #prepare(before: MonitorDoc, heartbeat: Heartbeat, now: number, alive: boolean): Promise<Attempt> {
    const { config, ids } = this.deps;
    const changeSet = new ChangeSet(before, ids, now);
    const state = stateOf(heartbeat, config.error_status_is_down);
    if (state === 'down' && before.state !== 'down') {
      changeSet.down(now, 'Reported an error');
      const by = await this.ancestry.suppressor(before);
      if (by === null) changeSet.alarm(false);
      else changeSet.suppress(by);
    } else changeSet.to(state, messageOf(state, heartbeat, alive));
    const at = isoOf(now);
    const { names, pairs, dropped } = indexed(before.names, heartbeat.samples);
    changeSet.assign({
      last_heartbeat_at: at,
      beat_interval: heartbeat.interval,
      last_status: heartbeat.status,
      message: heartbeat.message,
      checks: heartbeat.checks,
      metrics_json: heartbeat.metrics_json,
      app_version: heartbeat.app_version ?? before.app_version,
      os: heartbeat.os ?? before.os,
      ...(names !== null && { names }),
    });
    await append(this.deps, changeSet.next, pairs, now);
    return {
      changeSet,
      update: changeSet.update(eased(changeSet.next, before)),
      accepted: pairs.length,
      dropped: [...heartbeat.dropped, ...dropped],
    };
  }

  async #insert({ changeSet }: Attempt): Promise<boolean> {
    try {
      await this.deps.monitors.insert(changeSet.next);
      return true;
    } catch (error) {
      if (error instanceof StoreConflict) return false;
      throw error;
    }
  }

  async #change(doc: MonitorDoc, { changeSet, update }: Attempt, alive: boolean): Promise<boolean> {
    const whole: Update = { set: fieldsOf(changeSet.next) };
    const [result] = await this.deps.monitors.bulk([
      { change: { id: doc.id, rev: doc.rev, series: doc.series }, update: alive ? update : whole },
    ]);
    return result !== undefined && 'n' in result && result.n === 1;
  }
}

function messageOf(state: MonitorState, { status, failed }: Heartbeat, alive: boolean): string {
  if (!alive) return 'First heartbeat';
  if (state === 'warning') return failed && status === 'ok' ? 'A check failed' : `Reported ${status}`;
  return state === 'up' ? 'Heartbeat' : `Announced ${status}`;
}

/** A source that comes back while its deletion still has something to tell: a new life, the old one's events kept. */
const reborn = (gone: MonitorDoc, fresh: MonitorDoc): MonitorDoc => ({
  ...fresh,
  rev: gone.rev,
  outbox: gone.outbox,
  outbox_at: gone.outbox_at,
});

function fieldsOf({ id: _id, ...fields }: MonitorDoc): NonNullable<Update['set']> {
  return fields as unknown as NonNullable<Update['set']>;
}
