/**
 * Agent workflow (contract 20) and error groups (contract 21), which the error stream uses through
 * `bugs.api`.
 */
import joi from 'joi';
import { definePlugin, extend, listen, perPlugin } from '../../kernel/contract/index.js';
import { ACCOUNTS } from '../../ports/domain/access.js';
import { AUDIT, AUDIT_TARGETS } from '../../ports/domain/audit.js';
import { LIVE_TOKENS } from '../../ports/domain/live-tokens.js';
import {
  BUG_CREATED,
  BUG_UNBLOCKED,
  BUGS,
  FEATURE_CREATED,
  ERROR_GROUPS,
  ITEM_ACTIONS,
  ITEMS,
  GROUP_MUTER,
  REPORT_FILTERS,
  VERSION_FAULT_LISTENERS,
  VERSION_FAULTS,
  VERSION_FIXES,
} from '../../ports/domain/bugs.js';
import { BUILD_HISTORY, PUBLISHED_VERSIONS } from '../../ports/domain/releases.js';
import { AGENT_REQUESTED, AGENT_SETTINGS, AGENT_WORK } from '../../ports/domain/agent-requests.js';
import { AGENT_ASSIGNERS, ITEM_FACTS, RELEASE_LINKS } from '../../ports/domain/item-facts.js';
import { PULL_REQUESTS } from '../../ports/domain/forge-changes.js';
import { PROJECT_CLEANUPS, PROJECT_PARTS, PROJECT_USAGE, PROJECTS } from '../../ports/domain/projects.js';
import { RELEASE_PUBLISHED } from '../../ports/domain/releases.js';
import { UNMAPPED_OCCURRENCES } from '../../ports/domain/frame-rewriting.js';
import { LIVE_TOPICS } from '../../ports/domain/live-topics.js';
import { RUNTIME } from '../../ports/domain/system.js';
import { SAMPLE_DATA } from '../../ports/domain/dashboard.js';
import { SEARCH_PROVIDERS } from '../../ports/domain/search.js';
import { CONFIG_KINDS } from '../../ports/domain/config/kinds.js';
import { createGroupingRuleKind } from './http/grouping-rule-config-kind.js';
import { buildProjectBelongings } from './project-belongings.js';
import { COLLECTIONS } from './collections.js';
import type { BugsConfig, BugDeps } from './deps.js';
import { ERRORS } from './errors.js';
import { parseGroupingSettings } from './grouping/grouping-settings.js';
import { MonthlyStatsCache } from './pages/shared/monthly-stats.js';
import { buildRuleUrl } from './pages/grouping/rule-links.js';
import { buildBugPages } from './pages/pages.js';
import { buildBugPanels } from './pages/dashboard-panels.js';
import { buildBugRoutes } from './http/routes.js';
import { ReportMetrics } from './report-metrics.js';
import { createSampleIssues } from './sample-data.js';
import { buildServices } from './services.js';
import { buildItemListTopic, buildItemTopic } from './pages/live-topics.js';
import { buildProjectItemsPart } from './pages/project-items.js';
import { buildItemSearch } from './pages/item-search.js';

const config = joi.object({
  hour_high: joi
    .number()
    .integer()
    .min(1)
    .default(100)
    .description('Occurrences in the rolling hour that make an item at least high'),
  hour_critical: joi
    .number()
    .integer()
    .min(1)
    .default(1000)
    .description('Occurrences in the rolling hour that make an item critical'),
  delta_margin_seconds: joi
    .number()
    .integer()
    .min(0)
    .max(3600)
    .default(10)
    .description('Delay of `server_time` of a delta query; must exceed the clock difference between processes'),
  agent_token_seconds: joi
    .number()
    .integer()
    .min(60)
    .max(86_400)
    .unit('seconds')
    .default(7200)
    .description('Lifetime of the token that `agent.requested` sends to a webhook'),
  max_claims: joi
    .number()
    .integer()
    .min(1)
    .max(1_000_000)
    .default(10)
    .description('Maximum live leases per credential and agent'),
  retention_days: joi
    .number()
    .integer()
    .min(1)
    .max(36_500)
    .unit('days')
    .allow(null)
    .default(null)
    .description('Closed, won’t fix and duplicate items that were not seen for this long are deleted. Default: never.'),
});

