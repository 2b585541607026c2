import joi from 'joi';
import { deleted, createPageSchema, type HttpRequest, type RouteSpec } from '../../../kernel/contract/index.js';
import { pickWarnings } from '../../../ports/store/skipped-documents.js';
import { subscriberSchema, toSubscriberView } from '../model/subscriber.js';
import type { StatusPageServices } from '../services.js';

const SUBSCRIBERS_PATH = '/api/watchdog/v1/status-pages/{page}/subscribers';
const page = joi.string().max(64).required().description('Its id or slug');
const getPageParam = (request: HttpRequest): string => request.params['page'] ?? '';

export const buildSubscriberRoutes = ({ pages, subscribers }: StatusPageServices): RouteSpec[] => [
  {
    method: 'GET',
    path: SUBSCRIBERS_PATH,
    operationId: 'listStatusSubscribers',
    summary: 'List the e-mail subscribers of a status page, newest first',
    access: { scope: 'watchdog:manage' },
    input: {
      params: joi.object({ page }),
      query: joi.object({
        limit: joi.number().integer().min(1).max(200).default(50),
        cursor: joi.string().max(20_000),
      }),
    },
    strictQuery: true,
    output: createPageSchema('StatusPageSubscriberPage', subscriberSchema),
    errors: ['not_found'],
    handle: async (request) => {
      const { limit = 50, cursor = null } = request.query as { limit?: number; cursor?: string };
      const found = await subscribers.listPage(
        await pages.getPage(getPageParam(request), request.principal),
        limit,
        cursor,
      );
      const { items, next } = found;
      return { items: items.map(toSubscriberView), next_cursor: next, has_more: next !== null, ...pickWarnings(found) };
    },
  },
  {
    method: 'DELETE',
    path: `${SUBSCRIBERS_PATH}/{subscriber}`,
    strictQuery: true,
    operationId: 'deleteStatusSubscriber',
    summary: 'Remove a subscriber and drop unsent updates',
    access: { scope: 'watchdog:manage' },
    input: { params: joi.object({ page, subscriber: joi.string().guid().required() }) },
    output: deleted,
    errors: ['not_found'],
    handle: async (request) => {
      const found = await pages.getPage(getPageParam(request), request.principal);
      await subscribers.remove(found, request.params['subscriber'] ?? '', request.principal);
      return { deleted: true };
    },
  },
];
