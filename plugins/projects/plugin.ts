/** Projects, which own reports, releases and licenses (contract 15). */
import { definePlugin, extend } from '../../kernel/contract/index.js';
import { AUDIT_TARGETS, AUDIT } from '../../ports/domain/audit.js';
import { TOKEN_PROJECTS, TOKENS } from '../../ports/domain/tokens.js';
import { ONBOARDING_STEPS, SAMPLE_DATA, SAMPLE_PROJECT, STEP_PROJECT } from '../../ports/domain/dashboard.js';
import {
  PROJECT_CLEANUPS,
  PROJECT_CHOICES,
  PROJECT_PARTS,
  PROJECT_SECTIONS,
  PROJECT_USAGE,
  PROJECTS,
  SELLER_BRANDS,
  type ProjectInfo,
} from '../../ports/domain/projects.js';
import { CATALOG } from '../../ports/domain/system.js';
import { SEARCH_PROVIDERS } from '../../ports/domain/search.js';
import { CONFIG_KINDS } from '../../ports/domain/config/kinds.js';
import { createProjectKind } from './config-kind.js';
import { ProjectDataCleaner } from './project-data-cleaner.js';
import { buildBrandPages } from './brand/pages.js';
import { buildBrandRoutes } from './brand/routes.js';
import { BrandService } from './brand/brands.js';
import { ProjectChoiceCache } from './project-choice-cache.js';
import { buildProjectCommands } from './commands.js';
import { ProjectDeletionService } from './deletion.js';
import { IntakeKeyService } from './intake-keys.js';
import { buildProjectPages } from './pages.js';
import { buildRoutes } from './routes.js';
import { ProjectService } from './service.js';
import { createProjectSearch } from './search.js';

export default definePlugin({
  id: 'projects',
  version: '1.0.0',
  api: 1,
  title: 'Projects',
  critical: true,
  after: ['access'],
  needs: [AUDIT.name, TOKENS.name, CATALOG.name],
  provides: [PROJECTS.name, PROJECT_CHOICES.name, SELLER_BRANDS.name],
  extensionPoints: [PROJECT_USAGE.point, PROJECT_CLEANUPS.point, PROJECT_SECTIONS.point, PROJECT_PARTS.point],
  extends: [
    TOKEN_PROJECTS.point,
    ONBOARDING_STEPS.point,
    SAMPLE_DATA.point,
    STEP_PROJECT.point,
    SEARCH_PROVIDERS.point,
    AUDIT_TARGETS.point,
    CONFIG_KINDS.point,
  ],
  scopes: ['projects:read', 'projects:manage'],
  tags: { projects: 'Projects, and the public intake keys of their applications.' },
  collections: [
    {
      name: 'projects',
      indexes: [{ fields: ['number'], unique: true }, { fields: ['archived'] }, { fields: ['leaving_by'] }],
    },
    { name: 'counters', indexes: [] },
    { name: 'brands', indexes: [{ fields: ['seller'] }] },
    { name: 'deletions', indexes: [] },
  ],
  from: import.meta.url,
  setup(ctx) {
    const { projects, keys, brands, deletion, belongings } = ctx.services({
      projects: ProjectService,
      keys: IntakeKeyService,
      brands: BrandService,
      deletion: ProjectDeletionService,
      belongings: ProjectDataCleaner,
    });
    return {
      routes: [...buildRoutes(projects, keys, deletion), ...buildBrandRoutes(brands)],
      pages: [
        ...buildProjectPages({
          projects,
          keys,
          deletion,
          brands,
          catalog: ctx.resolve(CATALOG),
          sections: () => ctx.extensions(PROJECT_SECTIONS),
          parts: () => ctx.extensions(PROJECT_PARTS),
          log: ctx.log,
          baseUrl: () => ctx.app.base_url,
        }),
        ...buildBrandPages(projects, brands),
      ],
      start: () => belongings.catchUp(),
      jobs: [{ name: 'deletions', everyMs: 30_000, run: () => deletion.reconcile() }],
      commands: buildProjectCommands(projects, keys),
      services: {
        [PROJECTS.name]: projects,
        [PROJECT_CHOICES.name]: new ProjectChoiceCache(projects, ctx.clock),
        [SELLER_BRANDS.name]: brands,
      },
      extensions: [
        extend(TOKEN_PROJECTS, {
          has: async (slug) => (await projects.get(slug)) !== null,
          listOptions: async () => (await projects.list()).map(({ slug, name }) => ({ value: slug, label: name })),
        }),
        extend(SEARCH_PROVIDERS, createProjectSearch(projects)),
        extend(CONFIG_KINDS, createProjectKind(projects, deletion)),
        extend(AUDIT_TARGETS, {
          noun: 'project',
          describe: async (slug) => {
            const found = await projects.get(slug);
            return found && { name: found.name, href: `/projects/${slug}` };
          },
        }),
        extend(STEP_PROJECT, { resolveSlug: async (wanted) => selectSetupProject(await projects.list(), wanted) }),
        extend(SAMPLE_DATA, {
          order: 0,
          add: async (principal) => {
            const about = 'Issues and monitors to explore. Remove them under Get started.';
            await projects.create(principal, { slug: SAMPLE_PROJECT, name: 'Sample', description: about });
          },
          remove: async (principal) => {
            if ((await projects.get(SAMPLE_PROJECT)) !== null) await deletion.remove(principal, SAMPLE_PROJECT);
          },
        }),
        extend(ONBOARDING_STEPS, {
          id: 'project',
          order: 10,
          title: 'Create a project',
          text: 'It holds an app’s issues, releases and licenses.',
          page: { label: 'New project', href: '/projects/new' },
          isDone: async () => (await projects.list()).some(({ slug }) => slug !== SAMPLE_PROJECT),
          command: null,
          token: null,
        }),
      ],
    };
  },
});

/** Defaults to the newest project, unless another one is selected. */
function selectSetupProject(all: readonly ProjectInfo[], wanted: string | null): string | null {
  const open = all.filter(({ archived }) => !archived);
  const newest = open.toSorted((a, b) => b.number - a.number)[0];
  return (open.find(({ slug }) => slug === wanted) ?? newest)?.slug ?? null;
}
