/** `/api/projects/v1` (contract 15). */
import joi from 'joi';
import { created, deleted, invalid, named, pageOf, whole, type RouteSpec } from '../../kernel/contract.js';
import type { ProjectDeletion } from './deletion.js';
import type { IntakeKeys } from './intake-keys.js';
import { warned } from '../../ports/store/left-out.js';
import { createBody, patchBody, projectShape, projectView, SLUG, type ProjectFields } from './project.js';
import type { Projects } from './service.js';

const BASE = '/api/projects/v1/projects';
const READ = { scope: 'projects:read' } as const;
const MANAGE = { scope: 'projects:manage' } as const;

const slugParam = joi.string().pattern(SLUG, 'slug').required();
const params = joi.object({ slug: slugParam });
const one = named('ProjectAnswer', whole({ project: projectShape }));
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

const keyShape = named(
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

export function routes(projects: Projects, keys: IntakeKeys, deletion: ProjectDeletion): RouteSpec[] {
  return [...projectRoutes(projects, deletion), ...keyRoutes(keys)];
}

function projectRoutes(projects: Projects, deletion: ProjectDeletion): RouteSpec[] {
  const archiving = (action: 'archive' | 'unarchive'): RouteSpec => ({
    method: 'POST',
    path: `${BASE}/{slug}/${action}`,
    operationId: `${action}Project`,
    summary: action === 'archive' ? 'Take no more reports and publishes' : 'Take reports and publishes again',
    access: MANAGE,
    input: { params, body: joi.object({}), optionalBody: true },
    output: one,
    handle: async ({ principal, params: { slug = '' } }) => {
      return { project: projectView(await projects.setArchived(principal, slug, action === 'archive')) };
    },
  });
  return [
    {
      method: 'GET',
      path: BASE,
      operationId: 'listProjects',
      summary: 'List the projects',
      description: 'By slug. A token that is bound to a project sees that one alone.',
      access: READ,
      strictQuery: true,
      input: { query: listQuery },
      output: pageOf('ProjectPage', projectShape),
      handle: async ({ principal, query }) => {
        const { include_total, ...asked } = query as unknown as ListQuery;
        const page = await projects.page(principal, asked);
        const items = page.items.map(projectView);
        const list = { items, next_cursor: page.next, has_more: page.next !== null, ...warned(page) };
        return include_total ? { ...list, total: await page.count() } : list;
      },
    },
    {
      method: 'POST',
      path: BASE,
      operationId: 'createProject',
      errors: ['conflict'],
      summary: 'Create a project',
      access: MANAGE,
      input: { body: createBody },
      status: 201,
      output: one,
      handle: async ({ principal, body }) => {
        return created({
          project: projectView(await projects.create(principal, body as ProjectFields & { slug: string })),
        });
      },
    },
    {
      method: 'GET',
      path: `${BASE}/{slug}`,
      operationId: 'getProject',
      summary: 'One project',
      access: READ,
      input: { params },
      output: one,
      handle: async ({ principal, params: { slug = '' } }) => ({
        project: projectView(await projects.need(principal, slug)),
      }),
    },
    {
      method: 'PATCH',
      path: `${BASE}/{slug}`,
      operationId: 'changeProject',
      errors: ['conflict'],
      summary: 'Change a project',
      access: MANAGE,
      input: { params, body: patchBody },
      output: one,
      handle: async ({ principal, params: { slug = '' }, body }) => {
        const { slug: named, ...fields } = body as ProjectFields & { slug?: string };
        if (named !== undefined && named !== slug) throw invalid({ slug: 'cannot be changed: make another project' });
        return { project: projectView(await projects.change(principal, slug, fields)) };
      },
    },
    archiving('archive'),
    archiving('unarchive'),
    {
      method: 'DELETE',
      path: `${BASE}/{slug}`,
      operationId: 'deleteProject',
      errors: ['conflict'],
      summary: 'Delete a project that nothing hangs on',
      description:
        'A project with items, releases, licenses, monitors, status pages or grouping rules is 409 `conflict` and can only ' +
        'be archived. All tokens that are bound to it end at once, and with it go its webhooks, ignore, notification and ' +
        'request rules, saved views, maintenance windows, source maps and session counts: a later project of this slug ' +
        'has none of them.',
      access: MANAGE,
      input: { params },
      output: deleted,
      handle: async ({ principal, params: { slug = '' } }) => {
        await deletion.remove(principal, slug);
        return { deleted: true };
      },
    },
  ];
}

function keyRoutes(keys: IntakeKeys): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: `${BASE}/{slug}/intake-keys`,
      operationId: 'listIntakeKeys',
      summary: 'List a project’s intake keys',
      access: READ,
      strictQuery: true,
      input: { params, query: pageQuery },
      output: pageOf('IntakeKeyPage', keyShape),
      handle: async ({ principal, params: { slug = '' }, query }) => {
        const { include_total, ...asked } = query as unknown as ListQuery;
        const page = await keys.page(principal, slug, asked);
        const list = { items: page.items, next_cursor: page.next, has_more: page.next !== null };
        return include_total ? { ...list, total: await page.count() } : list;
      },
    },
    {
      method: 'POST',
      path: `${BASE}/{slug}/intake-keys`,
      operationId: 'createIntakeKey',
      errors: ['conflict'],
      summary: 'Make an intake key; it is shown once, with its DSN',
      access: MANAGE,
      input: {
        params,
        body: named('IntakeKeyName', joi.object({ name: joi.string().trim().max(100).allow('', null) })),
        optionalBody: true,
      },
      status: 201,
      output: named('IntakeKeyMade', whole({ id: joi.string(), key: joi.string(), dsn: joi.string() })),
      handle: async ({ principal, params: { slug = '' }, body }) => {
        const { name } = (body ?? {}) as { name?: string | null };
        return created(await keys.create(principal, slug, name ?? undefined)).header('cache-control', 'no-store');
      },
    },
    {
      method: 'DELETE',
      path: `${BASE}/{slug}/intake-keys/{id}`,
      operationId: 'revokeIntakeKey',
      summary: 'Revoke an intake key',
      access: MANAGE,
      input: { params: joi.object({ slug: slugParam, id: joi.string().max(64).required() }) },
      output: deleted,
      handle: async ({ principal, params: { slug = '', id = '' } }) => {
        await keys.revoke(principal, slug, id);
        return { deleted: true };
      },
    },
  ];
}
