import joi from 'joi';
import {
  createCsvFile,
  getFormFields,
  createFormPage,
  Redirect,
  View,
  type FormFile,
  type HttpRequest,
  type PageSpec,
  type FormRejection,
} from '../../../kernel/contract/index.js';
import { invalid, notFound } from '../../../kernel/errors.js';
import { formatCsvRecords } from '../../../lib/text/csv.js';
import { MAX_LOGO_BYTES, LOGO_TYPES } from '../../../lib/brand/logo.js';
import { canSetHost } from '../caller.js';
import { toAnnouncementView } from '../model/announcement.js';
import type { StatusPageComponent, ComponentFields, PageFields, StatusPageDoc } from '../model/status-page.js';
import { ANNOUNCEMENT_STATE_LABELS } from '../model/state-labels.js';
import type { StatusPageServices } from '../services.js';
import { buildAnnouncementPages } from './announcement-pages.js';
import { readComponentFields, idParams, readPageFields } from './admin-forms.js';

const access = { session: 'member' } as const;
const title = 'Status pages';
const LIST_PATH = '/status-pages';
const MAX_SHOWN_ANNOUNCEMENTS = 50;

export const getPageHref = (id: string): string => `${LIST_PATH}/${encodeURIComponent(id)}`;

const redirectTo = (location: string, message: string): Redirect =>
  new Redirect(location, { tone: 'success', message });

const CSV_COLUMNS = ['slug', 'title', 'published', 'project', 'components', 'url'] as const;

