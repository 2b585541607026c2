import joi from 'joi';
import {
  withSchemaName,
  Redirect,
  Reply,
  SharedBytes,
  text,
  whole,
  type HttpRequest,
  type RouteSpec,
} from '../../kernel/contract/index.js';
import { ServiceError } from '../../kernel/errors.js';
import type { ServiceCatalog } from '../../ports/domain/system.js';
import type { Metrics } from '../../ports/metrics.js';
import type { Principal } from '../../ports/http/index.js';
import type { HealthReport } from './health-report.js';
import type { MigrationRunner } from './migration-runner.js';
import type { HealthService } from './health-service.js';

export interface HealthServices {
  health: HealthService;
  run: MigrationRunner;
  catalog: Pick<ServiceCatalog, 'getOpenApi'>;
  metrics: Metrics;
}

export const DETAILS_SCOPE = 'system:read';
const MONITORING_ACCESS = [{ sharedKey: true }, { anyToken: true }] as const;
const DETAILS_ACCESS = [{ sharedKey: true }, { scope: DETAILS_SCOPE }] as const;
const MIGRATION_ACCESS = [{ sharedKey: true }, { session: 'admin' }] as const;

const checkSchema = withSchemaName('Check', joi.object({ ok: joi.boolean().required() }).unknown());
const healthShape = withSchemaName(
  'Health',
  joi.object({
    healthy: joi.boolean().required(),
    version: joi.string().required(),
    time: joi.string().isoDate(),
    uptime_seconds: joi.number().integer(),
    schema: joi
      .object({ current: joi.string().allow(null).required(), pending: joi.array().items(joi.string()).required() })
      .unknown(),
    checks: joi
      .object({
        database: checkSchema,
        evaluator: checkSchema.required(),
        jobs: checkSchema,
        webhooks: checkSchema,
        release_store: checkSchema,
        backups: checkSchema,
        disk: checkSchema,
        clock: checkSchema,
        proxies: checkSchema,
        plugins: joi.object().pattern(
          joi.string(),
          joi
            .object({
              ok: joi.boolean().required(),
              state: joi.string().required(),
              reason: joi.string().allow(null).required(),
            })
            .unknown(),
        ),
      })
      .required(),
  }),
);
const nameList = joi.array().items(joi.string());
const migrationOutput = withSchemaName('Migrated', whole({ applied: nameList, pending: nameList }));

type ReaderReport = HealthReport | PublicHealth;

/** No internals (contract 10, accounts). */
interface PublicHealth {
  healthy: boolean;
  version: string;
  schema: HealthReport['schema'];
  checks: { evaluator: { ok: boolean } };
}

/** A token of one project only learns that something is wrong. */
function toReaderReport(principal: Principal, report: HealthReport): ReaderReport {
  if (principal.kind !== 'token') return report;
  if (!principal.scopes.includes(DETAILS_SCOPE)) {
    const { healthy, version, schema, checks } = report;
    return { healthy, version, schema, checks: { evaluator: { ok: checks.evaluator.ok } } };
  }
  if (principal.project === null && principal.source === null) return report;
  const { database, webhooks, jobs } = report.checks;
  const plugins = Object.fromEntries(
    Object.entries(report.checks.plugins).map(([id, { ok, state, reason }]) => [id, { ok, state, reason }]),
  );
  const { ok } = report.checks.proxies;
  const checks = {
    ...report.checks,
    database: {
      ...database,
      ...(database.integrity !== undefined && { integrity: { ...database.integrity, damage: [] } }),
    },
    webhooks: { ...webhooks, disabled: [] },
    jobs: { ...jobs, failing: [], ahead: [] },
    proxies: { ok, unlisted: [], mend: null },
    plugins,
  };
  return { ...report, checks };
}

