import joi from 'joi';
import {
  getFormFields,
  createFormPage,
  Redirect,
  text,
  View,
  type HttpRequest,
  type PageSpec,
} from '../../../kernel/contract/index.js';
import { invalid } from '../../../kernel/errors.js';
import { formatCsv, INCIDENT_COLUMNS, toIncidentRows } from '../incidents/incident-csv.js';
import { toWatchdogCaller } from '../model/caller.js';
import type { IncidentView } from '../model/incident.js';
import type { WatchdogServices } from '../services.js';
import { getMonitorPageHref } from './monitor-form.js';

const access = { session: 'member' } as const;
const title = 'Incidents';
const crumb = { label: title, href: '/incidents' };
const PAGE_SIZE = 50;
const MAX_CSV_ROWS = 10_000;
const SLICE_ROWS = 200;

export const getIncidentHref = (id: string): string => `/incidents/${id}`;

export interface IncidentRow extends IncidentView {
  href: string;
  monitor_href: string;
  alarm: 'open' | 'suppressed' | 'none';
}

export const toIncidentRow = (incident: IncidentView): IncidentRow => ({
  ...incident,
  href: getIncidentHref(incident.id),
  monitor_href: getMonitorPageHref(incident.source),
  alarm: incident.alarm_at !== null ? 'open' : incident.suppressed_by !== null ? 'suppressed' : 'none',
});

function getReturnPath(back: unknown, id: string, source: string): string {
  if (back === 'dashboard') return '/';
  return back === 'monitor' ? getMonitorPageHref(source) : getIncidentHref(id);
}

const readTextField = (request: HttpRequest, name: string, most: number): string => {
  const value = getFormFields(request)[name];
  const given = typeof value === 'string' ? value.trim() : '';
  if (given.length > most) throw invalid({ [name]: `must be at most ${most} characters` });
  return given;
};

export function buildIncidentPages(services: WatchdogServices): PageSpec[] {
  const { incidents, audit } = services;
  const params = joi.object({ id: joi.string().guid().required() });
  const filters = {
    source: joi.string().max(128).empty(''),
    open: joi.boolean().empty(''),
    project: joi.string().max(64).empty(''),
  };
  const idOf = (request: HttpRequest): string => request.params['id'] ?? '';

  const detail = async (
    request: HttpRequest,
    errors: Record<string, string> = {},
    problem: string | null = null,
  ): Promise<View> => {
    const caller = toWatchdogCaller(request.principal);
    const doc = await incidents.getIncident(idOf(request), caller);
    const [incident, receivers] = await Promise.all([incidents.getView(doc.id, caller), incidents.listReceivers(doc)]);
    const form = getFormFields(request);
    return new View('incident', {
      title: `Incident of ${incident.source}`,
      crumbs: [crumb, { label: incident.source }],
      incident: toIncidentRow(incident),
      told: receivers,
      errors,
      problem,
      is_mine: incident.acknowledged_by === caller.name,
      form: { cause: incident.cause, ...form },
      here: getIncidentHref(incident.id),
    });
  };

  return [
    {
      path: '/incidents',
      title,
      nav: {
        section: 'operations',
        label: title,
        icon: 'alert',
        order: 25,
        within: '/monitors',
        also: ['outages', 'downtime', 'postmortem', 'sla'],
      },
      access,
      projectQuery: 'project',
      input: { query: joi.object({ ...filters, cursor: joi.string().max(20_000).empty('') }) },
      handle: async ({ query, principal }) => {
        const listQuery = query as { source?: string; open?: boolean; project?: string; cursor?: string };
        const page = await incidents.listPage({ ...listQuery, limit: PAGE_SIZE }, toWatchdogCaller(principal));
        const { source, project } = listQuery;
        const only = new URLSearchParams({ ...(source && { source }), ...(project && { project }) }).toString();
        const tab = (label: string, open: boolean | undefined) => ({
          label,
          href: `/incidents?${[only, ...(open === undefined ? [] : [`open=${open}`])].filter(Boolean).join('&')}`,
          active: listQuery.open === open,
        });
        return new View('incidents', {
          live_topics: 'monitors',
          items: page.items.map(toIncidentRow),
          next_cursor: page.next_cursor,
          source: listQuery.source ?? null,
          source_href: listQuery.source === undefined ? null : getMonitorPageHref(listQuery.source),
          csv_href: `/incidents.csv${only && `?${only}`}`,
          tabs: [tab('All', undefined), tab('Ongoing', true), tab('Resolved', false)],
        });
      },
    },
    {
      path: '/incidents.csv',
      title,
      access,
      input: { query: joi.object(filters) },
      handle: async ({ query, principal }) => {
        const rows = [];
        let cursor: string | null = null;
        do {
          const pageQuery = { ...(query as object), limit: SLICE_ROWS, ...(cursor !== null && { cursor }) };
          const page = await incidents.listPage(pageQuery, toWatchdogCaller(principal));
          rows.push(...toIncidentRows(page.items));
          cursor = page.next_cursor;
        } while (cursor !== null && rows.length < MAX_CSV_ROWS);
        return text(formatCsv([INCIDENT_COLUMNS, ...rows]), 'text/csv; charset=utf-8').header(
          'content-disposition',
          'attachment; filename="incidents.csv"',
        );
      },
    },
    { path: '/incidents/{id}', title: 'Incident', access, input: { params }, handle: (request) => detail(request) },
    createFormPage(
      { path: '/incidents/{id}', title: 'Incident', access, input: { params } },
      async (request) => {
        const cause = readTextField(request, 'cause', 2_000) || null;
        const { source } = await incidents.setCause(idOf(request), cause, toWatchdogCaller(request.principal));
        await audit.record(request.principal, 'incident.explained', idOf(request), { source });
        return new Redirect(getIncidentHref(idOf(request)), { tone: 'success', message: 'Root cause saved.' });
      },
      (request, { errors }) => detail(request, errors),
    ),
    ...(['acknowledge', 'hand-back'] as const).map((act) =>
      createFormPage(
        { path: `/incidents/{id}/${act}`, title: 'Incident', access, input: { params } },
        async (request) => {
          const id = idOf(request);
          const isAcknowledging = act === 'acknowledge';
          const { source } = await incidents.acknowledge(id, isAcknowledging, toWatchdogCaller(request.principal));
          await audit.record(request.principal, `incident.${isAcknowledging ? 'acknowledged' : 'handed_back'}`, id, {
            source,
          });
          const message = isAcknowledging ? `You acknowledged ${source}.` : `${source} is unacknowledged again.`;
          const undo = isAcknowledging ? { action: { label: 'Undo', post: `${getIncidentHref(id)}/hand-back` } } : {};
          return new Redirect(getReturnPath(getFormFields(request)['back'], id, source), {
            tone: 'success',
            message,
            ...undo,
          });
        },
        (request, { message }) => detail(request, {}, message),
      ),
    ),
    createFormPage(
      { path: '/incidents/{id}/comments', title: 'Incident', access, creates: true, input: { params } },
      async (request) => {
        const commentText = readTextField(request, 'text', 5_000);
        if (commentText === '') throw invalid({ text: 'is required' });
        await incidents.addComment(idOf(request), commentText, toWatchdogCaller(request.principal));
        return new Redirect(getIncidentHref(idOf(request)), { tone: 'success', message: 'Comment added.' });
      },
      (request, { errors, message }) => detail(request, { text: message, ...errors }),
    ),
  ];
}
