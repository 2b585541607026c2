/** A system that answers what a test wants, and the services of the health plugin over it. */
import type { Principal } from '../../../ports/http/index.js';
import type { AuditLog, AuditQuery, AuditReader } from '../../../ports/domain/audit.js';
import type { RunRecord } from '../../../ports/domain/watchdog.js';
import type { SystemInfo } from '../../../ports/domain/system.js';
import type { HttpRequest, Logger } from '../../../kernel/contract/index.js';
import type { JobInfo } from '../../../ports/jobs.js';
import type { Metrics } from '../../../ports/metrics.js';
import { MigrationRunner } from '../../../plugins/health/migration-runner.js';
import { HealthService } from '../../../plugins/health/health-service.js';

export const NOW = Date.parse('2026-11-20T08:15:30.123Z');
export const SHARED: Principal = { kind: 'shared_key' };
export const session = (role: 'admin' | 'member'): Principal => ({
  kind: 'session',
  session_id: 's',
  account_id: 'a',
  username: role,
  role,
});

export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

export function job(name: string, more: Partial<JobInfo> = {}): JobInfo {
  return {
    name,
    every_ms: 60_000,
    cron: null,
    running: false,
    last_run_at: null,
    last_finished_at: null,
    next_run_at: null,
    fail_count: 0,
    fail_reason: null,
    ...more,
  };
}

export function fakeSystem(more: Partial<SystemInfo> = {}): SystemInfo {
  return {
    version: '1.2.3',
    node: 'v20.19.5',
    started_at: '2026-11-20T08:15:00.000Z',
    engine: 'memory',
    processes: {
      getSelf: () => Promise.resolve({ host: 'test', pid: 1, started: null }),
      isDead: () => Promise.resolve(false),
    },
    listPlugins: () => [
      {
        id: 'health',
        title: 'Health',
        version: '1.0.0',
        critical: true,
        decides_health: false,
        state: 'ready',
        reason: null,
      },
    ],
    checkHealth: () => Promise.resolve({}),
    pingStore: () => Promise.resolve(0.4242),
    getStoreBytes: () => Promise.resolve(1024),
    canExamineStore: true,
    examineStore: () => Promise.resolve({ ok: true, documents: 7, damage: [], more: 0 }),
    listDamage: () => [],
    getFreeBytes: () => Promise.resolve(10 ** 10),
    listUnlistedProxies: () => [],
    countProcesses: () => 1,
    checkClock: () => Promise.resolve({ believed: true, leapt: false, ahead_seconds: 0, believed_in_seconds: 0 }),
    listMigrations: () =>
      Promise.resolve({
        applied: [{ id: 'bugs:001-a', applied_at: '2026-11-20T08:00:00.000Z', version: '1.0.0' }],
        pending: [],
        current: 'bugs:001-a',
      }),
    migrate: () => Promise.resolve({ applied: [], pending: [] }),
    listScopes: () => [],
    listEvents: () => [],
    getOpenApi: async () => ({ openapi: '3.1.0', paths: {} }),
    listPages: () => [],
    getTools: () => ({ list: () => [], call: () => Promise.resolve(null) }),
    ...more,
  };
}

/** A clock that only the test moves. */
export function fakeClock(): { now(): number; iso(): string; monotonic(): number; epoch: string; ms: number } {
  return {
    ms: NOW,
    epoch: 'test',
    now() {
      return this.ms;
    },
    iso() {
      return new Date(this.ms).toISOString();
    },
    monotonic() {
      return this.ms;
    },
  };
}

export interface Recorded {
  by: unknown;
  action: string;
  target: string;
  details: unknown;
}

export function fixtureOf(system: SystemInfo, jobs: readonly JobInfo[] = []) {
  const clock = fakeClock();
  const recorded: Recorded[] = [];
  const audit: AuditLog = {
    record: (by, action, target, details) => {
      recorded.push({ by, action, target, details });
      return Promise.resolve();
    },
    listByTarget: () => Promise.resolve({ items: [], next: null }),
    listRecent: (limit, after) =>
      Promise.resolve({
        items: [
          {
            id: '1',
            at: clock.iso(),
            actor: 'admin',
            action: 'project.created',
            target: '<shop>',
            details: { name: 'Shop', setup_scopes: 'none' },
            before: { cache_ttl_hours: 72, archived: false },
            after: { cache_ttl_hours: 24, archived: true },
          },
        ],
        next: `${limit}:${after ?? ''}`,
      }),
  };
  const requested: AuditQuery[] = [];
  const reader: AuditReader = {
    search: (query, limit, after) => {
      requested.push(query);
      return audit.listRecent(limit, after);
    },
    describeTarget: ({ target }) =>
      Promise.resolve({ name: `the ${target}`, href: `/projects/${encodeURIComponent(target)}` }),
  };
  const runs: RunRecord[] = [];
  const watchdog = () => ({ listRuns: () => Promise.resolve(runs) });
  const list = { list: () => Promise.resolve([...jobs]) };
  const metrics: Metrics = {
    counter: () => ({ inc() {} }),
    gauge() {},
    gauges() {},
    histogram: () => ({ observe() {} }),
    render: () => Promise.resolve('aos_ready 1\n'),
  };
  const health = new HealthService(
    system,
    system,
    list,
    clock,
    { min_free_bytes: 1_000_000 },
    {
      getStatus: () => Promise.resolve(null),
    },
  );
  const run = new MigrationRunner(system, system, audit, clock, silent);
  return {
    system,
    catalog: system,
    runtime: system,
    schema: system,
    clock,
    timezone: 'UTC',
    recorded,
    audit,
    reader,
    asked: requested,
    runs,
    watchdog,
    jobs: list,
    metrics,
    health,
    run,
  };
}

export function request(principal: Principal, more: Partial<HttpRequest> = {}): HttpRequest {
  return {
    id: 'request-1',
    method: 'GET',
    reauthorize: async () => undefined,
    path: '/',
    params: {},
    query: {},
    body: null,
    headers: {},
    principal,
    address: '127.0.0.1',
    warnings: [],
    cookies: {},
    signal: new AbortController().signal,
    waiting: new AbortController().signal,
    ...more,
  };
}
