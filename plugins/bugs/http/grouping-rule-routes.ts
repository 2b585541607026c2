import { created, deleted, type HttpRequest, type RouteSpec } from '../../../kernel/contract/index.js';
import type { GroupingRuleFields, GroupingRuleService } from '../regrouping/grouping-rules.js';
import type { BugServices } from '../services.js';
import * as schemas from './grouping-rule-schemas.js';
import { BASE_PATH, MANAGE_SCOPE, READ_SCOPE } from './paths.js';

const RULES_PATH = `${BASE_PATH}/projects/{project}/grouping-rules`;
const getProjectParam = ({ params }: HttpRequest): string => params['project'] ?? '';
const getRuleId = ({ params }: HttpRequest): string => params['id'] ?? '';
const getRuleFields = ({ body }: HttpRequest): GroupingRuleFields => body ?? {};

export const buildGroupingRuleRoutes = ({ regrouping }: Pick<BugServices, 'regrouping'>): RouteSpec[] => [
  ...buildListRoutes(regrouping),
  ...buildMemberRoutes(regrouping),
];

const buildListRoutes = (rules: GroupingRuleService): RouteSpec[] => [
  {
    method: 'GET',
    path: RULES_PATH,
    operationId: 'listGroupingRules',
    summary: 'List the grouping rules of a project, in order of precedence',
    access: { scope: READ_SCOPE },
    input: { params: schemas.projectParams },
    output: schemas.rulesOutput,
    handle: async (request) => ({ items: await rules.list(request.principal, getProjectParam(request)) }),
  },
  {
    method: 'POST',
    path: RULES_PATH,
    operationId: 'createGroupingRule',
    summary: 'Create a grouping rule at the end of the list of its project',
    description:
      'New errors that match it are grouped by its `fingerprint`, in this process immediately and in all others within two ' +
      'seconds; the first matching rule applies, and takes precedence over a fingerprint in the report. Existing groups do not change, and later ' +
      'reports are counted in the group of the new fingerprint. At most 50 rules per project.',
    access: { scope: MANAGE_SCOPE },
    input: { params: schemas.projectParams, body: schemas.ruleBody },
    status: 201,
    output: schemas.ruleOutput,
    errors: ['conflict', 'not_found'],
    handle: async (request) =>
      created({ rule: await rules.create(request.principal, getProjectParam(request), getRuleFields(request)) }),
  },
  {
    method: 'POST',
    path: `${RULES_PATH}/preview`,
    operationId: 'previewGroupingRule',
    summary: 'Test a grouping rule on the stored occurrences, without saving it',
    description:
      'Checks the 200 most recently seen groups of the project, with up to 20 stored occurrences of each, for at most eight seconds. Returns which ' +
      'occurrences the rule matches and where later reports like them would be counted: which groups would be joined or divided.',
    access: { scope: READ_SCOPE },
    limits: { rate: 'bulk' },
    input: { params: schemas.projectParams, body: schemas.trialBody },
    output: schemas.trialOutput,
    errors: ['not_found'],
    handle: async (request) => {
      const { id = null, ...fields } = getRuleFields(request) as GroupingRuleFields & { id?: string };
      return { ...(await rules.preview(request.principal, getProjectParam(request), fields, id)) };
    },
  },
  {
    method: 'PUT',
    path: `${RULES_PATH}/order`,
    operationId: 'orderGroupingRules',
    summary: 'Reorder the grouping rules of a project',
    access: { scope: MANAGE_SCOPE },
    input: { params: schemas.projectParams, body: schemas.orderBody },
    output: schemas.rulesOutput,
    errors: ['conflict', 'not_found'],
    handle: async (request) => {
      const { ids } = request.body as { ids: string[] };
      return { items: await rules.reorder(request.principal, getProjectParam(request), ids) };
    },
  },
];

const buildMemberRoutes = (rules: GroupingRuleService): RouteSpec[] => [
  {
    method: 'GET',
    path: `${RULES_PATH}/{id}`,
    operationId: 'getGroupingRule',
    summary: 'One grouping rule',
    access: { scope: READ_SCOPE },
    input: { params: schemas.ruleParams },
    output: schemas.ruleOutput,
    handle: async (request) => ({
      rule: await rules.get(request.principal, getProjectParam(request), getRuleId(request)),
    }),
  },
  {
    method: 'PATCH',
    path: `${RULES_PATH}/{id}`,
    operationId: 'changeGroupingRule',
    summary: 'Change a grouping rule',
    description: 'Only the given fields change; null clears a field.',
    access: { scope: MANAGE_SCOPE },
    input: { params: schemas.ruleParams, body: schemas.ruleBody },
    output: schemas.ruleOutput,
    errors: ['conflict', 'not_found'],
    handle: async (request) => ({
      rule: await rules.change(request.principal, getProjectParam(request), getRuleId(request), getRuleFields(request)),
    }),
  },
  {
    method: 'DELETE',
    path: `${RULES_PATH}/{id}`,
    operationId: 'deleteGroupingRule',
    summary: 'Delete a grouping rule; its groups remain',
    access: { scope: MANAGE_SCOPE },
    input: { params: schemas.ruleParams },
    output: deleted,
    errors: ['conflict', 'not_found'],
    handle: async (request) => {
      await rules.remove(request.principal, getProjectParam(request), getRuleId(request));
      return { deleted: true };
    },
  },
];
