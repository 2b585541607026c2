/** Builds the plugin's services, each from what the ones before it offer. */
import type { Clock, PluginContext } from '../../kernel/contract.js';
import type { AuditLog } from '../../ports/domain/access.js';
import type { Authenticator } from '../../ports/http.js';
import { Alarms } from './evaluator/alarms.js';
import { Ancestry } from './monitors/ancestry.js';
import { Cleanup } from './evaluator/cleanup.js';
import type { Deps } from './deps.js';
import { Evaluator } from './evaluator/evaluator.js';
import { Histories } from './metrics/history.js';
import { Intake } from './heartbeat/intake.js';
import { EvaluatorLease } from './evaluator/evaluator-lease.js';
import { Monitors } from './monitors/monitors.js';
import { ALARMS, ANCESTRY, CLEANUP, DEPS, LEASE, OUTAGES, OUTBOX, RUNS, SERIES } from './names.js';
import { Outages } from './evaluator/outages.js';
import { Outbox } from './timeline/outbox.js';
import { Runs } from './evaluator/runs.js';
import { Series } from './metrics/series.js';
import { Status } from './monitors/status.js';
import { Timeline } from './timeline/timeline.js';

export interface Services {
  intake: Intake;
  evaluator: Evaluator;
  monitors: Monitors;
  timeline: Timeline;
  histories: Histories;
  series: Series;
  status: Status;
  runs: Runs;
  outages: Outages;
  outbox: Outbox;
  audit: Pick<AuditLog, 'record'>;
  tokens: Deps['tokens'];
  authenticator: Authenticator;
  ancestry: Ancestry;
  clock: Clock;
  /** `server.base_url`; with a free port it is known only once the server listens. */
  baseUrl: () => string;
  /** Counts a heartbeat, for Prometheus. */
  beats: () => void;
}

/** @param scope the plugin's own container */
export function buildServices(
  scope: Pick<PluginContext, 'bind' | 'construct'>,
  deps: Deps,
  more: Pick<Services, 'authenticator' | 'baseUrl' | 'beats'>,
): Services {
  const make = <T>(name: string, type: new (...args: never[]) => T): T => {
    const service = scope.construct(type);
    scope.bind(name, service);
    return service;
  };
  scope.bind(DEPS, deps);
  const ancestry = make(ANCESTRY, Ancestry);
  const outbox = make(OUTBOX, Outbox);
  const outages = make(OUTAGES, Outages);
  const runs = make(RUNS, Runs);
  make(LEASE, EvaluatorLease);
  make(CLEANUP, Cleanup);
  make(ALARMS, Alarms);
  const series = make(SERIES, Series);
  return {
    ancestry,
    clock: deps.clock,
    outbox,
    outages,
    runs,
    series,
    intake: scope.construct(Intake),
    evaluator: scope.construct(Evaluator),
    monitors: scope.construct(Monitors),
    timeline: scope.construct(Timeline),
    histories: scope.construct(Histories),
    status: scope.construct(Status),
    audit: deps.audit,
    tokens: deps.tokens,
    ...more,
  };
}
