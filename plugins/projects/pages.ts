/** /projects: readable for all accounts, editable for administrators (contract 80). */
import joi from 'joi';
import {
  getFormFields,
  fromForm,
  formPage,
  type Problem,
  Redirect,
  View,
  type HttpRequest,
  type PageResult,
  type Logger,
  type PageSpec,
} from '../../kernel/contract.js';
import type { PathRoot, ProjectParts, ProjectSections } from '../../ports/domain/projects.js';
import type { ServiceCatalog } from '../../ports/domain/system.js';
import { partsOf, setupOf } from './home.js';
import type { Brands } from './brand/brands.js';
import type { ProjectDeletion } from './deletion.js';
import type { IntakeKeys } from './intake-keys.js';
import { changeBody, createBody, projectInfo, projectView, SLUG, type ProjectFields } from './project.js';
import type { Projects } from './service.js';

const read = { session: 'member' } as const;
const manage = { session: 'admin' } as const;
const title = 'Projects';
const KEYS = 20;
const languages = joi.object({ language: joi.string().max(20).empty('') });
const languageOf = (request: HttpRequest): unknown => request.query['language'] ?? getFormFields(request)['language'];
const params = joi.object({ slug: joi.string().pattern(SLUG, 'slug').required() });

/** One per line: `/srv/app/ → src/`, or with `->`. */
function pathRootsFrom(text: unknown): PathRoot[] {
  const lines = String(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.map((line) => {
    const [from = '', to = ''] = line.split(/\s*(?:→|->|=>)\s*/);
    return { from, to };
  });
}

const pathRootLines = (roots: unknown): unknown =>
  Array.isArray(roots) ? (roots as PathRoot[]).map(({ from, to }) => `${from} → ${to}`).join('\n') : roots;

/**
 * Converts the form to the API's body: check boxes become lists, unchecked ones false.
 * @throws ServiceError validation_failed
 */
function bodyOf(request: HttpRequest, schema: joi.ObjectSchema): ProjectFields & { slug: string } {
  const form = getFormFields(request);
  const setup_scopes = [form['setup_scopes'] ?? []].flat();
  const given = {
    ...form,
    setup_scopes,
    require_signed: form['require_signed'] === 'true',
    description: form['description'] || null,
    ...(form['path_roots'] !== undefined && { path_roots: pathRootsFrom(form['path_roots']) }),
  };
  return fromForm(schema, given) as ProjectFields & { slug: string };
}

const MAKES: ReadonlySet<string> = new Set(['/projects', '/projects/{slug}/intake-keys']);

export interface PageParts {
  projects: Projects;
  keys: IntakeKeys;
  deletion: ProjectDeletion;
  brands: Brands;
  catalog: Pick<ServiceCatalog, 'scopes'>;
  sections: () => readonly ProjectSections[];
  parts: () => readonly ProjectParts[];
  log: Pick<Logger, 'warn'>;
  /** `server.base_url`; with a free port known only after the server listens. */
  baseUrl: () => string;
}

export function pages({
  projects,
  keys,
  deletion,
  brands,
  catalog,
  sections,
  parts,
  log,
  baseUrl,
}: PageParts): PageSpec[] {
  const slugOf = (request: HttpRequest): string => request.params['slug'] ?? '';
  const mayManage = (request: HttpRequest): boolean =>
    request.principal.kind === 'session' && request.principal.role === 'admin';

  const scopes = (chosen: readonly unknown[]): object[] => {
    const offered = [...catalog.scopes()].filter((scope) => scope !== 'setup:install').sort();
    return offered.map((scope) => ({ scope, checked: chosen.includes(scope) }));
  };

  const detail = async (request: HttpRequest, more: Record<string, unknown> = {}): Promise<View> => {
    const known = await projects.need(request.principal, slugOf(request));
    const project = projectView(known);
    const crumbs = [{ label: 'Projects', href: '/projects' }, { label: project.slug }];
    const admin = mayManage(request);
    const info = projectInfo(known);
    const [brand, intake, cards, home] = await Promise.all([
      brands.view(request.principal, project.slug),
      keys.list(request.principal, project.slug),
      admin ? Promise.all(sections().map((section) => section.of(info))) : [],
      partsOf(parts(), info, log),
    ]);
    const live = intake.filter(({ revoked_at }) => revoked_at === null).length;
    const setup = setupOf(info, { baseUrl: baseUrl(), language: languageOf(request), key: null });
    return new View('project', {
      live_topics: 'bugs monitors releases',
      title: project.name,
      project,
      brand,
      intake: intake.slice(0, KEYS),
      hidden_keys: Math.max(0, intake.length - KEYS),
      live,
      admin,
      cards,
      crumbs,
      home,
      setup,
      ...more,
    });
  };

  const editor = async (request: HttpRequest, problem?: Problem): Promise<View> => {
    const slug = request.params['slug'];
    const known = slug === undefined ? null : projectView(await projects.need(request.principal, slug));
    const form =
      problem === undefined
        ? (known ?? { setup_scopes: ['bugtracker:report'], cache_ttl_hours: 72 })
        : getFormFields(request);
    const chosen = [(form as { setup_scopes?: unknown }).setup_scopes ?? []].flat();
    const crumbs = [{ label: 'Projects', href: '/projects' }, { label: known === null ? 'New project' : known.slug }];
    const action = known === null ? '/projects' : `/projects/${known.slug}/edit`;
    const path_roots = pathRootLines((form as { path_roots?: unknown }).path_roots);
    return new View('project-form', { known, form, path_roots, action, scopes: scopes(chosen), crumbs, ...problem });
  };

  const post = (
    path: string,
    run: (request: HttpRequest) => Promise<PageResult>,
    again = detail as typeof editor,
  ): PageSpec =>
    formPage(
      { path, title, access: manage, creates: MAKES.has(path), ...(path.includes('{slug}') && { input: { params } }) },
      run,
      again,
    );

  const to = (slug: string, message: string): Redirect =>
    new Redirect(`/projects/${slug}`, { tone: 'success', message });

  return [
    {
      path: '/projects',
      title,
      nav: {
        section: 'administration',
        label: 'Projects',
        icon: 'project',
        order: 10,
        also: ['products', 'applications', 'dsn', 'intake keys', 'sentry'],
      },
      access: read,
      input: { query: joi.object({ cursor: joi.string().max(4096) }) },
      handle: async (request) => {
        const { cursor } = request.query as { cursor?: string };
        const page = await projects.page(request.principal, { limit: 50, cursor });
        return new View('projects', {
          items: page.items.map(projectView),
          next_cursor: page.next,
          admin: mayManage(request),
        });
      },
    },
    { path: '/projects/new', title: 'New project', access: manage, handle: (request) => editor(request) },
    post(
      '/projects',
      async (request) =>
        to((await projects.create(request.principal, bodyOf(request, createBody))).id, 'Project created.'),
      editor,
    ),
    {
      path: '/projects/{slug}',
      title,
      access: read,
      input: { params, query: languages },
      handle: (request) => detail(request),
    },
    {
      path: '/projects/{slug}/edit',
      title: 'Edit project',
      access: manage,
      input: { params },
      handle: (request) => editor(request),
    },
    post(
      '/projects/{slug}/edit',
      async (request) =>
        to(
          (await projects.change(request.principal, slugOf(request), bodyOf(request, changeBody))).id,
          'Project saved.',
        ),
      editor,
    ),
    post('/projects/{slug}/archive', async (request) => {
      await projects.setArchived(request.principal, slugOf(request), true);
      return to(slugOf(request), 'Project archived: reports and publishes are refused from now on.');
    }),
    post('/projects/{slug}/unarchive', async (request) => {
      await projects.setArchived(request.principal, slugOf(request), false);
      return to(slugOf(request), 'Project takes reports and publishes again.');
    }),
    post('/projects/{slug}/delete', async (request) => {
      await deletion.remove(request.principal, slugOf(request));
      return new Redirect('/projects', { tone: 'success', message: `Deleted ${slugOf(request)}.` });
    }),
    post('/projects/{slug}/intake-keys', async (request) => {
      const name = getFormFields(request)['name'];
      const made = await keys.create(request.principal, slugOf(request), typeof name === 'string' ? name : undefined);
      const slug = slugOf(request);
      const project = projectInfo(await projects.need(request.principal, slug));
      const setup = setupOf(project, { baseUrl: baseUrl(), language: languageOf(request), key: made.key });
      const view = new View('intake-key', { title: 'Intake key', project, made, setup });
      return view.shownOnce({ label: project.name, href: `/projects/${slug}` });
    }),
    {
      ...post('/projects/{slug}/intake-keys/{id}/revoke', async (request) => {
        await keys.revoke(request.principal, slugOf(request), request.params['id'] ?? '');
        return to(slugOf(request), 'Intake key revoked.');
      }),
      input: { params: params.append({ id: joi.string().guid().required() }) },
    },
  ];
}
