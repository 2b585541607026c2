import joi from 'joi';
import {
  created,
  deleted,
  invalid,
  withSchemaName,
  createPageSchema,
  whole,
  type RouteSpec,
} from '../../kernel/contract/index.js';
import type { ProjectDeletionService } from './deletion.js';
import type { IntakeKeyService } from './intake-keys.js';
import { pickWarnings } from '../../ports/store/skipped-documents.js';
import {
  createBodySchema,
  patchBodySchema,
  projectSchema,
  toProjectView,
  SLUG_PATTERN,
  type ProjectFields,
} from './project.js';
import type { ProjectService } from './service.js';

const BASE_PATH = '/api/projects/v1/projects';
const READ_ACCESS = { scope: 'projects:read' } as const;
const MANAGE_ACCESS = { scope: 'projects:manage' } as const;

const slugParam = joi.string().pattern(SLUG_PATTERN, 'slug').required();
const params = joi.object({ slug: slugParam });
const projectAnswerSchema = withSchemaName('ProjectAnswer', whole({ project: projectSchema }));
const timestamp = joi.string().isoDate();

const pageQuery = joi.object({
  limit: joi.number().integer().min(1).max(200).default(50),
  cursor: joi.string().max(4096),
  include_total: joi.boolean().default(false),
});
const listQuery = pageQuery.keys({ archived: joi.boolean() });

interface ListQuery {
  limit: number;
  cursor?: string;
  archived?: boolean;
  include_total: boolean;
}

const intakeKeySchema = withSchemaName(
  'IntakeKey',
  whole({
    id: joi.string(),
    name: joi.string(),
    prefix: joi.string(),
    created_by: joi.string(),
    created_at: timestamp,
    last_used_at: timestamp.allow(null),
    revoked_at: timestamp.allow(null),
  }),
);

export function buildRoutes(
  projects: ProjectService,
  keys: IntakeKeyService,
  deletion: ProjectDeletionService,
): RouteSpec[] {
  return [...buildProjectRoutes(projects, deletion), ...buildKeyRoutes(keys)];
}

function buildProjectRoutes(projects: ProjectService, deletion: ProjectDeletionService): RouteSpec[] {
  const archiving = (action: 'archive' | 'unarchive'): RouteSpec => ({
    method: 'POST',
    path: `${BASE_PATH}/{slug}/${action}`,
    operationId: `${action}Project`,
    summary:
      action === 'archive'
        ? 'Archive a project, so that it rejects reports and publishes'
        : 'Restore an archived project, so that it accepts reports and publishes',
    access: MANAGE_ACCESS,
    input: { params, body: joi.object({}), optionalBody: true },
    output: projectAnswerSchema,
    handle: async ({ principal, params: { slug = '' } }) => {
      return { project: toProjectView(await projects.setArchived(principal, slug, action === 'archive')) };
    },
  });
  return [
    {
      method: 'GET',
      path: BASE_PATH,
      operationId: 'listProjects',
      summary: 'List the projects',
      description: 'Sorted by slug. A token limited to a project sees only that project.',
      access: READ_ACCESS,
      strictQuery: true,
      input: { query: listQuery },
      output: createPageSchema('ProjectPage', projectSchema),
      handle: async ({ principal, query }) => {
        const { include_total, ...pageOptions } = query as unknown as ListQuery;
        const page = await projects.page(principal, pageOptions);
        const items = page.items.map(toProjectView);
        const list = { items, next_cursor: page.next, has_more: page.next !== null, ...pickWarnings(page) };
        return include_total ? { ...list, total: await page.count() } : list;
      },
    },
    {
      method: 'POST',
      path: BASE_PATH,
      operationId: 'createProject',
      errors: ['conflict'],
      summary: 'Create a project',
      access: MANAGE_ACCESS,
      input: { body: createBodySchema },
      status: 201,
      output: projectAnswerSchema,
      handle: async ({ principal, body }) => {
        return created({
          project: toProjectView(await projects.create(principal, body as ProjectFields & { slug: string })),
        });
      },
    },
    {
      method: 'GET',
      path: `${BASE_PATH}/{slug}`,
      operationId: 'getProject',
      summary: 'One project',
      access: READ_ACCESS,
      input: { params },
      output: projectAnswerSchema,
      handle: async ({ principal, params: { slug = '' } }) => ({
        project: toProjectView(await projects.getProject(principal, slug)),
      }),
    },
    {
      method: 'PATCH',
      path: `${BASE_PATH}/{slug}`,
      operationId: 'changeProject',
      errors: ['conflict'],
      summary: 'Change a project',
      access: MANAGE_ACCESS,
      input: { params, body: patchBodySchema },
      output: projectAnswerSchema,
      handle: async ({ principal, params: { slug = '' }, body }) => {
        const { slug: named, ...fields } = body as ProjectFields & { slug?: string };
        if (named !== undefined && named !== slug) throw invalid({ slug: 'cannot be changed: create another project' });
        return { project: toProjectView(await projects.change(principal, slug, fields)) };
      },
    },
    archiving('archive'),
    archiving('unarchive'),
    {
      method: 'DELETE',
      path: `${BASE_PATH}/{slug}`,
      operationId: 'deleteProject',
      errors: ['conflict'],
      summary: 'Delete a project without data',
      description:
        'A project with items, releases, licenses, monitors, status pages or grouping rules is 409 `conflict` and can only ' +
        'be archived. All tokens limited to it are revoked immediately. Also deleted are its webhooks, ignore, notification and ' +
        'request rules, saved views, maintenance windows, source maps and session counts: a later project with this slug ' +
        'does not inherit them.',
      access: MANAGE_ACCESS,
      input: { params },
      output: deleted,
      handle: async ({ principal, params: { slug = '' } }) => {
        await deletion.remove(principal, slug);
        return { deleted: true };
      },
    },
  ];
}

