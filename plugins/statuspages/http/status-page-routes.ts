import joi from 'joi';
import {
  created,
  deleted,
  withSchemaName,
  withJsonSchema,
  whole,
  type HttpRequest,
  type RouteSpec,
} from '../../../kernel/contract/index.js';
import { invalid } from '../../../kernel/errors.js';
import { MAX_LOGO_BYTES } from '../../../lib/brand/logo.js';
import {
  announcementBody,
  announcementEdit,
  announcementSchema,
  toAnnouncementView,
  updateBody,
  type AnnouncementFields,
  type AnnouncementState,
} from '../model/announcement.js';
import { editBody, pageBody, statusPageSchema, type PageFields } from '../model/status-page.js';
import type { StatusPageServices } from '../services.js';
import type { AnnouncementChange } from '../store/announcement-service.js';
import { pickWarnings } from '../../../ports/store/skipped-documents.js';

const STATUS_PAGES_PATH = '/api/watchdog/v1/status-pages';
const PAGE_PATH = `${STATUS_PAGES_PATH}/{page}`;
const ANNOUNCEMENTS_PATH = `${PAGE_PATH}/announcements`;
const MANAGE_ACCESS = { scope: 'watchdog:manage' } as const;
const READ_ACCESS = [{ anyScope: ['watchdog:read', 'watchdog:manage'] }, { sharedKey: true }] as const;

const page = joi.string().max(64).required();
const params = joi.object({ page: page.description('Its id or slug') });
const announcementParams = joi.object({ page, announcement: joi.string().guid().required() });
const pageOutput = withSchemaName('StatusPageAnswer', whole({ page: statusPageSchema }));
const announcementOutput = withSchemaName('StatusAnnouncementAnswer', whole({ announcement: announcementSchema }));
const getPageParam = (request: HttpRequest): string => request.params['page'] ?? '';
const getAnnouncementParam = (request: HttpRequest): string => request.params['announcement'] ?? '';

export const buildStatusPageRoutes = (services: StatusPageServices): RouteSpec[] => [
  ...buildPageRoutes(services),
  ...buildLogoRoutes(services),
  ...buildAnnouncementRoutes(services),
];

const buildPageRoutes = ({ pages }: StatusPageServices): RouteSpec[] => [
  {
    method: 'GET',
    path: STATUS_PAGES_PATH,
    strictQuery: true,
    operationId: 'listStatusPages',
    summary: 'List status pages, sorted by title',
    access: READ_ACCESS,
    output: withSchemaName('StatusPageList', whole({ items: joi.array().items(statusPageSchema) })),
    handle: async ({ principal }) => ({ items: await pages.list(principal) }),
  },
  {
    method: 'POST',
    path: STATUS_PAGES_PATH,
    strictQuery: true,
    operationId: 'createStatusPage',
    summary: 'Create a status page',
    description:
      'Its components represent monitors; the worst state applies. Only clients with `preview_url` can see it until ' +
      '`published` is true. 409 `conflict` if the slug or the host belongs to another page.',
    access: MANAGE_ACCESS,
    input: { body: pageBody },
    status: 201,
    output: pageOutput,
    errors: ['conflict', 'unknown_project'],
    handle: async ({ body, principal }) => {
      const made = await pages.create(body as PageFields & { slug: string; title: string }, principal);
      return created({ page: pages.toView(made) });
    },
  },
  {
    method: 'GET',
    path: PAGE_PATH,
    strictQuery: true,
    operationId: 'getStatusPage',
    summary: 'Get a status page by id or slug',
    access: READ_ACCESS,
    input: { params },
    output: pageOutput,
    errors: ['not_found'],
    handle: async (request) => ({ page: pages.toView(await pages.getPage(getPageParam(request), request.principal)) }),
  },
  {
    method: 'PATCH',
    path: PAGE_PATH,
    strictQuery: true,
    operationId: 'changeStatusPage',
    summary: 'Change the given fields of a status page; `published` publishes or unpublishes it',
    access: MANAGE_ACCESS,
    input: { params, body: editBody },
    output: pageOutput,
    errors: ['not_found', 'conflict', 'unknown_project'],
    handle: async (request) => {
      const changed = await pages.change(getPageParam(request), request.body as PageFields, request.principal);
      return { page: pages.toView(changed) };
    },
  },
  {
    method: 'DELETE',
    path: PAGE_PATH,
    strictQuery: true,
    operationId: 'deleteStatusPage',
    summary: 'Delete a status page with its announcements and its logo',
    access: MANAGE_ACCESS,
    input: { params },
    output: deleted,
    errors: ['not_found'],
    handle: async (request) => {
      await pages.remove(getPageParam(request), request.principal);
      return { deleted: true };
    },
  },
];

