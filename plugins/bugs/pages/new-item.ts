import joi from 'joi';
import { Redirect, View, type HttpRequest, type PageSpec } from '../../../kernel/contract/index.js';
import { toBugCaller } from '../caller.js';
import { reportBody } from '../http/schemas.js';
import { parseReportBody, type ReportBody } from '../http/report-body.js';
import { SEVERITIES } from '../item/severity.js';
import { parseTags } from './bulk/bulk-actions.js';
import { validateForm, runOrShowAgain, getFormFields, type FormProblem } from './shared/form.js';
import type { PageDeps } from './shared/page-deps.js';

const TYPE_OPTIONS = [
  { value: 'bug', label: 'Bug' },
  { value: 'feature', label: 'Feature request' },
];

const userReportSchema = reportBody.keys({ type: joi.string().valid('bug', 'feature').required() });

async function buildForm({ deps }: PageDeps, request: HttpRequest, problem: Partial<FormProblem> = {}): Promise<View> {
  const projects = (await deps.projects.list()).filter(({ archived }) => !archived);
  const { typed = { severity: 'medium', type: 'bug', ...getPrefilledFields(request) } } = problem;
  return new View('bug-new', {
    title: 'New issue',
    crumbs: [{ label: 'Issues', href: '/bugs' }, { label: 'New' }],
    projects: projects.map(({ slug, name }) => ({ value: slug, label: name })),
    types: TYPE_OPTIONS,
    severities: SEVERITIES.toReversed(),
    client_ref: typed['client_ref'] ?? `form-${deps.ids.uuid()}`,
    ...problem,
    typed,
  });
}

/** The project of the address, otherwise the one that the navigation has chosen. */
function getPrefilledFields({ query, chosenProject }: HttpRequest): Record<string, string> {
  const project = typeof query['project'] === 'string' ? query['project'] : chosenProject;
  return project === undefined ? {} : { project };
}

async function createItem(page: PageDeps, request: HttpRequest): Promise<Redirect> {
  const { bugs, edits, secrets } = page.services;
  const caller = toBugCaller(request.principal);
  const typed = getFormFields(request);
  const { tags = '', take, description = '', ...fields } = typed;
  const given = { ...fields, tags: parseTags(tags), description: description.replace(/\r\n?/g, '\n') };
  const body = validateForm(userReportSchema, given) as unknown as ReportBody;
  await secrets.rejectSecrets({ ...body });
  const { report } = parseReportBody(body, caller);
  const done = await bugs.record(report, { texts: true });
  if (take === 'true') await edits.assign(done.id, caller, caller.name);
  const known = `Already reported as ${done.ref}. Your report was added there.`;
  const message = done.created || done.repeated ? `Issue ${done.ref} created` : known;
  return new Redirect(`/bugs/${done.ref}`, { tone: done.created || done.repeated ? 'success' : 'info', message });
}

export function buildNewItemPages(page: PageDeps): PageSpec[] {
  const shared = { path: '/bugs/new', title: 'New issue', access: { session: 'member' } } as const;
  return [
    {
      ...shared,
      projectQuery: 'project',
      input: { query: joi.object({ project: joi.string().max(64).empty('') }) },
      handle: (request) => buildForm(page, request),
    },
    {
      ...shared,
      method: 'POST',
      creates: true,
      handle: (request) =>
        runOrShowAgain(
          'new',
          request,
          () => createItem(page, request),
          (problem) => buildForm(page, request, problem),
        ),
    },
  ];
}
