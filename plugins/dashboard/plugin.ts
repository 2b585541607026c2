/**
 * The first page, and the interface description to read (contract 80). The dashboard knows no domain: what needs a person
 * and how things go are panels that other plugins contribute; the adapter loads them and hands their markup over.
 */
import joi from 'joi';
import { definePlugin, View, type AppSettings, type PageSpec } from '../../kernel/contract.js';
import { notFound } from '../../kernel/errors.js';
import { FIRST_STEPS, type FirstStep } from '../../ports/domain/dashboard.js';
import { SYSTEM, type SystemInfo } from '../../ports/domain/system.js';
import { apiIndex, apiOperations, type Group, type Operation } from './api-docs.js';
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

/** The description does not change while the process lives, so what was drawn once is kept. */
class Docs {
  #index: Group[] | undefined;
  readonly #operations = new Map<string, Operation[]>();

  constructor(
    private readonly system: Pick<SystemInfo, 'openapi'>,
    private readonly app: Pick<AppSettings, 'base_url'>,
  ) {}

  async groups(): Promise<Group[]> {
    return (this.#index ??= apiIndex(await this.system.openapi()));
  }

  async operations(group: Group): Promise<Operation[]> {
    const known = this.#operations.get(group.id);
    if (known) return known;
    const made = apiOperations(await this.system.openapi(), group, this.app.base_url);
    this.#operations.set(group.id, made);
    return made;
  }
}

function docsPages(docs: Docs, app: AppSettings): PageSpec[] {
  return [
    {
      path: '/docs/api',
      title: 'API',
      nav: {
        section: 'administration',
        label: 'API',
        icon: 'book',
        order: 95,
        also: ['docs', 'documentation', 'endpoints', 'openapi', 'reference', 'swagger'],
      },
      access: { session: 'member' },
      handle: async () => new View('api', { groups: await docs.groups(), base_url: app.base_url }),
    },
    {
      path: '/docs/api/{group}',
      title: 'API',
      access: { session: 'member' },
      input: { params: joi.object({ group: joi.string().max(64).required() }) },
      handle: async ({ params }) => {
        const groups = await docs.groups();
        const group = groups.find((g) => g.id === params['group']);
        if (!group) throw notFound(`part ${params['group']} of the interface`);
        return new View('api-group', {
          group: { ...group, operations: await docs.operations(group) },
          groups,
          title: `API: ${group.title}`,
          crumbs: [{ label: 'API', href: '/docs/api' }, { label: group.title }],
        });
      },
    },
  ];
}

export default definePlugin({
  id: 'dashboard',
  version: '1.0.0',
  api: 1,
  title: 'Dashboard and API documentation',
  needs: [SYSTEM.name],
  extensionPoints: [FIRST_STEPS.point],
  from: import.meta.url,
  setup(ctx) {
    // `base_url` is read when it is used: with a free port it is known only once the server listens.
    const { app } = ctx;
    const steps = (): readonly FirstStep[] => ctx.extensions(FIRST_STEPS);
    return { pages: [dashboardPage(app, steps), ...docsPages(new Docs(ctx.resolve(SYSTEM), app), app), themePage] };
  },
});
