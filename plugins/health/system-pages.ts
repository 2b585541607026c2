/** /migrations and /system (contract 80), for every user; only administrators run migrations. */
import { buildAuditPages, toAuditRow } from './audit-page.js';
import joi from 'joi';
import {
  createCsvFile,
  Redirect,
  View,
  type Clock,
  type HttpRequest,
  type PageSpec,
  type PanelSpec,
  type Reply,
} from '../../kernel/contract/index.js';
import { formatCsvRecords } from '../../lib/text/csv.js';
import type { AuditLog, AuditReader } from '../../ports/domain/audit.js';
import type { WatchdogApi } from '../../ports/domain/watchdog.js';
import type { Jobs } from '../../ports/jobs.js';
import type { ServiceMigrations, ServiceRuntime } from '../../ports/domain/system.js';
import type { MigrationRunner } from './migration-runner.js';
import type { HealthReport } from './health-report.js';
import type { HealthService } from './health-service.js';
import {
  describeCheck,
  findOwnerTitle,
  formatCheckLabel,
  formatEngine,
  formatMigrationLabel,
} from './check-details.js';
import {
  buildSystemListPages,
  toHealthFact,
  toJobRow,
  toPluginRow,
  type HealthFact,
  type PluginRow,
} from './system-lists.js';

export interface SystemPageServices {
  health: HealthService;
  run: MigrationRunner;
  runtime: ServiceRuntime;
  schema: ServiceMigrations;
  jobs: Pick<Jobs, 'list'>;
  audit: AuditLog;
  reader: AuditReader;
  clock: Pick<Clock, 'now'>;
  /** IANA name. */
  timezone: string;
  /** Undefined while the watchdog is disabled. */
  watchdog: () => Pick<WatchdogApi, 'listRuns'> | undefined;
}

const MAX_SHORT_RUN_MS = 1_500;
const MAX_AUDIT_ROWS = 8;
const MAX_RUN_ROWS = 8;
const MAX_SHOWN_MIGRATIONS = 10;

function isAdmin({ principal }: HttpRequest): boolean {
  return principal.kind === 'session' && principal.role === 'admin';
}

async function exportMigrations({ schema }: Pick<SystemPageServices, 'schema'>): Promise<Reply> {
  const { applied, pending } = await schema.listMigrations();
  const rows = [...applied, ...pending.map((id) => ({ id, applied_at: null, version: null }))];
  return createCsvFile('migrations', formatCsvRecords(['id', 'applied_at', 'version'], rows));
}

async function buildMigrationsView({ runtime, schema, run }: SystemPageServices, request: HttpRequest): Promise<View> {
  const { applied, pending, current } = await schema.listMigrations();
  const plugins = runtime.listPlugins();
  const describe = (id: string): object => ({ label: formatMigrationLabel(id), owner: findOwnerTitle(id, plugins) });
  const newest = applied
    .toSorted((a, b) => ((a.applied_at ?? '') < (b.applied_at ?? '') ? 1 : -1))
    .map((one) => Object.assign(describe(one.id), one));
  const total = Math.max(run.currentRun?.total ?? 0, pending.length);
  return new View('migrations', {
    newest: newest.slice(0, MAX_SHOWN_MIGRATIONS),
    older: newest.slice(MAX_SHOWN_MIGRATIONS),
    applied: applied.length,
    pending: pending.map((id) => ({ id, ...describe(id) })),
    current,
    crumbs: [{ label: 'System health', href: '/system' }, { label: 'Migrations' }],
    may_run: isAdmin(request),
    running: run.currentRun && { ...run.currentRun, total, done: total - pending.length },
    failure: run.lastFailure,
    refresh_seconds: run.currentRun ? 2 : undefined,
  });
}

async function startMigrations({ schema, run }: SystemPageServices, { principal }: HttpRequest): Promise<Redirect> {
  const { pending } = await schema.listMigrations();
  const outcome = await run.start(principal, pending.length, MAX_SHORT_RUN_MS).catch(() => 'failed' as const);
  if (outcome === 'failed') {
    return new Redirect('/migrations', { tone: 'danger', message: 'Migration failed.' });
  }
  if (outcome === null) return new Redirect('/migrations', { tone: 'info', message: 'The migration is running.' });
  const n = outcome.applied.length;
  const message = n === 0 ? 'No pending migrations.' : `${n} ${n === 1 ? 'migration' : 'migrations'} applied.`;
  return new Redirect('/migrations', { tone: 'success', message });
}

const toNames = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'name' in value ? value.name : value;