export function buildAdminPages(services: StatusPageServices): PageSpec[] {
  const { pages, announcements, projects, clock, timezone } = services;
  const input = { params: idParams };
  const need = ({ params, principal }: HttpRequest): Promise<StatusPageDoc> =>
    pages.getPage(params['id'] ?? '', principal);

  const editor = async (request: HttpRequest, problem?: FormRejection): Promise<View> => {
    const known = request.params['id'] === undefined ? null : pages.toView(await need(request));
    const all = await projects.list();
    return new View('page-form', {
      form: problem === undefined ? (known ?? { timezone }) : getFormFields(request),
      known,
      may_host: canSetHost(request.principal),
      action: known === null ? `${LIST_PATH}/new` : `${getPageHref(known.id)}/edit`,
      back: known === null ? LIST_PATH : getPageHref(known.id),
      projects: all.map(({ slug, name }) => ({ value: slug, label: name })),
      crumbs: [{ label: title, href: LIST_PATH }, { label: known?.title ?? 'New status page' }],
      ...problem,
    });
  };

  const detail = async (request: HttpRequest, problem?: FormRejection): Promise<View> => {
    const doc = await need(request);
    const { items } = await announcements.listPage(doc, MAX_SHOWN_ANNOUNCEMENTS);
    const now = clock.iso();
    return new View('page-detail', {
      title: doc.title,
      page: pages.toView(doc),
      components: doc.components.map((one, i) => Object.assign(toComponentRow(one, i), one)),
      announcements: items.map((one) => {
        const view = toAnnouncementView(one, now);
        return Object.assign({}, view, {
          word: ANNOUNCEMENT_STATE_LABELS[view.state],
          href: `${getPageHref(doc.id)}/announcements/${one.id}`,
        });
      }),
      here: getPageHref(doc.id),
      types: LOGO_TYPES.join(','),
      logo_kib: MAX_LOGO_BYTES / 1024,
      form: problem === undefined ? {} : getFormFields(request),
      crumbs: [{ label: title, href: LIST_PATH }, { label: doc.title }],
      ...problem,
    });
  };

  const action = (
    path: string,
    run: (request: HttpRequest, page: StatusPageDoc) => Promise<string>,
    more: Partial<PageSpec> = {},
  ): PageSpec =>
    createFormPage(
      { path: `${LIST_PATH}/{id}${path}`, title, access, input, ...more },
      async (request) => {
        const page = await need(request);
        return redirectTo(getPageHref(page.id), await run(request, page));
      },
      (request, problem) => detail(request, problem),
    );
  const change = async (request: HttpRequest, page: StatusPageDoc, fields: PageFields): Promise<void> => {
    await pages.change(page.id, fields, request.principal);
  };
  const nth = { input: { params: idParams.append({ n: joi.number().integer().min(1).max(50).required() }) } };
  /** @throws ServiceError not_found */
  const changed = (
    { params }: HttpRequest,
    { components }: StatusPageDoc,
    how: (list: ComponentFields[], at: number) => void,
  ): { components: ComponentFields[] } => {
    const at = Number(params['n']) - 1;
    if (components[at] === undefined) throw notFound('such component');
    const list: ComponentFields[] = [...components];
    how(list, at);
    return { components: list };
  };

  return [
    {
      path: LIST_PATH,
      title,
      nav: {
        section: 'delivery',
        label: title,
        icon: 'globe',
        order: 40,
        also: ['customers', 'public', 'uptime', 'statuspage'],
      },
      access,
      input: { query: joi.object({ format: joi.string().valid('csv').empty('') }) },
      handle: async ({ principal, query }) => {
        const items = await pages.list(principal);
        if (query['format'] !== 'csv') return new View('pages', { items });
        const rows = items.map((page) => Object.assign({}, page, { components: page.components.length }));
        return createCsvFile('status-pages', formatCsvRecords(CSV_COLUMNS, rows));
      },
    },
    { path: `${LIST_PATH}/new`, title: 'New status page', access, handle: (request) => editor(request) },
    createFormPage(
      { path: `${LIST_PATH}/new`, title: 'New status page', access, creates: true },
      async (request) => {
        const fields = readPageFields(request, true) as PageFields & { slug: string; title: string };
        const made = await pages.create(fields, request.principal);
        return redirectTo(getPageHref(made.id), 'Status page created. Add components, then publish it.');
      },
      (request, problem) => editor(request, problem),
    ),
    { path: `${LIST_PATH}/{id}`, title, access, input, handle: (request) => detail(request) },
    { path: `${LIST_PATH}/{id}/edit`, title: 'Edit status page', access, input, handle: (request) => editor(request) },
    createFormPage(
      { path: `${LIST_PATH}/{id}/edit`, title: 'Edit status page', access, input },
      async (request) => {
        const { id } = await need(request);
        await pages.change(id, readPageFields(request, false), request.principal);
        return redirectTo(getPageHref(id), 'Saved.');
      },
      (request, problem) => editor(request, problem),
    ),
    action('/publish', async (request, page) => {
      await change(request, page, { published: true });
      return 'Status page published.';
    }),
    action('/withdraw', async (request, page) => {
      await change(request, page, { published: false });
      return 'Status page unpublished.';
    }),
    action(
      '/logo',
      async (request, page) => {
        const file = getFormFields(request)['logo'] as FormFile | undefined;
        if (!Buffer.isBuffer(file?.bytes)) throw invalid({ logo: 'is required' });
        await pages.setLogo(page.id, file.bytes, request.principal);
        return 'Logo saved.';
      },
      { files: true },
    ),
    action('/logo/remove', async (request, page) => {
      await pages.setLogo(page.id, null, request.principal);
      return 'Logo removed.';
    }),
    action('/components', async (request, page) => {
      const fields = readComponentFields(request);
      await change(request, page, { components: [...page.components, fields] });
      return `${fields.name} is on the page.`;
    }),
    action(
      '/components/{n}',
      async (request, page) => {
        const fields = readComponentFields(request);
        await change(
          request,
          page,
          changed(request, page, (list, at) => list.splice(at, 1, fields)),
        );
        return `${fields.name} is saved.`;
      },
      nth,
    ),
    action(
      '/components/{n}/up',
      async (request, page) => {
        const moved = changed(request, page, (list, at) => list.splice(Math.max(at - 1, 0), 0, ...list.splice(at, 1)));
        await change(request, page, moved);
        return 'Moved.';
      },
      nth,
    ),
    action(
      '/components/{n}/remove',
      async (request, page) => {
        await change(
          request,
          page,
          changed(request, page, (list, at) => list.splice(at, 1)),
        );
        return 'Component removed.';
      },
      nth,
    ),
    createFormPage(
      { path: `${LIST_PATH}/{id}/delete`, title, access, input },
      async (request) => {
        const { title: gone } = await pages.remove((await need(request)).id, request.principal);
        return redirectTo(LIST_PATH, `${gone} is deleted.`);
      },
      (request, problem) => detail(request, problem),
    ),
    ...buildAnnouncementPages(services),
  ];
}

const toComponentRow = (component: StatusPageComponent, i: number) => ({
  n: i + 1,
  first: i === 0,
  monitors: formatSources(component),
  lines: component.subtree ?? component.sources.join('\n'),
});

const formatSources = ({ sources, subtree }: StatusPageComponent): string =>
  subtree === null ? sources.join(', ') : [`${subtree} and its children`, ...sources].join(', ');
