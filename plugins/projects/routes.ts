/** `/api/projects/v1` (contract 15). */
import joi from 'joi';
import { created, type RouteSpec } from '../../kernel/contract.js';
import type { IntakeKeys } from './intake-keys.js';
import { changeBody, createBody, projectShape, projectView, SLUG, type ProjectFields } from './project.js';
import type { Projects } from './service.js';

const BASE = '/api/projects/v1/projects';
const READ = { scope: 'projects:read' } as const;
const MANAGE = { scope: 'projects:manage' } as const;

const slugParam = joi.string().pattern(SLUG, 'slug').required();
const params = joi.object({ slug: slugParam });
const one = joi.object({ project: projectShape.required() });
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

/** Shape of a paged list of `items` (contract 00, lists). */
const listOf = (items: joi.Schema): joi.ObjectSchema =>
  joi.object({
    items: joi.array().items(items).required(),
    next_cursor: joi.string().allow(null).required(),
    has_more: joi.boolean().required(),
    total: joi.number().integer(),
  });

const keyShape = joi.object({
  id: joi.string().required(),
  name: joi.string().required(),
  prefix: joi.string().required(),
  created_by: joi.string().required(),
  created_at: timestamp.required(),
  last_used_at: timestamp.allow(null).required(),
  revoked_at: timestamp.allow(null).required(),
});

const deleted = joi.object({ deleted: joi.boolean().required() });

export function routes(projects: Projects, keys: IntakeKeys): RouteSpec[] {
  return [...projectRoutes(projects, keys), ...keyRoutes(keys)];
}

function projectRoutes(projects: Projects, keys: IntakeKeys): RouteSpec[] {
  const archiving = (action: 'archive' | 'unarchive'): RouteSpec => ({
    method: 'POST',
    path: `${BASE}/{slug}/${action}`,
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
      summary: 'List the projects',
      description: 'By slug. A token that is bound to a project sees that one alone.',
      access: READ,
      strictQuery: true,
      input: { query: listQuery },
      output: listOf(projectShape),
      handle: async ({ principal, query }) => {
        const { include_total, ...asked } = query as unknown as ListQuery;
        const page = await projects.page(principal, asked);
        const list = { items: page.items.map(projectView), next_cursor: page.next, has_more: page.next !== null };
        return include_total ? { ...list, total: await page.count() } : list;
      },
    },
    {
      method: 'POST',
      path: BASE,
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
      summary: 'Change a project',
      access: MANAGE,
      input: { params, body: changeBody },
      output: one,
      handle: async ({ principal, params: { slug = '' }, body }) => {
        return { project: projectView(await projects.change(principal, slug, body as ProjectFields)) };
      },
    },
    archiving('archive'),
    archiving('unarchive'),
    {
      method: 'DELETE',
      path: `${BASE}/{slug}`,
      summary: 'Delete a project that nothing hangs on',
      description:
        'A project with items, releases or licenses is 409 `conflict` and can only be archived. Its intake keys are revoked.',
      access: MANAGE,
      input: { params },
      output: deleted,
      handle: async ({ principal, params: { slug = '' } }) => {
        await projects.remove(principal, slug, (gone) => keys.revokeAll(gone));
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
      summary: 'List a project’s intake keys',
      access: READ,
      strictQuery: true,
      input: { params, query: pageQuery },
      output: listOf(keyShape),
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
      summary: 'Make an intake key; it is shown once, with its DSN',
      access: MANAGE,
      input: { params, body: joi.object({ name: joi.string().trim().max(100).allow('', null) }), optionalBody: true },
      status: 201,
      output: joi.object({ id: joi.string().required(), key: joi.string().required(), dsn: joi.string().required() }),
      handle: async ({ principal, params: { slug = '' }, body }) => {
        const { name } = (body ?? {}) as { name?: string | null };
        return created(await keys.create(principal, slug, name ?? undefined)).header('cache-control', 'no-store');
      },
    },
    {
      method: 'DELETE',
      path: `${BASE}/{slug}/intake-keys/{id}`,
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