export default definePlugin<BugsConfig>({
  id: 'bugs',
  version: '1.0.0',
  api: 1,
  title: 'Bug tracker',
  critical: true,
  needs: [PROJECTS.name, ACCOUNTS.name, LIVE_TOKENS.name, RUNTIME.name],
  uses: [AUDIT.name],
  provides: [
    BUGS,
    ITEMS,
    ERROR_GROUPS,
    GROUP_MUTER,
    VERSION_FAULTS,
    VERSION_FIXES,
    AGENT_SETTINGS,
    AGENT_WORK,
    BUILD_HISTORY,
    PUBLISHED_VERSIONS,
    UNMAPPED_OCCURRENCES,
  ].map(({ name }) => name),
  extensionPoints: [
    REPORT_FILTERS.point,
    ITEM_ACTIONS.point,
    ITEM_FACTS.point,
    AGENT_ASSIGNERS.point,
    RELEASE_LINKS.point,
    VERSION_FAULT_LISTENERS.point,
    PULL_REQUESTS.point,
  ],
  extends: [
    PROJECT_USAGE.point,
    PROJECT_CLEANUPS.point,
    PROJECT_PARTS.point,
    SEARCH_PROVIDERS.point,
    SAMPLE_DATA.point,
    LIVE_TOPICS.point,
    AUDIT_TARGETS.point,
    CONFIG_KINDS.point,
  ],
  config,
  tags: {
    bugtracker: 'Bugs, feature requests and errors as items: report, claim, change, merge and count them.',
  },
  scopes: ['bugtracker:report', 'bugtracker:read', 'bugtracker:manage'],
  events: [
    'bug.created',
    'bug.critical',
    'bug.resolved',
    BUG_UNBLOCKED.event,
    'feature.created',
    'error.rate_exceeded',
    AGENT_REQUESTED.event,
  ],
  errors: ERRORS,
  collections: COLLECTIONS,
  from: import.meta.url,
  setup(ctx) {
    const deps: BugDeps = {
      items: ctx.collection('items'),
      texts: ctx.collection('texts'),
      words: ctx.collection('words'),
      keys: ctx.collection('keys'),
      families: ctx.collection('families'),
      floods: ctx.collection('floods'),
      removals: ctx.collection('removals'),
      refs: ctx.collection('refs'),
      occurrences: ctx.collection('occurrences'),
      comments: ctx.collection('comments'),
      activity: ctx.collection('activity'),
      counters: ctx.collection('counters'),
      links: ctx.collection('links'),
      moves: ctx.collection('moves'),
      splits: ctx.collection('splits'),
      views: ctx.collection('views'),
      bulks: ctx.collection('bulks'),
      waiting: ctx.collection('waiting'),
      ruleLists: ctx.collection('rulelists'),
      ruleRevisions: ctx.collection('rulerevisions'),
      transact: ctx.transact,
      clock: ctx.clock,
      ids: ctx.ids,
      log: ctx.log,
      config: ctx.config,
      new_groups_per_hour: ctx.app.limits['new_groups_per_hour'] ?? 0,
      peers: () => ctx.resolve(RUNTIME).countProcesses(),
      grouping: parseGroupingSettings(ctx.app.grouping),
      projects: ctx.resolve(PROJECTS),
      accounts: ctx.resolve(ACCOUNTS),
      liveTokens: ctx.resolve(LIVE_TOKENS),
      builds: ctx.collection('builds'),
      traffic: ctx.collection('traffic'),
      commits: ctx.collection('commits'),
      filters: () => ctx.extensions(REPORT_FILTERS),
      pullRequests: () => ctx.extensions(PULL_REQUESTS),
      faultWatchers: () => ctx.extensions(VERSION_FAULT_LISTENERS),
      senderKey: ctx.ports.cipher.derive('bugs.senders'),
      peopleKey: ctx.ports.cipher.derive('bugs.people'),
      audit: () => ctx.find(AUDIT),
      emit: (event, data, options) => ctx.emit(event, data, options),
      random: Math.random,
      reports: new ReportMetrics(ctx.ports.metrics),
    };
    const services = buildServices(ctx, deps);
    const { bugs, jobs, board, outbox, bulkRuns, arrivals } = services;
    ctx.ports.metrics.gauge(
      'aos_bugs_queue_age_seconds',
      'Age of the oldest item change whose events have not been sent',
      () => outbox.getOldestAge(),
    );
    const numbers = new MonthlyStatsCache(services.stats, ctx.clock);
    return {
      services: {
        [BUGS.name]: bugs,
        [ITEMS.name]: perPlugin(({ id }) => services.tracked.createForPlugin(id)),
        [ERROR_GROUPS.name]: board,
        [GROUP_MUTER.name]: services.muting,
        [UNMAPPED_OCCURRENCES.name]: services.late,
        [VERSION_FAULTS.name]: services.faults,
        [VERSION_FIXES.name]: services.fixes,
        [BUILD_HISTORY.name]: services.history,
        [PUBLISHED_VERSIONS.name]: services.publishedBuilds,
        [AGENT_WORK.name]: services.agentWork,
        [AGENT_SETTINGS.name]: { token_seconds: ctx.config.agent_token_seconds },
      },
      extensions: [
        extend(PROJECT_USAGE, { noun: 'items', isInUse: async (slug) => (await deps.counters.get(slug)) !== null }),
        extend(PROJECT_CLEANUPS, buildProjectBelongings(deps, services.traffic)),
        extend(PROJECT_PARTS, buildProjectItemsPart(board, services.publishedBuilds, deps.clock)),
        extend(PROJECT_USAGE, {
          noun: 'grouping rules',
          isInUse: async (slug) => ((await deps.ruleLists.get(slug))?.rules.length ?? 0) > 0,
        }),
        extend(AUDIT_TARGETS, {
          noun: 'grouping_rule',
          describe: async (id) => {
            const found = services.groupingRules.find(id);
            return found && { name: found.rule.name, href: buildRuleUrl(found.project, id) };
          },
        }),
        extend(SEARCH_PROVIDERS, buildItemSearch({ ...deps, indirectMatches: services.indirectMatches })),
        extend(SAMPLE_DATA, createSampleIssues(bugs, services.removal, deps)),
        extend(CONFIG_KINDS, createGroupingRuleKind(services.regrouping, deps.projects)),
        extend(LIVE_TOPICS, buildItemListTopic(deps)),
        extend(LIVE_TOPICS, buildItemTopic(deps)),
      ],
      routes: buildBugRoutes(services),
      pages: buildBugPages({
        services,
        deps,
        numbers,
        actions: () => ctx.extensions(ITEM_ACTIONS),
        facts: () => ctx.extensions(ITEM_FACTS),
        agents: () => ctx.extensions(AGENT_ASSIGNERS),
        releases: () => ctx.extensions(RELEASE_LINKS),
        baseUrl: () => ctx.app.base_url,
        timezone: () => ctx.app.timezone,
      }),
      panels: buildBugPanels(board, numbers, deps.projects),
      jobs: [
        // Pending events wait less than a minute after a crash.
        { name: 'outbox', everyMs: 30_000, timeoutMs: 15_000, run: ({ signal }) => jobs.emitPendingEvents(signal) },
        {
          name: 'reconcile',
          everyMs: 30_000,
          run: async ({ signal }) => {
            await jobs.completePendingWork(signal);
            await bulkRuns.resume();
          },
        },
        { name: 'sweep', everyMs: 30_000, run: () => jobs.sweep() },
        {
          name: 'forget',
          everyMs: 3_600_000,
          timeoutMs: 600_000,
          removesByAge: true,
          run: async ({ signal }) => {
            await jobs.deleteExpired(signal);
            await bulkRuns.deleteOld(signal);
            await services.traffic.deleteExpired(signal);
          },
        },
      ],
      listens: [
        listen(RELEASE_PUBLISHED, (event) => bugs.handleReleasePublished(event), { durable: true }),
        listen(BUG_CREATED, () => arrivals.notifyAll()),
        listen(FEATURE_CREATED, () => arrivals.notifyAll()),
        listen(BUG_UNBLOCKED, () => arrivals.notifyAll()),
      ],
      start: async () => {
        await services.watermark.start();
        await services.groupingRules.reload();
        await jobs.reconcile();
      },
      stop: async () => {
        arrivals.close();
        await bulkRuns.stop();
        await services.traffic.flush();
        await jobs.stop();
      },
    };
  },
});
