/** /projects: readable for all accounts, editable for administrators (contract 80). */
import joi from 'joi';
import {
  createCsvFile,
  getFormFields,
  fromForm,
  createFormPage,
  type FormRejection,
  Redirect,
  View,
  type HttpRequest,
  type PageResult,
  type Logger,
  type PageSpec,
  type Reply,
} from '../../kernel/contract/index.js';
import { LOGO_TYPES, MAX_LOGO_BYTES } from '../../lib/brand/logo.js';
import { formatCsvPages } from '../../lib/text/csv.js';
import { invalid } from '../../kernel/errors.js';
import type {
  PathRoot,
  ProjectInfo,
  ProjectPartProvider,
  ProjectSectionProvider,
} from '../../ports/domain/projects.js';
import type { ServiceCatalog } from '../../ports/domain/system.js';
import { buildProjectTabs, buildSetupCard, listProjectActions, loadParts } from './home.js';
import type { BrandService } from './brand/brands.js';
import type { ProjectDeletionService } from './deletion.js';
import type { IntakeKeyService } from './intake-keys.js';
import {
  changeBodySchema,
  createBodySchema,
  toProjectInfo,
  toProjectView,
  SLUG_PATTERN,
  type NewProject,
  type ProjectFields,
} from './project.js';
import type { ProjectService } from './service.js';
import { findFreeSlug } from './slug.js';

const EXPORT_PAGE_SIZE = 200;
const CSV_COLUMNS = ['slug', 'name', 'number', 'archived', 'repo_url', 'created_at'] as const;

async function exportProjects(projects: ProjectService, { principal }: HttpRequest): Promise<Reply> {
  const csv = await formatCsvPages(
    CSV_COLUMNS,
    (cursor) => projects.page(principal, { limit: EXPORT_PAGE_SIZE, ...(cursor !== null && { cursor }) }),
    (project) => {
      const view = toProjectView(project);
      return CSV_COLUMNS.map((name) => view[name]);
    },
  );
  return createCsvFile('projects', csv);
}

const readAccess = { session: 'member' } as const;
const manageAccess = { session: 'admin' } as const;
const title = 'Projects';
/** Visible in an existing project's form without opening Advanced. */
const PLAIN_FIELDS: ReadonlySet<string> = new Set(['description', 'repo_url']);
const MAX_LISTED_KEYS = 20;
const languageQuery = joi.object({ language: joi.string().max(20).empty('') });
const getLanguage = (request: HttpRequest): unknown => request.query['language'] ?? getFormFields(request)['language'];
const params = joi.object({ slug: joi.string().pattern(SLUG_PATTERN, 'slug').required() });

