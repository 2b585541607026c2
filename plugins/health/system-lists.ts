/** /system/jobs and /system/plugins, for every user. */
import joi from 'joi';
import { createCsvFile, View, type PageSpec } from '../../kernel/contract/index.js';
import { formatCsvRecords } from '../../lib/text/csv.js';
import type { PluginState, ServiceRuntime } from '../../ports/domain/system.js';
import type { JobInfo, Jobs } from '../../ports/jobs.js';
import { describeCheck, findOwnerTitle, formatDailyCron, type CheckDetail } from './check-details.js';
import type { HealthReport, PluginCheck } from './health-report.js';
import { formatJobLabel } from './job-labels.js';
import type { HealthService } from './health-service.js';

export interface SystemListServices {
  health: Pick<HealthService, 'getReport'>;
  runtime: Pick<ServiceRuntime, 'listPlugins'>;
  jobs: Pick<Jobs, 'list'>;
}

export interface HealthFact {
  label: string;
  value: unknown;
  unit: 'ms' | 'bytes' | 'seconds' | 'at' | null;
}

export function toHealthFact(field: string, value: unknown): HealthFact {
  const unit = (/_(ms|bytes|seconds|at)$/.exec(field)?.[1] ?? null) as HealthFact['unit'];
  return { label: unit === null ? field : field.slice(0, -unit.length - 1), value, unit };
}

export interface JobRow extends JobInfo {
  label: string;
  owner: string;
  state: string;
  every_seconds: number | null;
  schedule: string | null;
}

export function toJobRow(job: JobInfo, plugins: readonly PluginState[]): JobRow {
  return {
    ...job,
    label: formatJobLabel(job.name),
    owner: findOwnerTitle(job.name, plugins),
    state: job.running
      ? 'running'
      : job.fail_reason !== null
        ? 'failed'
        : job.last_finished_at === null
          ? 'pending'
          : 'ok',
    every_seconds: job.every_ms === null ? null : job.every_ms / 1000,
    schedule: formatDailyCron(job.cron),
  };
}

export interface PluginRow extends PluginState {
  facts: HealthFact[];
  details: CheckDetail[];
  status: string;
}

/** Checks that describe a plugin in sentences, by its id. */
const OWN_CHECKS: Readonly<Record<string, string>> = {
  backups: 'backups',
  releases: 'release_store',
  watchdog: 'evaluator',
  webhooks: 'webhooks',
};

export function toPluginRow(plugin: PluginState, report: HealthReport): PluginRow {
  const found: Partial<PluginCheck> = report.checks.plugins[plugin.id] ?? {};
  const { ok = true, state: _state, reason: _reason, error, ...details } = found;
  const check = OWN_CHECKS[plugin.id];
  const facts = Object.entries(check === undefined ? details : {})
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .map(([label, value]) => toHealthFact(label, typeof value === 'boolean' ? (value ? 'yes' : 'no') : value));
  const isDegraded = plugin.state === 'ready' && !ok;
  return {
    ...plugin,
    reason: plugin.reason ?? (check === undefined && typeof error === 'string' ? error : null),
    status: isDegraded ? 'degraded' : plugin.state,
    facts,
    details: isDegraded && check !== undefined ? describeCheck(report, check) : [],
  };
}

const JOB_COLUMNS = [
  'name',
  'state',
  'every_ms',
  'cron',
  'last_run_at',
  'last_finished_at',
  'next_run_at',
  'fail_count',
  'fail_reason',
] as const satisfies readonly (keyof JobRow)[];
const PLUGIN_COLUMNS = [
  'id',
  'title',
  'status',
  'version',
  'critical',
  'reason',
] as const satisfies readonly (keyof PluginRow)[];

const input = { query: joi.object({ format: joi.string().valid('csv').empty('') }) };

export function buildSystemListPages({ health, runtime, jobs }: SystemListServices): PageSpec[] {
  const access = { session: 'member' } as const;
  const nav = { section: 'administration', group: 'system' } as const;
  return [
    {
      path: '/system/jobs',
      title: 'Jobs',
      nav: { ...nav, label: 'Jobs', icon: 'clock', order: 20, also: ['background', 'schedule', 'tasks'] },
      access,
      input,
      handle: async ({ query }) => {
        const plugins = runtime.listPlugins();
        const rows = (await jobs.list()).map((job) => toJobRow(job, plugins));
        if (query['format'] === 'csv') return createCsvFile('jobs', formatCsvRecords(JOB_COLUMNS, rows));
        const faults = rows.filter(({ state }) => state === 'failed').length;
        return new View('jobs', { jobs: rows, faults });
      },
    },
    {
      path: '/system/plugins',
      title: 'Plugins',
      nav: { ...nav, label: 'Plugins', icon: 'inbox', order: 30, also: ['extensions', 'modules', 'parts'] },
      access,
      input,
      handle: async ({ query }) => {
        const report = await health.getReport();
        const rows = runtime.listPlugins().map((plugin) => toPluginRow(plugin, report));
        if (query['format'] === 'csv') return createCsvFile('plugins', formatCsvRecords(PLUGIN_COLUMNS, rows));
        return new View('plugins', {
          plugins: rows.toSorted((a, b) => Number(a.status === 'ready') - Number(b.status === 'ready')),
          faults: rows.filter(({ status }) => status !== 'ready').length,
        });
      },
    },
  ];
}
