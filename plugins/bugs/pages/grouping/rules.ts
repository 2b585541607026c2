import joi from 'joi';
import {
  createFormPage,
  type FormRejection,
  Redirect,
  text,
  View,
  type HttpRequest,
  type PageSpec,
  type Reply,
} from '../../../../kernel/contract/index.js';
import { formatCsvTable } from '../../../../lib/text/csv.js';
import { formatSentence } from '../../../../lib/sentence.js';
import { MAX_PROJECT_RULES, type GroupingRule } from '../../grouping/grouping-rule.js';
import type { PageDeps } from '../shared/page-deps.js';
import { GroupingRuleEditor } from './rule-editor.js';
import { groupingRulesCrumb, buildRulesUrl, GROUPING_RULES_TITLE } from './rule-links.js';

const CSV_COLUMNS = [
  'name',
  'exception_class',
  'message',
  'origin',
  'fingerprint',
  'title',
  'enabled',
  'created_by',
  'created_at',
] as const satisfies readonly (keyof GroupingRule)[];

const accessRule = { session: 'member' } as const;
const buildOptionalTextSchema = (max: number): joi.StringSchema => joi.string().max(max).empty('');
const paramsSchema = joi.object({ project: joi.string().max(64).required(), id: joi.string().guid().required() });
const prefillSchemas = {
  name: buildOptionalTextSchema(200),
  exception_class: buildOptionalTextSchema(200),
  message: buildOptionalTextSchema(500),
  origin: buildOptionalTextSchema(500),
};

async function buildListView(page: PageDeps, request: HttpRequest, problem?: FormRejection): Promise<View> {
  const requestedProject = (request.query as { project?: string }).project ?? request.params['project'];
  const projects = (await page.deps.projects.list()).map(({ slug, name }) => ({ value: slug, label: name }));
  const [only] = projects;
  const project = requestedProject ?? (projects.length === 1 ? only?.value : undefined);
  const rules = project === undefined ? [] : await page.services.regrouping.list(request.principal, project);
  const name = projects.find(({ value }) => value === project)?.label;
  return new View('grouping-rules', {
    title: GROUPING_RULES_TITLE,
    ...(project !== undefined && { crumbs: [groupingRulesCrumb, { label: name ?? project }] }),
    projects,
    project,
    rules: rules.map((rule, i) => toRuleRow(rule, project ?? '', i, rules.length)),
    full: rules.length >= MAX_PROJECT_RULES,
    most: MAX_PROJECT_RULES,
    problem: problem && formatSentence(problem.message),
  });
}

/** A project has few rules. */
async function exportRules(page: PageDeps, request: HttpRequest, project: string): Promise<Reply> {
  const rules = await page.services.regrouping.list(request.principal, project);
  const rows = rules.map((rule) => CSV_COLUMNS.map((name) => rule[name] ?? null));
  return text(formatCsvTable(CSV_COLUMNS, rows), 'text/csv; charset=utf-8').header(
    'content-disposition',
    'attachment; filename="grouping-rules.csv"',
  );
}

const toRuleRow = (rule: GroupingRule, project: string, at: number, all: number): object => ({
  ...rule,
  place: at + 1,
  first: at === 0,
  last: at === all - 1,
  base: `/grouping-rules/${encodeURIComponent(project)}/${rule.id}`,
});

export function buildGroupingRulePages(page: PageDeps): PageSpec[] {
  const editor = new GroupingRuleEditor(page);
  const { regrouping } = page.services;
  const action = (
    name: string,
    run: (request: HttpRequest, project: string, id: string) => Promise<GroupingRule | string>,
    says: (rule: string) => string,
  ): PageSpec =>
    createFormPage(
      {
        path: `/grouping-rules/{project}/{id}/${name}`,
        title: GROUPING_RULES_TITLE,
        access: accessRule,
        input: { params: paramsSchema },
      },
      async (request) => {
        const { project = '', id = '' } = request.params;
        const done = await run(request, project, id);
        const message = says(typeof done === 'string' ? done : done.name);
        return new Redirect(buildRulesUrl(project), { tone: 'success', message });
      },
      (request, problem) => buildListView(page, request, problem),
    );
  return [
    {
      path: '/grouping-rules',
      title: GROUPING_RULES_TITLE,
      nav: {
        section: 'administration',
        group: 'project',
        label: GROUPING_RULES_TITLE,
        icon: 'group',
        order: 40,
        also: ['fingerprints', 'fingerprint rules', 'merging', 'grouping'],
      },
      access: accessRule,
      projectQuery: 'project',
      input: {
        query: joi.object({ project: buildOptionalTextSchema(64), format: joi.string().valid('csv').empty('') }),
      },
      handle: (request) => {
        const { project, format } = request.query as { project?: string; format?: 'csv' };
        return format === undefined || project === undefined
          ? buildListView(page, request)
          : exportRules(page, request, project);
      },
    },
    {
      path: '/grouping-rules/new',
      title: 'New grouping rule',
      access: accessRule,
      input: { query: joi.object({ project: buildOptionalTextSchema(64), ...prefillSchemas }) },
      handle: (request) => editor.showNew(request),
    },
    {
      method: 'POST',
      path: '/grouping-rules',
      title: GROUPING_RULES_TITLE,
      access: accessRule,
      creates: true,
      handle: (request) => editor.save(request),
    },
    {
      path: '/grouping-rules/{project}/{id}/edit',
      title: GROUPING_RULES_TITLE,
      access: accessRule,
      input: { params: paramsSchema },
      handle: (request) => editor.edit(request),
    },
    {
      method: 'POST',
      path: '/grouping-rules/{project}/{id}/edit',
      title: GROUPING_RULES_TITLE,
      access: accessRule,
      input: { params: paramsSchema },
      handle: (request) => editor.save(request),
    },
    action(
      'up',
      ({ principal }, project, id) => regrouping.move(principal, project, id, -1),
      (rule) => `Rule “${rule}” moved up`,
    ),
    action(
      'down',
      ({ principal }, project, id) => regrouping.move(principal, project, id, 1),
      (rule) => `Rule “${rule}” moved down`,
    ),
    action(
      'enable',
      ({ principal }, project, id) => regrouping.change(principal, project, id, { enabled: true }),
      (rule) => `Rule “${rule}” enabled`,
    ),
    action(
      'disable',
      ({ principal }, project, id) => regrouping.change(principal, project, id, { enabled: false }),
      (rule) => `Rule “${rule}” disabled. Existing groups stay.`,
    ),
    action(
      'delete',
      async ({ principal }, project, id) => {
        const { name } = await regrouping.get(principal, project, id);
        await regrouping.remove(principal, project, id);
        return name;
      },
      (rule) => `Rule “${rule}” deleted. Existing groups stay.`,
    ),
  ];
}