const buildLogoRoutes = ({ pages }: StatusPageServices): RouteSpec[] => [
  {
    method: 'PUT',
    path: `${PAGE_PATH}/logo`,
    strictQuery: true,
    operationId: 'setStatusPageLogo',
    summary: 'Set the logo of a status page',
    description: `The body is a picture of PNG, JPEG or WebP, of ${MAX_LOGO_BYTES / 1024} KiB at most; its bytes decide what it is.`,
    access: MANAGE_ACCESS,
    input: {
      params,
      body: withJsonSchema({ type: 'string', format: 'binary' }, joi.binary().required()),
      mediaType: 'application/octet-stream',
    },
    limits: { payload: 'raw', bytes: MAX_LOGO_BYTES },
    output: pageOutput,
    errors: ['not_found', 'conflict', 'validation_failed'],
    handle: async (request) => {
      const { body } = request;
      if (!Buffer.isBuffer(body) || body.length === 0) throw invalid({ logo: 'is required' });
      return { page: pages.toView(await pages.setLogo(getPageParam(request), body, request.principal)) };
    },
  },
  {
    method: 'DELETE',
    path: `${PAGE_PATH}/logo`,
    strictQuery: true,
    operationId: 'removeStatusPageLogo',
    summary: 'Remove the logo of a status page',
    access: MANAGE_ACCESS,
    input: { params },
    output: pageOutput,
    errors: ['not_found', 'conflict'],
    handle: async (request) => ({
      page: pages.toView(await pages.setLogo(getPageParam(request), null, request.principal)),
    }),
  },
];

const buildAnnouncementRoutes = ({ pages, announcements, clock }: StatusPageServices): RouteSpec[] => [
  {
    method: 'GET',
    path: ANNOUNCEMENTS_PATH,
    operationId: 'listStatusAnnouncements',
    summary: 'List incidents and planned work of a status page, newest first',
    access: READ_ACCESS,
    input: {
      params,
      query: joi.object({
        limit: joi.number().integer().min(1).max(200).default(50),
        cursor: joi.string().max(20_000),
      }),
    },
    strictQuery: true,
    output: withSchemaName(
      'StatusAnnouncementPage',
      whole({
        items: joi.array().items(announcementSchema),
        next_cursor: joi.string().allow(null),
        has_more: joi.boolean(),
      }),
    ),
    errors: ['not_found'],
    handle: async (request) => {
      const { limit = 50, cursor = null } = request.query as { limit?: number; cursor?: string };
      const found = await pages.getPage(getPageParam(request), request.principal);
      const page = await announcements.listPage(found, limit, cursor);
      const { items, next } = page;
      const views = items.map((one) => toAnnouncementView(one, clock.iso()));
      return { items: views, next_cursor: next, has_more: next !== null, ...pickWarnings(page) };
    },
  },
  {
    method: 'POST',
    path: ANNOUNCEMENTS_PATH,
    operationId: 'announceStatus',
    summary: 'Announce an incident or planned work',
    description:
      'The text is public. Internal comments belong to the incident of the monitor and are never shown here.',
    access: MANAGE_ACCESS,
    input: { params, body: announcementBody },
    status: 201,
    output: announcementOutput,
    errors: ['not_found', 'conflict'],
    handle: async (request) => {
      const found = await pages.getPage(getPageParam(request), request.principal);
      const made = await announcements.create(found, request.body as AnnouncementFields, request.principal);
      return created({ announcement: toAnnouncementView(made, clock.iso()) });
    },
  },
  {
    method: 'PATCH',
    path: `${ANNOUNCEMENTS_PATH}/{announcement}`,
    strictQuery: true,
    operationId: 'changeStatusAnnouncement',
    summary: 'Change the given fields of an announcement',
    access: MANAGE_ACCESS,
    input: { params: announcementParams, body: announcementEdit },
    output: announcementOutput,
    errors: ['not_found'],
    handle: async (request) => {
      const found = await pages.getPage(getPageParam(request), request.principal);
      const edit = request.body as AnnouncementChange;
      const changed = await announcements.change(found, getAnnouncementParam(request), edit, request.principal);
      return { announcement: toAnnouncementView(changed, clock.iso()) };
    },
  },
  {
    method: 'DELETE',
    path: `${ANNOUNCEMENTS_PATH}/{announcement}`,
    strictQuery: true,
    operationId: 'deleteStatusAnnouncement',
    summary: 'Delete an announcement',
    access: MANAGE_ACCESS,
    input: { params: announcementParams },
    output: deleted,
    errors: ['not_found'],
    handle: async (request) => {
      const found = await pages.getPage(getPageParam(request), request.principal);
      await announcements.remove(found, getAnnouncementParam(request), request.principal);
      return { deleted: true };
    },
  },
  {
    method: 'POST',
    path: `${ANNOUNCEMENTS_PATH}/{announcement}/updates`,
    strictQuery: true,
    operationId: 'updateStatusAnnouncement',
    summary: 'Add an update to an announcement',
    description: '`resolved` and `completed` end it; any other state reopens it.',
    access: MANAGE_ACCESS,
    input: { params: announcementParams, body: updateBody },
    status: 201,
    output: announcementOutput,
    errors: ['not_found', 'conflict'],
    handle: async (request) => {
      const found = await pages.getPage(getPageParam(request), request.principal);
      const update = request.body as { state: AnnouncementState; text: string };
      const changed = await announcements.addUpdate(found, getAnnouncementParam(request), update, request.principal);
      return created({ announcement: toAnnouncementView(changed, clock.iso()) });
    },
  },
];