function buildProbeRoutes({ health }: HealthServices): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/health',
      operationId: 'getHealth',
      errors: ['not_ready'],
      summary: 'Health of the service',
      description:
        'Returns 200 also when unhealthy; with `strict=1` then 503. `healthy` means: the database responds, the evaluator runs, no migration is pending, and all plugins that affect health are ok. A module that is not installed is `ok` with `state: "not_installed"`. The shared key and a token with `system:read` see everything, all other tokens only `healthy`, `version`, `schema` and `checks.evaluator.ok`.',
      access: MONITORING_ACCESS,
      input: { query: joi.object({ strict: joi.boolean().truthy('1').falsy('0').description('503 when unhealthy') }) },
      output: healthShape,
      handle: async ({ query, principal }) => {
        const found = toReaderReport(principal, await health.getReport());
        return query['strict'] === true && !found.healthy ? new Reply(503, found).header('retry-after', '30') : found;
      },
    },
    {
      method: 'GET',
      path: '/api/health/live',
      operationId: 'checkLive',
      summary: 'Check whether the process responds',
      access: 'public',
      output: withSchemaName('Live', whole({ live: joi.boolean() })),
      limits: { rate: 'none' },
      handle: () => ({ live: true }),
    },
    {
      method: 'GET',
      path: '/api/health/ready',
      operationId: 'checkReady',
      errors: ['not_ready'],
      summary: 'Check whether the service can handle requests',
      description: '503 `not_ready` while the store does not respond or a critical part is not ready.',
      access: 'public',
      output: withSchemaName('Ready', whole({ ready: joi.boolean() })),
      limits: { rate: 'none' },
      handle: async () => {
        if (await health.isReady()) return { ready: true };
        throw new ServiceError('not_ready', 'The service is not ready.', { headers: { 'retry-after': '5' } });
      },
    },
  ];
}

function buildDescriptionRoutes({ catalog, metrics }: HealthServices): RouteSpec[] {
  let description: SharedBytes | undefined;
  return [
    {
      method: 'GET',
      path: '/metrics',
      operationId: 'getMetrics',
      summary: 'Numbers for Prometheus',
      description: 'Prometheus text format 0.0.4.',
      access: DETAILS_ACCESS,
      output: joi.string(),
      handle: async () => text(await metrics.render(), 'text/plain; version=0.0.4; charset=utf-8'),
    },
    {
      method: 'GET',
      path: '/api/openapi.json',
      summary: 'This description',
      description: 'OpenAPI 3.1, without the envelope, and therefore not among the routes that it describes.',
      access: 'public',
      hidden: true,
      handle: async () => {
        description ??= new SharedBytes([Buffer.from(JSON.stringify(await catalog.getOpenApi()))]);
        return text(description, 'application/json; charset=utf-8');
      },
    },
  ];
}

function buildMigrationRoutes({ run }: HealthServices): RouteSpec[] {
  const migrate = ({ principal }: HttpRequest): Promise<object> => run.run(principal);
  return [
    {
      method: 'POST',
      path: '/api/admin/v1/migrate',
      operationId: 'runMigrations',
      summary: 'Run pending migrations',
      description: 'The shared key, or the session of an administrator with `X-CSRF-Token`.',
      access: MIGRATION_ACCESS,
      output: migrationOutput,
      handle: migrate,
    },
    {
      method: ['GET', 'POST'],
      path: '/install_db.php',
      tag: 'admin',
      operationId: ['installDatabaseByGet', 'installDatabase'],
      summary: 'Run pending migrations (address of earlier versions)',
      description: 'POST, or GET with the shared key, runs them; GET with a session redirects to the page.',
      access: MIGRATION_ACCESS,
      output: migrationOutput,
      handle: (request) =>
        // Also excludes HEAD: only a POST of a session proves that it comes from a page of the
        // service.
        request.method !== 'POST' && request.principal.kind === 'session'
          ? new Redirect('/migrations')
          : migrate(request),
    },
  ];
}

export function buildHealthRoutes(services: HealthServices): RouteSpec[] {
  return [...buildProbeRoutes(services), ...buildDescriptionRoutes(services), ...buildMigrationRoutes(services)];
}
