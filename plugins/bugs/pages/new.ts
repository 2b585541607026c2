import joi from 'joi';
import { Redirect, View, type HttpRequest, type PageSpec } from '../../../kernel/contract.js';
import { toBugCaller } from '../caller.js';
import { reportBody } from '../http/schemas.js';
import { parseReportBody, type ReportBody } from '../http/report-body.js';
import { SEVERITIES } from '../item/severity.js';
import { tagsOf } from './several/bulk-actions.js';
import { checked, orAgain, typedFields, type FormProblem } from './shared/form.js';
import type { PageDeps } from './shared/page-deps.js';

const TYPES = [
  { value: 'bug', label: 'Bug: something does not work' },
  { value: 'feature', label: 'Feature: something is missing' },
];

const BODY = reportBody.keys({ type: joi.string().valid('bug', 'feature').required() });

async function form({ deps }: PageDeps, request: HttpRequest, problem: Partial<FormProblem> = {}): Promise<View> {
  const projects = (await deps.projects.list()).filter(({ archived }) => !archived);
  const { typed = { severity: 'medium', type: 'bug', ...givenIn(request) } } = problem;
  return new View('bug-new', {
    title: 'New item',
    crumbs: [{ label: 'Bugs', href: '/bugs' }, { label: 'New' }],
    projects: projects.map(({ slug, name }) => ({ value: slug, label: name })),
    types: TYPES,
    severities: SEVERITIES.toReversed(),
    client_ref: typed['client_ref'] ?? `form-${deps.ids.uuid()}`,
    ...problem,
    typed,
  });
}

const givenIn = ({ query }: HttpRequest): Record<string, string> =>
  typeof query['project'] === 'string' ? { project: query['project'] } : {};

async function create(page: PageDeps, request: HttpRequest): Promise<Redirect> {
  const { bugs, edits, secrets } = page.services;
  const caller = toBugCaller(request.principal);
  const typed = typedFields(request);
  const { tags = '', take, description = '', ...fields } = typed;
  const given = { ...fields, tags: tagsOf(tags), description: description.replace(/\r\n?/g, '\n') };
  const body = checked(BODY, given) as unknown as ReportBody;
  await secrets.refuse({ ...body });
  const { report } = parseReportBody(body, caller);
  const done = await bugs.record(report, { texts: true });
  if (take === 'true') await edits.assign(done.id, caller, caller.name);
  const known = `${done.ref} says the same already: your report is counted there.`;
  const message = done.created || done.repeated ? `${done.ref} is reported.` : known;
  return new Redirect(`/bugs/${done.ref}`, { tone: done.created || done.repeated ? 'success' : 'info', message });
}

export function newPages(page: PageDeps): PageSpec[] {
  const shared = { path: '/bugs/new', title: 'New item', access: { session: 'member' } } as const;
  return [
    {
      ...shared,
      input: { query: joi.object({ project: joi.string().max(64).empty('') }) },
      handle: (request) => form(page, request),
    },
    {
      ...shared,
      method: 'POST',
      creates: true,
      handle: (request) =>
        orAgain(
          'new',
          request,
          () => create(page, request),
          (problem) => form(page, request, problem),
        ),
    },
  ];
}
