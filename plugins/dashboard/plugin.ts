/**
 * The dashboard (contract 80). Its panels come from other plugins; the HTTP adapter loads them and
 * passes their markup.
 */
import { definePlugin, View, type PageSpec } from '../../kernel/contract/index.js';
import { AUDIT } from '../../ports/domain/audit.js';
import { ONBOARDING_STEPS, SAMPLE_DATA, STEP_PROJECT } from '../../ports/domain/dashboard.js';
import { TOKENS } from '../../ports/domain/tokens.js';
import { OnboardingChecklist } from './onboarding/onboarding-checklist.js';
import { projectInput, OnboardingPages } from './onboarding/onboarding-pages.js';
import { SampleDataService } from './onboarding/sample-data.js';
import { themePage } from './theme-page.js';

const LIVE_TOPICS = 'bugs monitors webhooks releases';

const buildDashboardPage = (steps: OnboardingPages): PageSpec => ({
  path: '/',
  title: 'Home',
  nav: {
    section: 'overview',
    label: 'Home',
    icon: 'home',
    order: 0,
    also: ['dashboard', 'overview', 'start', 'first steps', 'getting started'],
  },
  access: { session: 'member' },
  ...projectInput,
  panels: true,
  handle: async (request) =>
    new View('dashboard', { first: await steps.buildDashboardSteps(request), live_topics: LIVE_TOPICS }),
});

export default definePlugin({
  id: 'dashboard',
  version: '1.0.0',
  api: 1,
  title: 'Dashboard',
  uses: [AUDIT.name, TOKENS.name],
  extensionPoints: [ONBOARDING_STEPS.point, STEP_PROJECT.point, SAMPLE_DATA.point],
  collections: [
    { name: 'dismissals', indexes: [] },
    { name: 'skips', indexes: [{ fields: ['account'] }] },
    { name: 'samples', indexes: [] },
  ],
  from: import.meta.url,
  setup(ctx) {
    const checklist = new OnboardingChecklist(
      () => ctx.extensions(ONBOARDING_STEPS),
      ctx.collection('dismissals'),
      ctx.collection('skips'),
      ctx.clock,
      ctx.log,
    );
    const steps = new OnboardingPages({
      checklist,
      samples: new SampleDataService(
        ctx.collection('samples'),
        () => ctx.extensions(SAMPLE_DATA),
        ctx.clock,
        () => ctx.find(AUDIT),
      ),
      clock: ctx.clock,
      // Read on use, because with port 0 it is known only after the server listens.
      baseUrl: () => ctx.app.base_url,
      project: async (wanted) => (await ctx.extensions(STEP_PROJECT)[0]?.resolveSlug(wanted)) ?? null,
      tokens: () => ctx.find(TOKENS),
      audit: () => ctx.find(AUDIT),
    });
    return { pages: [buildDashboardPage(steps), ...steps.specs, themePage] };
  },
});
