/** Describes health checks, jobs and migrations in words. */
import { capitalize } from '../../lib/sentence.js';
import type { JobInfo } from '../../ports/jobs.js';
import type { PluginState } from '../../ports/domain/system.js';
import type { HealthReport } from './health-report.js';
import { formatJobLabel } from './job-labels.js';

/** Part of a sentence; at most one value stands between `before` and `after`. */
export interface CheckDetail {
  before?: string;
  at?: string;
  seconds?: number;
  bytes?: number;
  after?: string;
}

const CHECK_LABELS: Readonly<Record<string, string>> = {
  evaluator: 'Monitor checks',
  proxies: 'Reverse proxies',
  webhooks: 'Webhooks',
};

export const formatCheckLabel = (name: string): string => CHECK_LABELS[name] ?? capitalize(name.replaceAll('_', ' '));

const PROTECTION_SENTENCES: Readonly<Record<string, string>> = {
  protected: 'Downloads require a license key or account',
  open: 'Anyone can download releases',
  inconclusive: 'Self-test inconclusive',
  no_packages: 'No packages to protect yet',
  not_tested: 'Self-test not run yet',
};

const isNumber = (value: unknown): value is number => typeof value === 'number';
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const formatCount = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

const toName = (value: unknown): string =>
  typeof value === 'object' && value !== null && 'name' in value ? String(value.name) : String(value);

type Checks = HealthReport['checks'];
type CheckFormatters = { [K in Exclude<keyof Checks, 'plugins'>]: (check: Checks[K]) => CheckDetail[] };

const FORMATTERS: CheckFormatters = {
  database: ({ latency_ms, processes, integrity }) => [
    ...(latency_ms === null ? [] : [{ before: `Answers in ${latency_ms} ms` }]),
    ...(processes > 1 ? [{ before: formatCount(processes, 'process', 'processes') }] : []),
    ...(isText(integrity?.checked_at)
      ? [{ before: integrity.ok === false ? 'Damage found' : 'No damage found', at: integrity.checked_at }]
      : []),
  ],
  evaluator: ({ last_run_at }) => (isText(last_run_at) ? [{ before: 'Last run', at: last_run_at }] : []),
  jobs: ({ running, failing, ahead }) => [
    { before: running === 0 ? 'None running' : `${running} running` },
    ...(failing.length > 0 ? [{ before: `Failing: ${failing.map(formatJobLabel).join(', ')}` }] : []),
    ...(ahead.length > 0 ? [{ before: `Last run in the future: ${ahead.map(formatJobLabel).join(', ')}` }] : []),
  ],
  webhooks: ({ queued, oldest_age_seconds, disabled }) => [
    ...(isNumber(queued)
      ? [
          {
            before: queued === 0 ? 'No deliveries waiting' : `${formatCount(queued, 'delivery', 'deliveries')} waiting`,
          },
        ]
      : []),
    ...(isNumber(oldest_age_seconds) ? [{ before: 'oldest', seconds: oldest_age_seconds }] : []),
    ...(Array.isArray(disabled) && disabled.length > 0
      ? [{ before: `Disabled: ${disabled.map(toName).join(', ')}` }]
      : []),
  ],
  release_store: ({ protection, last_selftest_at }) => [
    ...(isText(protection) ? [{ before: PROTECTION_SENTENCES[protection] ?? capitalize(protection) }] : []),
    ...(isText(last_selftest_at) ? [{ before: 'Self-test', at: last_selftest_at }] : []),
  ],
  backups: (check) => {
    const { last_at } = check;
    const { last_bytes: bytes } = check as { last_bytes?: unknown };
    if (!isText(last_at)) return [];
    return [{ before: 'Last backup', at: last_at }, ...(isNumber(bytes) ? [{ bytes }] : [])];
  },
  disk: ({ free_bytes }) => (free_bytes === null ? [] : [{ bytes: free_bytes, after: 'free' }]),
  clock: ({ ok, ahead_seconds, cleaning_waits_seconds }) => [
    ...(ok ? [{ before: 'Correct' }] : []),
    ...(!ok && isNumber(ahead_seconds) ? [{ before: 'Jumped ahead by', seconds: ahead_seconds }] : []),
    ...(!ok && isNumber(cleaning_waits_seconds)
      ? [{ before: 'Clean-up resumes in', seconds: cleaning_waits_seconds }]
      : []),
  ],
  proxies: ({ unlisted }) =>
    unlisted.length === 0
      ? [{ before: 'No unlisted proxies' }]
      : [
          { before: `Forwarded addresses came from ${unlisted.join(', ')}` },
          { before: 'List your own proxies in server.trusted_proxies' },
        ],
};

/** Describes what a check found; empty for a part that is not installed. */
export function describeCheck({ checks }: HealthReport, name: string): CheckDetail[] {
  const format = FORMATTERS[name as keyof CheckFormatters] as ((check: object) => CheckDetail[]) | undefined;
  const check = checks[name as keyof CheckFormatters];
  // The error of a driver is its class alone.
  const error = isText(check.error)
    ? [{ before: check.error.includes(' ') ? capitalize(check.error) : 'No answer' }]
    : [];
  return [...error, ...(format?.(check) ?? [])];
}

/** `Store maps as bytes` for `sourcemaps:002-store-maps-as-bytes`. */
export function formatMigrationLabel(id: string): string {
  const name = id.slice(id.indexOf(':') + 1);
  return name.startsWith('indexes-') ? 'Indexes' : capitalize(name.replace(/^\d+-/, '').replaceAll('-', ' '));
}

/** Title of the plugin whose id begins a name. */
export function findOwnerTitle(name: string, plugins: readonly Pick<PluginState, 'id' | 'title'>[]): string {
  const id = /^[a-z0-9]+/.exec(name)?.[0] ?? name;
  return plugins.find((plugin) => plugin.id === id)?.title ?? (id === 'kernel' ? 'AOS' : capitalize(id));
}

const WEEKDAYS = ['Sundays', 'Mondays', 'Tuesdays', 'Wednesdays', 'Thursdays', 'Fridays', 'Saturdays', 'Sundays'];

/** `Sundays at 03:10 UTC`; null for a schedule that is no daily or weekly one. */
export function formatDailyCron(cron: JobInfo['cron']): string | null {
  const [, minute = '', hour = '', day = ''] = /^(\d{1,2}) (\d{1,2}) \* \* ([0-7]|\*)$/.exec(cron ?? '') ?? [];
  if (day === '') return null;
  return `${day === '*' ? 'Daily' : WEEKDAYS[Number(day)]} at ${hour.padStart(2, '0')}:${minute.padStart(2, '0')} UTC`;
}

const ENGINE_NAMES: Readonly<Record<string, string>> = { sqlite: 'SQLite (embedded)', mongodb: 'MongoDB' };

export const formatEngine = (engine: string): string => ENGINE_NAMES[engine] ?? engine;
