import joi from 'joi';
import {
  getFormFields,
  createFormPage,
  Redirect,
  View,
  getTimeZone,
  type HttpRequest,
  type PageSpec,
  type FormRejection,
} from '../../../kernel/contract/index.js';
import { toAnnouncementView, listStates, type AnnouncementDoc } from '../model/announcement.js';
import type { StatusPageDoc } from '../model/status-page.js';
import { ANNOUNCEMENT_STATE_LABELS } from '../model/state-labels.js';
import type { StatusPageServices } from '../services.js';
import { readAnnouncementFields, idParams, readUpdateFields } from './admin-forms.js';

const access = { session: 'member' } as const;
const title = 'Announcement';
const LIST_PATH = '/status-pages';

export function buildAnnouncementPages({ pages, announcements, clock, timezone }: StatusPageServices): PageSpec[] {
  const base = `${LIST_PATH}/{id}/announcements`;
  const hrefOf = ({ id }: StatusPageDoc): string => `${LIST_PATH}/${id}`;
  const input = { params: idParams.append({ announcement: joi.string().guid().required() }) };
  const need = ({ params, principal }: HttpRequest): Promise<StatusPageDoc> =>
    pages.getPage(params['id'] ?? '', principal);
  const both = async (request: HttpRequest): Promise<[StatusPageDoc, AnnouncementDoc]> => {
    const page = await need(request);
    return [page, await announcements.getAnnouncement(page, request.params['announcement'] ?? '')];
  };
  const crumbsOf = (page: StatusPageDoc, label: string) => [
    { label: 'Status pages', href: LIST_PATH },
    { label: page.title, href: hrefOf(page) },
    { label },
  ];

  const writer = async (request: HttpRequest, problem?: FormRejection): Promise<View> => {
    const page = await need(request);
    const kind = request.query['kind'] === 'maintenance' ? 'maintenance' : 'incident';
    const form: Record<string, unknown> = problem === undefined ? { kind } : getFormFields(request);
    const chosen = new Set([form['components'] ?? []].flat());
    return new View('announcement-form', {
      form,
      planned: form['kind'] === 'maintenance',
      components: page.components.map(({ name }) => ({ name, checked: chosen.has(name) })),
      action: `${hrefOf(page)}/announcements`,
      back: hrefOf(page),
      form_timezone: getTimeZone(request.principal, timezone),
      crumbs: crumbsOf(page, 'New post'),
      ...problem,
    });
  };

  const detail = async (request: HttpRequest, problem?: FormRejection): Promise<View> => {
    const [page, doc] = await both(request);
    const view = toAnnouncementView(doc, clock.iso());
    return new View('announcement', {
      title: doc.title,
      page: pages.toView(page),
      announcement: view,
      word: ANNOUNCEMENT_STATE_LABELS[view.state],
      updates: doc.updates
        .toReversed()
        .map((one) => Object.assign({ word: ANNOUNCEMENT_STATE_LABELS[one.state] }, one)),
      states: listStates(doc.kind).map((value) => ({ value, label: ANNOUNCEMENT_STATE_LABELS[value] })),
      form: problem === undefined ? { state: view.state } : getFormFields(request),
      here: `${hrefOf(page)}/announcements/${doc.id}`,
      back: hrefOf(page),
      crumbs: crumbsOf(page, doc.title),
      ...problem,
    });
  };

  return [
    {
      path: `${base}/new`,
      title: 'New post',
      access,
      input: { params: idParams, query: joi.object({ kind: joi.string().valid('incident', 'maintenance').empty('') }) },
      handle: (request) => writer(request),
    },
    createFormPage(
      { path: base, title: 'New post', access, creates: true, input: { params: idParams } },
      async (request) => {
        const page = await need(request);
        const made = await announcements.create(
          page,
          readAnnouncementFields(request, getTimeZone(request.principal, timezone)),
          request.principal,
        );
        const message = page.published ? 'Posted.' : 'Posted. Visitors see it once the page is published.';
        return new Redirect(`${hrefOf(page)}/announcements/${made.id}`, { tone: 'success', message });
      },
      writer,
    ),
    { path: `${base}/{announcement}`, title, access, input, handle: (request) => detail(request) },
    createFormPage(
      { path: `${base}/{announcement}`, title, access, creates: true, input },
      async (request) => {
        const [page, { id }] = await both(request);
        await announcements.addUpdate(page, id, readUpdateFields(request), request.principal);
        return new Redirect(`${hrefOf(page)}/announcements/${id}`, { tone: 'success', message: 'Update posted.' });
      },
      detail,
    ),
    createFormPage(
      { path: `${base}/{announcement}/delete`, title, access, input },
      async (request) => {
        const [page, { id }] = await both(request);
        await announcements.remove(page, id, request.principal);
        return new Redirect(hrefOf(page), { tone: 'success', message: 'Post deleted.' });
      },
      detail,
    ),
  ];
}
