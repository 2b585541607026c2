/**
 * The first page (contract 80). The dashboard knows no domain: what needs a person and how things go are panels that
 * other plugins contribute; the adapter loads them and hands their markup over.
 */
import { definePlugin, View, type AppSettings, type PageSpec } from '../../kernel/contract.js';
import { FIRST_STEPS, type FirstStep } from '../../ports/domain/dashboard.js';
import { themePage } from './theme.js';

/** What the panels are made of. */
const LIVE_TOPICS = 'bugs monitors webhooks releases';

function dashboardPage(app: AppSettings, steps: () => readonly FirstStep[]): PageSpec {
  const shown = (): object[] => {
    const baseUrl = app.base_url.replace(/\/$/, '');
    const byOrder = steps().toSorted((a, b) => a.order - b.order);
    return byOrder.map((step) => ({ title: step.title, text: step.text, command: step.command(baseUrl) }));
  };
  return {
    path: '/',
    title: 'Dashboard',
    nav: { section: 'overview', label: 'Dashboard', icon: 'dashboard', order: 0, also: ['home', 'overview', 'start'] },
    access: { session: 'member' },
    panels: true,
    handle: () => new View('dashboard', { steps: shown(), live_topics: LIVE_TOPICS }),
  };
}

export default definePlugin({
  id: 'dashboard',
  version: '1.0.0',
  api: 1,
  title: 'Dashboard',
  extensionPoints: [FIRST_STEPS.point],
  from: import.meta.url,
  setup(ctx) {
    // `base_url` is read when it is used: with a free port it is known only once the server listens.
    const { app } = ctx;
    const steps = (): readonly FirstStep[] => ctx.extensions(FIRST_STEPS);
    return { pages: [dashboardPage(app, steps), themePage] };
  },
});