function buildKeyRoutes(keys: IntakeKeyService): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: `${BASE_PATH}/{slug}/intake-keys`,
      operationId: 'listIntakeKeys',
      summary: 'List a project’s intake keys',
      access: READ_ACCESS,
      strictQuery: true,
      input: { params, query: pageQuery },
      output: createPageSchema('IntakeKeyPage', intakeKeySchema),
      handle: async ({ principal, params: { slug = '' }, query }) => {
        const { include_total, ...pageOptions } = query as unknown as ListQuery;
        const page = await keys.listPage(principal, slug, pageOptions);
        const list = { items: page.items, next_cursor: page.next, has_more: page.next !== null };
        return include_total ? { ...list, total: await page.count() } : list;
      },
    },
    {
      method: 'POST',
      path: `${BASE_PATH}/{slug}/intake-keys`,
      operationId: 'createIntakeKey',
      errors: ['conflict'],
      summary: 'Create an intake key; it is shown once, with its DSN',
      access: MANAGE_ACCESS,
      input: {
        params,
        body: withSchemaName('IntakeKeyName', joi.object({ name: joi.string().trim().max(100).allow('', null) })),
        optionalBody: true,
      },
      status: 201,
      output: withSchemaName('IntakeKeyMade', whole({ id: joi.string(), key: joi.string(), dsn: joi.string() })),
      handle: async ({ principal, params: { slug = '' }, body }) => {
        const { name } = (body ?? {}) as { name?: string | null };
        return created(await keys.create(principal, slug, name ?? undefined)).header('cache-control', 'no-store');
      },
    },
    {
      method: 'DELETE',
      path: `${BASE_PATH}/{slug}/intake-keys/{id}`,
      operationId: 'revokeIntakeKey',
      summary: 'Revoke an intake key',
      access: MANAGE_ACCESS,
      input: { params: joi.object({ slug: slugParam, id: joi.string().max(64).required() }) },
      output: deleted,
      handle: async ({ principal, params: { slug = '', id = '' } }) => {
        await keys.revoke(principal, slug, id);
        return { deleted: true };
      },
    },
  ];
}
