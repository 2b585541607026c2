/**
 * Monitors receive heartbeats; an evaluator detects missing ones and emits events (contract 30).
 */
import joi from 'joi';
import { definePlugin, extend, listen } from '../../kernel/contract/index.js';
import type { Metrics } from '../../ports/metrics.js';
import { AUTHENTICATOR } from '../../ports/domain/access.js';
import { MACHINES } from '../../ports/domain/machines/inventory.js';
import { AUDIT_TARGETS, AUDIT } from '../../ports/domain/audit.js';
import { LIVE_TOKENS } from '../../ports/domain/live-tokens.js';
import { TOKENS } from '../../ports/domain/tokens.js';
import {
  PROJECT_CLEANUPS,
  PROJECT_PARTS,
  PROJECT_USAGE,
  PROJECTS,
  SELLER_BRANDS,
} from '../../ports/domain/projects.js';
import { HEARTBEAT_REJECTIONS } from '../../ports/domain/health.js';
import { RELEASE_PUBLISHED } from '../../ports/domain/releases.js';
import { SYSTEM } from '../../ports/domain/system.js';
import { ALARM_RECEIVERS } from '../../ports/domain/alarms/receivers.js';
import { MONITOR_PROBES, WATCHDOG, type WatchdogApi } from '../../ports/domain/watchdog.js';
import { LIVE_TOPICS } from '../../ports/domain/live-topics.js';
import { ONBOARDING_STEPS, SAMPLE_DATA, SAMPLE_PROJECT } from '../../ports/domain/dashboard.js';
import { SEARCH_PROVIDERS } from '../../ports/domain/search.js';
import { CONFIG_KINDS } from '../../ports/domain/config/kinds.js';
import { createMaintenanceKind } from './http/maintenance-config-kind.js';
import { createMonitorKind } from './http/monitor-config-kind.js';
import { createProjectCleanup, createProjectUsage } from './project-cleanup.js';
import { COLLECTIONS } from './collections.js';
import { MIGRATIONS } from './migrations.js';
import type { WatchdogDeps, WatchdogConfig } from './deps.js';
import { ERRORS } from './model/caller.js';
import { STATES } from './model/documents.js';
import { parseHeartbeat } from './heartbeat/heartbeat.js';
import { buildImportCommands } from './importing/import-commands.js';
import { toMonitorView } from './model/monitor-view.js';
import { buildFirstHeartbeatCommand } from './monitors/first-heartbeat-command.js';
import { buildMonitorPages } from './pages/monitor-pages.js';
import { createSampleMonitors } from './sample-data.js';
import { buildDashboardPanels } from './pages/dashboard-panels.js';
import { addMonitorGauges } from './metrics/monitor-gauges.js';
import { buildBadgeRoute } from './http/badge-routes.js';
import { buildIncidentRoutes } from './http/incident-routes.js';
import { buildMaintenanceRoutes } from './http/maintenance-routes.js';
import { buildPingUrlRoutes } from './http/ping-url-routes.js';
import { buildWatchdogRoutes } from './http/routes.js';
import { buildServices, type WatchdogServices } from './services.js';
import { buildMonitorTopics } from './pages/live-topics.js';
import { createMonitorProjectPart } from './pages/project-part.js';
import { createMonitorSearch } from './pages/monitor-search.js';

const EVALUATE_INTERVAL_MS = 60_000;
const EVALUATE_TIMEOUT_MS = 300_000;

const config = joi.object({
  scheduler: joi
    .boolean()
    .default(true)
    .description('Evaluate every 60 s; disable it if the tick or the HTTP call does this'),
  error_status_is_down: joi
    .boolean()
    .default(false)
    .description('A heartbeat with status `error` sets its monitor to down immediately; otherwise it is a warning'),
  deferred_alarms: joi
    .boolean()
    .default(true)
    .description('A suppressed monitor that stays down after its parents recovered alarms then'),
  monitor_metrics: joi
    .boolean()
    .default(false)
    .description('`/metrics` also has metrics of the first 5,000 monitors, labeled with their source'),
  timeline_days: joi
    .number()
    .integer()
    .min(1)
    .max(3650)
    .default(90)
    .description('Retention of transitions, alarms and notes, in days'),
});

const SYSTEM_CALLER = { name: 'system', token: null, project: null, source: null };

