/**
 * The dashboard (contract 80). Its panels come from other plugins; the HTTP adapter loads them and
 * passes their markup.
 */
import { definePlugin, View, type PageSpec } from '../../kernel/contract.js';
import { AUDIT } from '../../ports/domain/audit.js';
import { FIRST_STEPS, STEP_PROJECT } from '../../ports/domain/dashboard.js';
import { TOKENS } from '../../ports/domain/tokens.js';
import { Checklist } from './first-steps/checklist.js';
import { ofProject, StepPages } from './first-steps/pages.js';
import { themePage } from './theme.js';

const LIVE_TOPICS = 'bugs monitors webhooks releases';

const dashboardPage = (steps: StepPages): PageSpec => ({
  path: '/',
  title: 'Dashboard',
  nav: {
    section: 'overview',
    label: 'Dashboard',
    icon: 'dashboard',
    order: 0,
    also: ['home', 'overview', 'start', 'first steps', 'getting started'],
  },
  access: { session: 'member' },
  ...ofProject,
  panels: true,
  handle: async (request) =>
    new View('dashboard', { first: await steps.onDashboard(request), live_topics: LIVE_TOPICS }),
});

export default definePlugin({
  id: 'dashboard',
  version: '1.0.0',
  api: 1,
  title: 'Dashboard',
  uses: [AUDIT.name, TOKENS.name],
  extensionPoints: [FIRST_STEPS.point, STEP_PROJECT.point],
  collections: [{ name: 'dismissals', indexes: [] }],
  from: import.meta.url,
  setup(ctx) {
    const checklist = new Checklist(
      () => ctx.extensions(FIRST_STEPS),
      ctx.collection('dismissals'),
      ctx.clock,
      ctx.log,
    );
    const steps = new StepPages({
      checklist,
      // Read on use, because with port 0 it is known only after the server listens.
      baseUrl: () => ctx.app.base_url,
      project: async (wanted) => (await ctx.extensions(STEP_PROJECT)[0]?.slug(wanted)) ?? null,
      tokens: () => ctx.find(TOKENS),
      audit: () => ctx.find(AUDIT),
    });
    return { pages: [dashboardPage(steps), ...steps.specs, themePage] };
  },
});
