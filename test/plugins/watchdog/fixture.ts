/**
 * The services of the watchdog over a store of the test's choice, with a clock that the test moves.
 */
import { MemoryStore } from '../../../adapters/memory/store.js';
import { RandomIds } from '../../../adapters/node/ids.js';
import { ContainerScope } from '../../../kernel/container.js';
import type { WatchdogCaller } from '../../../plugins/watchdog/model/caller.js';
import { COLLECTIONS } from '../../../plugins/watchdog/collections.js';
import type { WatchdogDeps } from '../../../plugins/watchdog/deps.js';
import { parseHeartbeat, type HeartbeatBody } from '../../../plugins/watchdog/heartbeat/heartbeat.js';
import type { HeartbeatResult } from '../../../plugins/watchdog/heartbeat/heartbeat-intake.js';
import { toMonitorView } from '../../../plugins/watchdog/model/monitor-view.js';
import { buildServices, type WatchdogServices } from '../../../plugins/watchdog/services.js';
import type {
  MonitorCertificateExpiring,
  MonitorEvent,
  MonitorWarning,
  MonitorView,
  RunRecord,
} from '../../../ports/domain/watchdog.js';
import type { ProcessOwner } from '../../../ports/processes.js';
import type { DocumentStore } from '../../../ports/store/index.js';
import { anonymousAuthenticator, RecordingLog } from '../../kit/fakes.js';
import { ManualClock } from '../../kit/clock.js';
import { liveTokens } from '../../support/fake-access.js';
import { PluginStores } from '../../support/stores.js';
import { toReplaceable } from '../../support/replaceable.js';

export const ANYONE: WatchdogCaller = { name: 'tester', token: null, project: null, source: null };

export interface Told<T = MonitorEvent> {
  id: string;
  event: string;
  at: string;
  data: T;
}

export interface Fixture extends WatchdogServices {
  store: DocumentStore;
  deps: WatchdogDeps;
  clock: ManualClock;
  log: RecordingLog;
  /** Every alarm and every end of one that was emitted, in order. */
  told: Told[];
  /** Every other event: warnings, and certificates near their end. */
  notices: Told<MonitorWarning & Partial<MonitorCertificateExpiring>>[];
  /** Sources whose tokens were revoked. */
  revoked: string[];
  /** Processes that are gone. */
  dead: Set<number>;
  beat(source: string, more?: Partial<HeartbeatBody>): Promise<HeartbeatResult>;
  /** One run; events that it caused have been told. @throws when the lease is held */
  evaluate(): Promise<RunRecord>;
  monitor(source: string): Promise<MonitorView>;
  /** Everything that goes on behind the answers has happened. */
  settled(): Promise<void>;
}

const STORE = new PluginStores('watchdog', COLLECTIONS);
export const { toStoredName: nameOf, ensureCollections } = STORE;

/** A process of its own over the store. @param change what is not as it should be */
export function fixtureOn(
  store: DocumentStore,
  clock = new ManualClock(),
  change: (deps: WatchdogDeps) => void = () => undefined,
  pid = 1,
): Fixture {
  const reported: Told[] = [];
  const notices: Fixture['notices'] = [];
  const revoked: string[] = [];
  const dead = new Set<number>();
  const log = new RecordingLog();
  const owner: ProcessOwner = { host: 'test', pid, started: null };
  const deps: WatchdogDeps = {
    machines: () => undefined,
    monitors: store.collection(nameOf('monitors')),
    chunks: store.collection(nameOf('chunks')),
    rollups: store.collection(nameOf('rollups')),
    timeline: store.collection(nameOf('timeline')),
    runs: store.collection(nameOf('runs')),
    leases: store.collection(nameOf('leases')),
    outages: store.collection(nameOf('outages')),
    marks: store.collection(nameOf('marks')),
    windows: store.collection(nameOf('windows')),
    incidents: store.collection(nameOf('incidents')),
    changes: store.collection(nameOf('changes')),
    addresses: store.collection(nameOf('addresses')),
    clock,
    ids: new RandomIds(clock),
    log,
    config: {
      scheduler: true,
      error_status_is_down: false,
      deferred_alarms: true,
      timeline_days: 90,
      monitor_metrics: false,
    },
    monitorsPerToken: 10_000,
    isClockTrusted: async () => true,
    processes: { getSelf: async () => owner, isDead: async (other) => dead.has(other.pid) },
    liveTokens,
    tokens: {
      revokeBySource: async (source) => {
        revoked.push(source);
        return 1;
      },
      issue: async () => ({ id: 'none', token: 'wd_live_none', expires_at: null }),
      revoke: async () => true,
      find: async () => null,
      list: async () => [],
    },
    audit: { record: async () => undefined },
    probes: () => null,
    receivers: () => [],
    isRejectingHeartbeats: () => false,
    projects: {
      list: async () => [],
      get: async (slug) =>
        slug === 'nowhere'
          ? null
          : {
              slug,
              name: slug,
              description: null,
              repo_url: null,
              number: 1,
              setup_scopes: [],
              cache_ttl_hours: 72,
              require_signed: false,
              archived: false,
            },
    },
    emit: async (event, data, { id, timestamp }) => {
      const isAlarm = ['monitor.down', 'monitor.recovered', 'monitor.alarm_closed'].includes(event);
      (isAlarm ? reported : notices).push({ id, event, at: timestamp, data: data as MonitorEvent });
      return true;
    },
  };
  change(deps);
  const services = buildServices(ContainerScope.createRoot({}), toReplaceable(deps), {
    authenticator: anonymousAuthenticator,
    baseUrl: () => 'http://aos.test',
    beats: () => undefined,
    brands: { find: async () => null },
    timezone: 'UTC',
  });
  return {
    ...services,
    store,
    deps,
    clock,
    log,
    told: reported,
    notices,
    revoked,
    dead,
    beat: (source, more = {}) => services.intake.recordHeartbeat(parseHeartbeat({ source, ...more }), ANYONE),
    evaluate: async () => {
      const done = await services.evaluator.evaluate('http');
      if (done === null) throw new Error('the lease is held');
      await services.groups.drain();
      await services.outbox.drain();
      return done.run;
    },
    monitor: async (source) => toMonitorView(await services.monitors.getMonitor(source, ANYONE)),
    settled: async () => {
      await services.groups.drain();
      await services.outbox.drain();
    },
  };
}

export async function memoryFixture(change?: (deps: WatchdogDeps) => void): Promise<Fixture> {
  return fixtureOn(await ensureCollections(new MemoryStore()), undefined, change);
}

/** The engines that the suites of this folder run on. */
export const STORES = STORE.all;

/** A collection of which some methods do something else; the store's own stays as it is. */
export function over<T extends object>(collection: T, methods: Partial<T>): T {
  return new Proxy(collection, {
    get(target, name) {
      const own = (methods as Record<PropertyKey, unknown>)[name];
      const value = own ?? (target as Record<PropertyKey, unknown>)[name];
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