function buildApi({
  evaluator,
  monitors,
  adoption,
  runs,
  checkIns,
  intake,
  beats,
  conditions,
}: WatchdogServices): WatchdogApi {
  return {
    recordObservation: async (observation) => {
      const heartbeat = parseHeartbeat(observation, undefined, true);
      const isRecorded = await intake.recordIfExists(
        { ...heartbeat, probed: true, unsure: observation.status === 'warning' },
        SYSTEM_CALLER,
      );
      if (isRecorded) beats();
      return isRecorded;
    },
    evaluate: (trigger, also) => evaluator.evaluate(trigger, also),
    recordCheckIn: async (checkIn, sender) => {
      await checkIns.take(checkIn, sender);
      if (checkIn.phase !== 'start') beats();
    },
    create: (fields, actor) => monitors.create(fields, { name: actor, token: null, project: null, source: null }),
    listRuns: async (limit) => (await runs.listPage(limit, null, SYSTEM_CALLER)).items,
    find: async (source) => {
      const doc = await monitors.find(source);
      return doc === null ? null : toMonitorView(doc);
    },
    listMonitors: async (query = {}) => {
      const { items, next } = await monitors.listPage(query);
      return { items: items.map(toMonitorView), next };
    },
    listConditions: (query) => conditions.findConditions(query),
    listVersionAdoption: (project) => adoption.getAdoption(project),
  };
}

function registerMetrics(metrics: Metrics, { status, runs, outbox }: WatchdogServices): void {
  metrics.gauges('aos_watchdog_monitors', 'Monitors, by state', 'state', STATES, () => status.getCounts());
  metrics.gauge(
    'aos_watchdog_evaluator_age_seconds',
    'Time since the last successful evaluator run; NaN if there was none',
    async () => (await runs.getHealth()).age_seconds ?? NaN,
  );
  metrics.gauge(
    'aos_watchdog_queue_age_seconds',
    'Age of the oldest state change whose events have not been sent',
    () => outbox.getOldestAgeSeconds(),
  );
}

