/**
 * A minimal intake for an application's global exception handler (contract 21); `bugs.api` groups,
 * counts and stores, so that both intakes agree.
 */
import { definePlugin, extend } from '../../kernel/contract/index.js';
import { AUDIT_TARGETS, AUDIT } from '../../ports/domain/audit.js';
import { BUGS, ERROR_GROUPS, ITEM_ACTIONS, ITEMS, GROUP_MUTER, REPORT_FILTERS } from '../../ports/domain/bugs.js';
import { ONBOARDING_STEPS, SAMPLE_PROJECT } from '../../ports/domain/dashboard.js';
import { FRAME_REWRITER, UNMAPPED_OCCURRENCES } from '../../ports/domain/frame-rewriting.js';
import { ERROR_INTAKE } from '../../ports/domain/errors.js';
import { PROJECT_CLEANUPS, PROJECTS } from '../../ports/domain/projects.js';
import { PUBLISHED_VERSIONS } from '../../ports/domain/releases.js';
import { SEARCH_PROVIDERS } from '../../ports/domain/search.js';
import { CONFIG_KINDS } from '../../ports/domain/config/kinds.js';
import { createIgnoreRuleKind } from './rules/rule-config-kind.js';
import { ERRORS } from './errors.js';
import { buildFirstErrorCommand } from './first-error.js';
import { UNMAPPED_FRAME_LOG, UnmappedFrameJob } from './unmapped-frames.js';
import { FRAME_REWRITER_RESOLVER } from './minified-traces.js';
import { ErrorReportIntake } from './intake.js';
import { buildErrorPanels } from './dashboard-panels.js';
import { buildErrorPages, type ErrorPageDeps } from './pages.js';
import { buildErrorRoutes } from './routes.js';
import { COLLECTIONS, MIGRATIONS } from './rules/collections.js';
import { getIgnoreLink } from './rules/ignore-link.js';
import { buildIgnoreRulePages } from './rules/pages.js';
import type { IgnoreRule } from './rules/rule.js';
import { buildRuleSearch } from './rules/rule-search.js';
import { buildIgnoreRuleRoutes } from './rules/routes.js';
import { buildRuleServices, createRuleDeps, buildRuleJobs } from './rules/services.js';

export default definePlugin({
  id: 'errorstream',
  version: '1.0.0',
  api: 1,
  title: 'Error stream',
  needs: [BUGS.name, UNMAPPED_OCCURRENCES.name, ERROR_GROUPS.name, ITEMS.name, GROUP_MUTER.name, PROJECTS.name],
  uses: [AUDIT.name, FRAME_REWRITER.name, PUBLISHED_VERSIONS.name],
  tags: { errors: 'Error intake for exception handlers of applications, and ignore rules that mute known noise.' },
  provides: [ERROR_INTAKE.name],
  extends: [
    REPORT_FILTERS.point,
    SEARCH_PROVIDERS.point,
    ITEM_ACTIONS.point,
    ONBOARDING_STEPS.point,
    AUDIT_TARGETS.point,
    PROJECT_CLEANUPS.point,
    CONFIG_KINDS.point,
  ],
  errors: ERRORS,
  collections: COLLECTIONS,
  migrations: MIGRATIONS,
  from: import.meta.url,
  setup(ctx) {
    const page: ErrorPageDeps = {
      groups: ctx.resolve(ERROR_GROUPS),
      projects: ctx.resolve(PROJECTS),
      clock: ctx.clock,
      baseUrl: () => ctx.app.base_url,
    };
    ctx.bind(FRAME_REWRITER_RESOLVER, () => ctx.find(FRAME_REWRITER));
    ctx.bind(UNMAPPED_FRAME_LOG, ctx.log);
    const { intake, lateFrames } = ctx.services({ intake: ErrorReportIntake, lateFrames: UnmappedFrameJob });
    const rules = buildRuleServices(ctx, createRuleDeps(ctx));
    return {
      routes: [...buildErrorRoutes(intake), ...buildIgnoreRuleRoutes(rules.registry)],
      pages: [...buildErrorPages(page), ...buildIgnoreRulePages(rules.registry, ctx.clock, ctx.resolve(ITEMS))],
      panels: buildErrorPanels({
        groups: page.groups,
        clock: ctx.clock,
        publishes: () => ctx.find(PUBLISHED_VERSIONS),
      }),
      jobs: [
        ...buildRuleJobs(rules),
        {
          name: 'late_frames',
          everyMs: 30_000,
          timeoutMs: 600_000,
          run: ({ signal }) => lateFrames.run(signal, ctx.clock.now()),
        },
      ],
      services: { [ERROR_INTAKE.name]: intake },
      extensions: [
        extend(REPORT_FILTERS, rules.book),
        extend(PROJECT_CLEANUPS, {
          // The project has no items, so its rules mute none.
          clear: async (project) => {
            if ((await ctx.collection<IgnoreRule>('rules').remove({ project })) > 0) await rules.book.notifyChanged();
          },
        }),
        extend(SEARCH_PROVIDERS, buildRuleSearch(rules.registry)),
        extend(CONFIG_KINDS, createIgnoreRuleKind(rules.registry)),
        extend(AUDIT_TARGETS, {
          noun: 'ignore_rule',
          describe: async (id) => {
            const found = await ctx.collection<IgnoreRule>('rules').get(id);
            return found && { name: found.name, href: `/ignore-rules/${id}` };
          },
        }),
        extend(ITEM_ACTIONS, {
          label: 'Mute similar…',
          icon: 'filter-off',
          shortcut: 'i',
          href: getIgnoreLink,
          mutes: true,
        }),
        extend(ONBOARDING_STEPS, {
          id: 'first-error',
          order: 20,
          title: 'Send your first error',
          text: 'Similar errors are grouped into one issue.',
          page: { label: 'Errors', href: '/errors' },
          isDone: async () => {
            const own = (await page.projects.list()).map(({ slug }) => slug).filter((slug) => slug !== SAMPLE_PROJECT);
            return own.length > 0 && (await page.groups.list({ limit: 1, project: own })).items.length > 0;
          },
          findResult: async (since, project) => {
            const query = { limit: 1, sort: 'last_seen_at', ...(project !== null && { project: [project] }) } as const;
            const [newest] = (await page.groups.list(query)).items;
            if (newest === undefined || newest.last_seen_at < since) return null;
            return { label: `${newest.ref}: ${newest.title}`, href: `/bugs/${newest.ref}` };
          },
          command: (given) => buildFirstErrorCommand(given.baseUrl, given),
          token: { name: 'first error', scopes: ['bugtracker:report'] },
        }),
      ],
      start: async () => void (await rules.book.reload()),
      stop: () => rules.runs.stop(),
    };
  },
});