/** One per line: `/srv/app/ → src/`, or with `->`. */
function parsePathRoots(text: unknown): PathRoot[] {
  const lines = String(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.map((line) => {
    const [from = '', to = ''] = line.split(/\s*(?:→|->|=>)\s*/);
    return { from, to };
  });
}

const formatPathRoots = (roots: unknown): unknown =>
  Array.isArray(roots) ? (roots as PathRoot[]).map(({ from, to }) => `${from} → ${to}`).join('\n') : roots;

/** @throws ServiceError validation_failed */
function parseForm(
  request: HttpRequest,
  schema: joi.ObjectSchema,
  more: Record<string, unknown> = {},
): ProjectFields & { slug: string } {
  const form = getFormFields(request);
  const setup_scopes = [form['setup_scopes'] ?? []].flat();
  const given = {
    ...form,
    setup_scopes,
    require_signed: form['require_signed'] === 'true',
    description: form['description'] || null,
    ...(form['path_roots'] !== undefined && { path_roots: parsePathRoots(form['path_roots']) }),
    ...more,
  };
  return fromForm(schema, given) as ProjectFields & { slug: string };
}

const CREATE_FORM_PATHS: ReadonlySet<string> = new Set(['/projects', '/projects/{slug}/intake-keys']);

export interface ProjectPageDependencies {
  projects: ProjectService;
  keys: IntakeKeyService;
  deletion: ProjectDeletionService;
  brands: BrandService;
  catalog: Pick<ServiceCatalog, 'listScopes'>;
  sections: () => readonly ProjectSectionProvider[];
  parts: () => readonly ProjectPartProvider[];
  log: Pick<Logger, 'warn'>;
  /** `server.base_url`; with a free port known only after the server listens. */
  baseUrl: () => string;
}

export function buildProjectPages({
  projects,
  keys,
  deletion,
  brands,
  catalog,
  sections,
  parts,
  log,
  baseUrl,
}: ProjectPageDependencies): PageSpec[] {
  const slugOf = (request: HttpRequest): string => request.params['slug'] ?? '';
  const mayManage = (request: HttpRequest): boolean =>
    request.principal.kind === 'session' && request.principal.role === 'admin';

  const scopes = (chosen: readonly unknown[]): object[] => {
    const offered = [...catalog.listScopes()].filter((scope) => scope !== 'setup:install').sort();
    return offered.map((scope) => ({ scope, checked: chosen.includes(scope) }));
  };

  /** A project needs only a name; the slug follows from it. */
  const parseNewProject = async (request: HttpRequest): Promise<NewProject> => {
    const form = getFormFields(request);
    const name = typeof form['name'] === 'string' ? form['name'].trim() : '';
    const isNamed = form['slug'] !== undefined && form['slug'] !== '';
    if (!isNamed && name === '') throw invalid({ name: 'is required' });
    const slug = isNamed ? form['slug'] : await findFreeSlug(name, async (one) => (await projects.get(one)) !== null);
    return parseForm(request, createBodySchema, { slug });
  };

  const loadProject = async (
    request: HttpRequest,
    page: 'overview' | 'settings',
  ): Promise<{ info: ProjectInfo; shared: Record<string, unknown> }> => {
    const known = await projects.getProject(request.principal, slugOf(request));
    const project = toProjectView(known);
    const crumbs = [{ label: 'Projects', href: '/projects' }, { label: project.slug }];
    const shared = {
      title: project.name,
      project,
      admin: mayManage(request),
      crumbs,
      tabs: buildProjectTabs(project.slug, page),
    };
    return { info: toProjectInfo(known), shared };
  };

  const overview = async (request: HttpRequest): Promise<View> => {
    const { info, shared } = await loadProject(request, 'overview');
    return new View('project', {
      ...shared,
      live_topics: 'bugs monitors releases',
      creates: listProjectActions(info.slug),
      home: await loadParts(parts(), info, log),
    });
  };

  const detail = async (request: HttpRequest, more: Record<string, unknown> = {}): Promise<View> => {
    const { info, shared } = await loadProject(request, 'settings');
    const [brand, intake, cards] = await Promise.all([
      brands.getView(request.principal, info.slug),
      keys.list(request.principal, info.slug),
      mayManage(request) ? Promise.all(sections().map((section) => section.loadSections(info))) : [],
    ]);
    return new View('project-settings', {
      ...shared,
      logo_types: LOGO_TYPES.join(','),
      logo_kib: MAX_LOGO_BYTES / 1024,
      brand,
      intake: intake.slice(0, MAX_LISTED_KEYS),
      hidden_keys: Math.max(0, intake.length - MAX_LISTED_KEYS),
      live: intake.filter(({ revoked_at }) => revoked_at === null).length,
      cards,
      setup: buildSetupCard(info, { baseUrl: baseUrl(), language: getLanguage(request), key: null }),
      ...more,
    });
  };

  const editor = async (request: HttpRequest, problem?: FormRejection): Promise<View> => {
    const slug = request.params['slug'];
    const known = slug === undefined ? null : toProjectView(await projects.getProject(request.principal, slug));
    const form =
      problem === undefined
        ? (known ?? { setup_scopes: ['bugtracker:report'], cache_ttl_hours: 72 })
        : getFormFields(request);
    const chosen = [(form as { setup_scopes?: unknown }).setup_scopes ?? []].flat();
    const crumbs = [{ label: 'Projects', href: '/projects' }, { label: known === null ? 'New project' : known.slug }];
    const action = known === null ? '/projects' : `/projects/${known.slug}/edit`;
    const path_roots = formatPathRoots((form as { path_roots?: unknown }).path_roots);
    const advanced_open = Object.keys(problem?.errors ?? {}).some(
      (field) => field !== 'name' && (known === null || !PLAIN_FIELDS.has(field)),
    );
    return new View('project-form', {
      advanced_open,
      known,
      form,
      path_roots,
      action,
      scopes: scopes(chosen),
      crumbs,
      ...problem,
    });
  };

  const post = (
    path: string,
    run: (request: HttpRequest) => Promise<PageResult>,
    again = detail as typeof editor,
  ): PageSpec =>
    createFormPage(
      {
        path,
        title,
        access: manageAccess,
        creates: CREATE_FORM_PATHS.has(path),
        ...(path.includes('{slug}') && { input: { params } }),
      },
      run,
      again,
    );

  const to = (slug: string, message: string, page = '/settings'): Redirect =>
    new Redirect(`/projects/${slug}${page}`, { tone: 'success', message });

  return [
    {
      path: '/projects',
      title,
      nav: {
        section: 'administration',
        group: 'project',
        label: 'Projects',
        icon: 'project',
        order: 10,
        also: ['products', 'applications', 'dsn', 'intake keys', 'sentry'],
      },
      access: readAccess,
      input: { query: joi.object({ cursor: joi.string().max(4096), format: joi.string().valid('csv').empty('') }) },
      handle: async (request) => {
        const { cursor, format } = request.query as { cursor?: string; format?: 'csv' };
        if (format === 'csv') return exportProjects(projects, request);
        const page = await projects.page(request.principal, { limit: 50, cursor });
        return new View('projects', {
          items: page.items.map(toProjectView),
          next_cursor: page.next,
          admin: mayManage(request),
        });
      },
    },
    { path: '/projects/new', title: 'New project', access: manageAccess, handle: (request) => editor(request) },
    post(
      '/projects',
      async (request) =>
        to((await projects.create(request.principal, await parseNewProject(request))).id, 'Project created.', ''),
      editor,
    ),
    {
      path: '/projects/{slug}',
      title,
      entry: null,
      access: readAccess,
      input: { params },
      handle: (request) => overview(request),
    },
    {
      path: '/projects/{slug}/settings',
      title: 'Project settings',
      entry: null,
      access: readAccess,
      input: { params, query: languageQuery },
      handle: (request) => detail(request),
    },
    {
      path: '/projects/{slug}/edit',
      title: 'Edit project',
      access: manageAccess,
      input: { params },
      handle: (request) => editor(request),
    },
    post(
      '/projects/{slug}/edit',
      async (request) =>
        to(
          (await projects.change(request.principal, slugOf(request), parseForm(request, changeBodySchema))).id,
          'Project saved.',
        ),
      editor,
    ),
    post('/projects/{slug}/archive', async (request) => {
      await projects.setArchived(request.principal, slugOf(request), true);
      return to(slugOf(request), 'Project archived.');
    }),
    post('/projects/{slug}/unarchive', async (request) => {
      await projects.setArchived(request.principal, slugOf(request), false);
      return to(slugOf(request), 'Project unarchived.');
    }),
    post('/projects/{slug}/delete', async (request) => {
      await deletion.remove(request.principal, slugOf(request));
      return new Redirect('/projects', { tone: 'success', message: `Deleted ${slugOf(request)}.` });
    }),
    post('/projects/{slug}/intake-keys', async (request) => {
      const name = getFormFields(request)['name'];
      const made = await keys.create(request.principal, slugOf(request), typeof name === 'string' ? name : undefined);
      const slug = slugOf(request);
      const project = toProjectInfo(await projects.getProject(request.principal, slug));
      const setup = buildSetupCard(project, { baseUrl: baseUrl(), language: getLanguage(request), key: made.key });
      const view = new View('intake-key', { title: 'Intake key', project, made, setup });
      return view.asOneTimeView({ label: project.name, href: `/projects/${slug}/settings` });
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