export default definePlugin<WatchdogConfig>({
  id: 'watchdog',
  version: '1.0.0',
  api: 1,
  title: 'Watchdog',
  needs: [SYSTEM, AUDIT, AUTHENTICATOR, TOKENS, LIVE_TOKENS, PROJECTS, SELLER_BRANDS].map(({ name }) => name),
  uses: [MACHINES.name],
  provides: [WATCHDOG.name],
  extensionPoints: [MONITOR_PROBES.point, ALARM_RECEIVERS.point, HEARTBEAT_REJECTIONS.point],
  extends: [
    CONFIG_KINDS.point,
    PROJECT_USAGE.point,
    PROJECT_CLEANUPS.point,
    PROJECT_PARTS.point,
    SEARCH_PROVIDERS.point,
    LIVE_TOPICS.point,
    AUDIT_TARGETS.point,
    ONBOARDING_STEPS.point,
    SAMPLE_DATA.point,
  ],
  config,
  scopes: ['watchdog:ping', 'watchdog:read', 'watchdog:manage'],
  events: [
    'monitor.down',
    'monitor.recovered',
    'monitor.alarm_closed',
    'monitor.warning',
    'monitor.certificate_expiring',
  ],
  tags: {
    watchdog: 'Monitors, their heartbeats, timeline and metric history, and the evaluator.',
    ping: 'Heartbeats by URL: for cron jobs, and with the push URL of Uptime Kuma.',
    badge: 'Images with the state of a public monitor.',
  },
  errors: ERRORS,
  collections: COLLECTIONS,
  migrations: MIGRATIONS,
  from: import.meta.url,
  setup(ctx) {
    const projects = ctx.resolve(PROJECTS);
    const deps: WatchdogDeps = {
      monitors: ctx.collection('monitors'),
      chunks: ctx.collection('chunks'),
      rollups: ctx.collection('rollups'),
      timeline: ctx.collection('timeline'),
      runs: ctx.collection('runs'),
      leases: ctx.collection('leases'),
      outages: ctx.collection('outages'),
      marks: ctx.collection('marks'),
      windows: ctx.collection('windows'),
      incidents: ctx.collection('incidents'),
      changes: ctx.collection('changes'),
      addresses: ctx.collection('addresses'),
      clock: ctx.clock,
      ids: ctx.ids,
      log: ctx.log,
      config: ctx.config,
      processes: ctx.resolve(SYSTEM).processes,
      isClockTrusted: async () => (await ctx.resolve(SYSTEM).checkClock()).believed,
      tokens: ctx.resolve(TOKENS),
      liveTokens: ctx.resolve(LIVE_TOKENS),
      audit: ctx.resolve(AUDIT),
      projects,
      probes: () => ctx.extensions(MONITOR_PROBES)[0] ?? null,
      machines: () => ctx.find(MACHINES),
      receivers: () => ctx.extensions(ALARM_RECEIVERS),
      isRejectingHeartbeats: () => ctx.extensions(HEARTBEAT_REJECTIONS).some((refusal) => refusal.isRejecting()),
      monitorsPerToken: ctx.app.limits['monitors_per_token'] ?? 10_000,
      emit: (event, data, options) => ctx.emit(event, data, options),
    };
    const beats = ctx.ports.metrics.counter('aos_watchdog_heartbeats_total', 'Heartbeats taken in');
    const services = buildServices(ctx, deps, {
      authenticator: ctx.resolve(AUTHENTICATOR),
      baseUrl: () => ctx.app.base_url.replace(/\/$/, ''),
      beats: () => beats.inc(),
      brands: ctx.resolve(SELLER_BRANDS),
      timezone: ctx.app.timezone,
    });
    const { evaluator, outbox, outages, runs } = services;
    registerMetrics(ctx.ports.metrics, services);
    if (ctx.config.monitor_metrics) addMonitorGauges(ctx.ports.metrics, services.snapshots);
    const evaluate = async (): Promise<void> => void (await evaluator.evaluate('scheduler'));
    const scheduled = {
      name: 'evaluate',
      everyMs: EVALUATE_INTERVAL_MS,
      timeoutMs: EVALUATE_TIMEOUT_MS,
      run: evaluate,
    };
    return {
      services: { [WATCHDOG.name]: buildApi(services) },
      extensions: [
        extend(PROJECT_USAGE, createProjectUsage(deps)),
        extend(PROJECT_CLEANUPS, createProjectCleanup(deps)),
        extend(PROJECT_PARTS, createMonitorProjectPart(services.status, services.figures, deps)),
        extend(SEARCH_PROVIDERS, createMonitorSearch(services)),
        extend(CONFIG_KINDS, createMonitorKind(services, deps)),
        extend(CONFIG_KINDS, createMaintenanceKind(services)),
        extend(SAMPLE_DATA, createSampleMonitors(services, deps)),
        extend(ONBOARDING_STEPS, {
          id: 'monitor',
          order: 40,
          title: 'Add a monitor',
          text: 'AOS checks a URL, or a program sends heartbeats. If they stop, AOS alerts you.',
          get page() {
            const href = services.probes()?.getHref(null) ?? null;
            return href === null ? { label: 'New monitor', href: '/monitors/new' } : { label: 'Check a URL', href };
          },
          isDone: async () =>
            (await deps.monitors.find({ filter: { project: { ne: SAMPLE_PROJECT } }, limit: 1 })).items.length > 0,
          command: buildFirstHeartbeatCommand,
          token: { name: 'first heartbeat', scopes: ['watchdog:ping'] },
        }),
        extend(AUDIT_TARGETS, {
          noun: 'monitor',
          describe: async (source) => {
            const found = await services.monitors.find(source);
            return found && { name: found.name ?? source, href: `/monitors/${encodeURIComponent(source)}` };
          },
        }),
        ...buildMonitorTopics(deps, services).map((topic) => extend(LIVE_TOPICS, topic)),
      ],
      routes: [
        ...buildWatchdogRoutes(services),
        ...buildMaintenanceRoutes(services),
        ...buildIncidentRoutes(services),
        ...buildPingUrlRoutes(services),
        buildBadgeRoute(services),
      ],
      pages: buildMonitorPages(services, ctx.config.deferred_alarms),
      panels: buildDashboardPanels(services),
      commands: buildImportCommands(services.importer),
      listens: [
        listen(RELEASE_PUBLISHED, ({ id, timestamp, project_slug, data: { product, version, channel } }) =>
          services.explanations.recordRelease(
            id,
            timestamp,
            project_slug ?? product,
            `${product} ${version} in ${channel}`,
          ),
        ),
      ],
      jobs: [
        ...(ctx.config.scheduler ? [scheduled] : []),
        {
          name: 'reconcile',
          everyMs: 30_000,
          run: async ({ signal }) => void (await outbox.reconcile(undefined, signal)),
        },
      ],
      health: () => runs.getHealth(),
      start: async () => {
        await outages.start();
        outbox.resume();
      },
      stop: async () => {
        await outages.stop();
        await services.groups.drain();
        await outbox.drain();
      },
    };
  },
});