export function toHealthBadge(report: HealthReport): { text: string; tone: 'success' | 'warning' | 'danger' } {
  if (!report.healthy) return { text: 'Unhealthy', tone: 'danger' };
  const failed = buildCheckRows(report).filter(({ state }) => state === 'failed' || state === 'damaged').length;
  if (failed === 0) return { text: 'Healthy', tone: 'success' };
  return { text: `Degraded: ${failed} ${failed === 1 ? 'check' : 'checks'} failing`, tone: 'warning' };
}

const flattenFacts = (facts: object): [field: string, value: unknown][] =>
  Object.entries(facts).flatMap(([field, value]: [string, unknown]): [string, unknown][] =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value).map(([inner, each]) => [`${field}_${inner}`, each])
      : [[field, value]],
  );

export function buildCheckRows({ checks }: HealthReport): { name: string; state: string; facts: HealthFact[] }[] {
  const { plugins: _shownBelow, ...shown } = checks;
  return Object.entries(shown).map(([name, check]) => {
    const { ok, state, ...facts } = check;
    return {
      name,
      state: state ?? (ok ? 'ok' : 'failed'),
      facts: flattenFacts(facts)
        .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
        .map(([label, value]) => toHealthFact(label, Array.isArray(value) ? value.map(toNames).join(', ') : value)),
    };
  });
}

/** Whether the plugin is not ready, or says something in words, such as missing update agents. */
const hasNote = ({ status, facts }: PluginRow): boolean =>
  status !== 'ready' || facts.some(({ value, unit }) => unit === null && typeof value === 'string');

async function buildSystemView(services: SystemPageServices): Promise<View> {
  const { health, runtime, jobs, audit, reader, watchdog } = services;
  const [report, list, log, bytes, runs] = await Promise.all([
    health.getReport(),
    jobs.list(),
    audit.listRecent(MAX_AUDIT_ROWS),
    runtime.getStoreBytes(),
    watchdog()?.listRuns(MAX_RUN_ROWS) ?? null,
  ]);
  const plugins = runtime.listPlugins();
  const pluginRows = plugins.map((plugin) => toPluginRow(plugin, report));
  const jobRows = list.map((job) => toJobRow(job, plugins));
  const { pending } = report.schema;
  return new View('system', {
    report,
    verdict: toHealthBadge(report),
    runs,
    checks: buildCheckRows(report).map(({ name, state }) => ({
      label: formatCheckLabel(name),
      state,
      details: describeCheck(report, name),
    })),
    facts: [
      { label: 'Version', value: `AOS ${runtime.version}` },
      { label: 'Node.js', value: runtime.node },
      { label: 'Store', value: formatEngine(runtime.engine) },
      { label: 'Data', value: pending.length === 0 ? 'Up to date' : 'Migrations pending' },
      { label: 'Started', at: runtime.started_at },
    ],
    store_bytes: bytes,
    free_bytes: report.checks.disk.free_bytes,
    plugins: plugins.length,
    plugin_faults: pluginRows.filter(({ status }) => status !== 'ready').length,
    noted_plugins: pluginRows.filter(hasNote),
    jobs: jobRows.length,
    job_faults: jobRows.filter(({ state }) => state === 'failed'),
    audit: await Promise.all(log.items.map((entry) => toAuditRow(reader, entry))),
  });
}

export function buildSystemPages(services: SystemPageServices): PageSpec[] {
  const { schema } = services;
  return [
    {
      path: '/migrations',
      title: 'Migrations',
      nav: {
        section: 'administration',
        group: 'system',
        label: 'Migrations',
        icon: 'migration',
        order: 40,
        also: ['database', 'schema'],
        badge: async () => (await schema.listMigrations()).pending.length || null,
      },
      access: { session: 'member' },
      input: { query: joi.object({ format: joi.string().valid('csv').empty('') }) },
      handle: (request) =>
        request.query['format'] === 'csv' ? exportMigrations(services) : buildMigrationsView(services, request),
    },
    {
      method: 'POST',
      path: '/migrations',
      title: 'Migrations',
      access: { session: 'admin' },
      handle: (request) => startMigrations(services, request),
    },
    {
      path: '/system',
      title: 'System health',
      nav: {
        section: 'administration',
        group: 'system',
        label: 'System health',
        icon: 'system',
        order: 10,
        also: ['disk', 'settings', 'status', 'system', 'version'],
      },
      access: { session: 'member' },
      handle: () => buildSystemView(services),
    },
    ...buildSystemListPages(services),
    ...buildAuditPages(services),
  ];
}

export const buildSystemPanels = ({ schema }: Pick<SystemPageServices, 'schema'>): PanelSpec[] => [
  {
    id: 'health.migrations',
    kind: 'attention',
    order: 50,
    load: async () => {
      const { pending } = await schema.listMigrations();
      return pending.length === 0 ? null : new View('panel-migrations', { pending: pending.length });
    },
  },
];
