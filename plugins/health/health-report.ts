/**
 * Missing modules are `ok` with `state (contract 95): 'not_installed'`, so that monitoring need not
 * know which version has which check.
 */
import type { HealthResult } from '../../kernel/contract/index.js';
import { MAX_AHEAD_MS } from '../../lib/clock-skew.js';
import type { IntegrityStatus } from './integrity-checker.js';
import type { JobInfo } from '../../ports/jobs.js';
import type { ClockState, PluginState } from '../../ports/domain/system.js';

/** Results of all checks; `error` for a check that failed. */
export interface HealthFindings {
  database: { latency_ms: number } | { error: string };
  peers: number;
  schema: { current: string | null; pending: readonly string[] } | { error: string };
  integrity: IntegrityStatus | null;
  free_bytes: number | null;
  clock: ClockState | null;
  /** Untrusted addresses that send `X-Forwarded-For`. */
  unlisted_proxies: readonly string[];
  jobs: readonly JobInfo[] | { error: string };
  plugins: readonly PluginState[];
  own: Readonly<Record<string, HealthResult>>;
}

interface HealthCheck {
  ok: boolean;
  state?: string;
  error?: string;
}

export interface PluginCheck {
  state: string;
  reason: string | null;
  ok: boolean;
  [detail: string]: unknown;
}

export interface HealthReport {
  healthy: boolean;
  version: string;
  time: string;
  uptime_seconds: number;
  schema: { current: string | null; pending: readonly string[]; error?: string };
  checks: {
    /** `processes` is the number that serves it and shares the limits. */
    database: HealthCheck & { latency_ms: number | null; processes: number; integrity?: IntegrityStatus };
    evaluator: HealthCheck & { last_run_at: unknown; age_seconds: unknown };
    /** `ahead`: jobs whose last run lies in the future, because the clock moved backwards. */
    jobs: HealthCheck & { running: number; failing: string[]; ahead: string[] };
    webhooks: HealthCheck & { queued: unknown; oldest_age_seconds: unknown; disabled: unknown };
    release_store: HealthCheck & { protection: unknown; last_selftest_at: unknown };
    backups: HealthCheck & { last_at: unknown; path: unknown };
    disk: HealthCheck & { free_bytes: number | null };
    /** Not ok after the clock jumped ahead. */
    clock: HealthCheck & { ahead_seconds: number | null; cleaning_waits_seconds: number | null };
    /** Not ok: clients behind these proxies may share one address and its limits. */
    proxies: HealthCheck & { unlisted: readonly string[]; mend: string | null };
    plugins: Record<string, PluginCheck>;
  };
}

function toPluginHealthCheck<K extends string>(
  id: string,
  fields: Record<K, unknown>,
  { plugins, own }: HealthFindings,
): HealthCheck & Record<K, unknown> {
  const plugin = plugins.find((p) => p.id === id);
  if (!plugin) return { ok: true, state: 'not_installed', ...fields };
  if (plugin.state === 'off') return { ok: true, state: 'off', ...fields };
  if (plugin.state === 'starting') return { ok: true, state: 'starting', ...fields };
  if (plugin.state !== 'ready') return { ok: false, state: plugin.state, ...fields };
  return { ...fields, ...(own[id] ?? { ok: true }) };
}

function toPluginCheck({ id, state, reason }: PluginState, { own }: HealthFindings): PluginCheck {
  const finding = state === 'ready' ? own[id] : undefined;
  return { ...finding, state, reason, ok: finding?.ok ?? state !== 'failed' };
}

function toJobsCheck(jobs: HealthFindings['jobs'], now: number): HealthReport['checks']['jobs'] {
  if ('error' in jobs) return { ok: false, running: 0, failing: [], ahead: [], error: jobs.error };
  const failing = jobs.filter((job) => job.fail_reason !== null).map((job) => job.name);
  const late = (at: string | null): boolean => at !== null && Date.parse(at) > now + MAX_AHEAD_MS;
  const ahead = jobs.filter((job) => late(job.last_run_at) || late(job.last_finished_at)).map((job) => job.name);
  const running = jobs.filter((job) => job.running).length;
  return { ok: failing.length === 0 && ahead.length === 0, running, failing, ahead };
}

const toProxiesCheck = (unlisted: readonly string[]): HealthReport['checks']['proxies'] => ({
  ok: unlisted.length === 0,
  unlisted,
  mend:
    unlisted.length === 0
      ? null
      : 'X-Forwarded-For was received from these: list your own proxies in server.trusted_proxies, or their clients share one limit',
});

const toClockCheck = (clock: ClockState | null): HealthReport['checks']['clock'] => ({
  ok: clock !== null && !clock.leapt,
  ahead_seconds: clock?.ahead_seconds ?? null,
  cleaning_waits_seconds: clock?.believed_in_seconds ?? null,
});

/**
 * `healthy` requires database and evaluator ok, no pending migrations (contract 95), and every
 * plugin ok whose manifest makes its health critical.
 */
export function buildHealthReport(
  findings: HealthFindings,
  about: { version: string; time: string; uptime_seconds: number; min_free_bytes: number },
): HealthReport {
  const { database, schema, free_bytes, integrity } = findings;
  const stored = { processes: findings.peers, ...(integrity !== null && { integrity }) };
  const db: HealthReport['checks']['database'] =
    'error' in database
      ? { ok: false, latency_ms: null, error: database.error, ...stored }
      : { ok: true, ...database, ...stored, ...(integrity?.ok === false && { state: 'damaged' }) };
  const evaluator = toPluginHealthCheck('watchdog', { last_run_at: null, age_seconds: null }, findings);
  const known = !('error' in schema);
  const plugins = Object.fromEntries(findings.plugins.map((plugin) => [plugin.id, toPluginCheck(plugin, findings)]));
  const decided = findings.plugins.every(({ id, decides_health }) => !decides_health || plugins[id]?.ok !== false);
  return {
    healthy: db.ok && evaluator.ok && known && schema.pending.length === 0 && decided,
    version: about.version,
    time: about.time,
    uptime_seconds: about.uptime_seconds,
    schema: known
      ? { current: schema.current, pending: schema.pending }
      : { current: null, pending: [], error: schema.error },
    checks: {
      database: db,
      evaluator,
      jobs: toJobsCheck(findings.jobs, Date.parse(about.time)),
      webhooks: toPluginHealthCheck('webhooks', { queued: 0, oldest_age_seconds: null, disabled: [] }, findings),
      release_store: toPluginHealthCheck('releases', { protection: null, last_selftest_at: null }, findings),
      backups: toPluginHealthCheck('backups', { last_at: null, path: null }, findings),
      disk: { ok: free_bytes !== null && free_bytes >= about.min_free_bytes, free_bytes },
      clock: toClockCheck(findings.clock),
      proxies: toProxiesCheck(findings.unlisted_proxies),
      plugins,
    },
  };
}
