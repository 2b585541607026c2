import joi from 'joi';
import {
  createFormPage,
  Redirect,
  text,
  View,
  type HttpRequest,
  type PageSpec,
  type FormRejection,
} from '../../../kernel/contract/index.js';
import { escapeFormula } from '../../../lib/text/csv.js';
import type { StatusPageDoc } from '../model/status-page.js';
import { MAX_SUBSCRIBERS, toSubscriberView } from '../model/subscriber.js';
import type { StatusPageServices } from '../services.js';
import { idParams } from './admin-forms.js';

const access = { session: 'member' } as const;
const title = 'Subscribers';
const LIST_PATH = '/status-pages';
const MAX_SHOWN_SUBSCRIBERS = 50;
const BATCH_SIZE = 200;
const CSV_COLUMNS = ['email', 'confirmed_at', 'created_at'] as const;

const formatCell = (value: string | null): string => `"${escapeFormula(value ?? '').replaceAll('"', '""')}"`;

export function buildSubscriberPages({ pages, subscribers }: StatusPageServices): PageSpec[] {
  const need = ({ params, principal }: HttpRequest): Promise<StatusPageDoc> =>
    pages.getPage(params['id'] ?? '', principal);
  const hrefOf = ({ id }: StatusPageDoc): string => `${LIST_PATH}/${encodeURIComponent(id)}`;
  const query = joi.object({ cursor: joi.string().max(20_000).empty('') });

  const list = async (request: HttpRequest, problem?: FormRejection): Promise<View> => {
    const page = await need(request);
    const { cursor = null } = request.query as { cursor?: string };
    const found = await subscribers.listPage(page, MAX_SHOWN_SUBSCRIBERS, cursor);
    return new View('subscribers', {
      title: `Subscribers of ${page.title}`,
      items: found.items.map((one) => toSubscriberView(one)),
      count: await subscribers.count(page),
      most: MAX_SUBSCRIBERS,
      next_cursor: found.next,
      here: `${hrefOf(page)}/subscribers`,
      open: pages.acceptsSubscribers(page),
      crumbs: [{ label: 'Status pages', href: LIST_PATH }, { label: page.title, href: hrefOf(page) }, { label: title }],
      ...problem,
    });
  };

  return [
    {
      path: `${LIST_PATH}/{id}/subscribers`,
      title,
      access,
      input: { params: idParams, query },
      handle: (request) => list(request),
    },
    {
      path: `${LIST_PATH}/{id}/subscribers.csv`,
      title,
      access,
      input: { params: idParams },
      handle: async (request) => {
        const page = await need(request);
        const lines = [CSV_COLUMNS.join(',')];
        for (let cursor: string | null = null, last = false; !last;) {
          const found = await subscribers.listPage(page, BATCH_SIZE, cursor);
          lines.push(...found.items.map((one) => CSV_COLUMNS.map((name) => formatCell(one[name])).join(',')));
          cursor = found.next;
          last = cursor === null;
        }
        return text(`${lines.join('\r\n')}\r\n`, 'text/csv; charset=utf-8').header(
          'content-disposition',
          `attachment; filename="${page.slug}-subscribers.csv"`,
        );
      },
    },
    createFormPage(
      {
        path: `${LIST_PATH}/{id}/subscribers/{subscriber}/remove`,
        title,
        access,
        input: { params: idParams.append({ subscriber: joi.string().guid().required() }) },
      },
      async (request) => {
        const page = await need(request);
        await subscribers.remove(page, request.params['subscriber'] ?? '', request.principal);
        return new Redirect(`${hrefOf(page)}/subscribers`, { tone: 'success', message: 'Subscriber removed.' });
      },
      list,
    ),
  ];
}
