import { created, deleted, type HttpRequest, type RouteSpec } from '../../../kernel/contract.js';
import type { GroupingRuleFields, GroupingRules } from '../regrouping/registry.js';
import type { BugServices } from '../services.js';
import * as schemas from './grouping-rule-schemas.js';
import { BASE, MANAGE, READ } from './paths.js';

const RULES = `${BASE}/projects/{project}/grouping-rules`;
const projectOf = ({ params }: HttpRequest): string => params['project'] ?? '';
const idOf = ({ params }: HttpRequest): string => params['id'] ?? '';
const fieldsOf = ({ body }: HttpRequest): GroupingRuleFields => body ?? {};

export const buildGroupingRuleRoutes = ({ regrouping }: Pick<BugServices, 'regrouping'>): RouteSpec[] => [
  ...listRoutes(regrouping),
  ...memberRoutes(regrouping),
];

const listRoutes = (rules: GroupingRules): RouteSpec[] => [
  {
    method: 'GET',
    path: RULES,
    operationId: 'listGroupingRules',
    summary: 'List the grouping rules of a project, in order of precedence',
    access: { scope: READ },
    input: { params: schemas.projectParams },
    output: schemas.rulesOutput,
    handle: async (request) => ({ items: await rules.list(request.principal, projectOf(request)) }),
  },
  {
    method: 'POST',
    path: RULES,
    operationId: 'createGroupingRule',
    summary: 'Create a grouping rule, as the last of its project',
    description:
      'Errors that fit it are grouped by its `fingerprint` from now on, in this process at once and in every other within two ' +
      'seconds; the first rule that fits decides, before a fingerprint that the report names. Groups that exist stay as they are, and later ' +
      'reports are counted at the group of the new fingerprint. At most 50 rules a project.',
    access: { scope: MANAGE },
    input: { params: schemas.projectParams, body: schemas.ruleBody },
    status: 201,
    output: schemas.ruleOutput,
    errors: ['conflict', 'not_found'],
    handle: async (request) =>
      created({ rule: await rules.create(request.principal, projectOf(request), fieldsOf(request)) }),
  },
  {
    method: 'POST',
    path: `${RULES}/preview`,
    operationId: 'previewGroupingRule',
    summary: 'Try a grouping rule on the occurrences that are kept; stores nothing',
    description:
      'Looks at the 200 groups of the project that were seen last, at up to 20 kept occurrences of each, for eight seconds at most, and says which ' +
      'the rule takes and where later reports like them would be counted: what would be joined, and what divided.',
    access: { scope: READ },
    limits: { rate: 'bulk' },
    input: { params: schemas.projectParams, body: schemas.trialBody },
    output: schemas.trialOutput,
    errors: ['not_found'],
    handle: async (request) => {
      const { id = null, ...fields } = fieldsOf(request) as GroupingRuleFields & { id?: string };
      return { ...(await rules.preview(request.principal, projectOf(request), fields, id)) };
    },
  },
  {
    method: 'PUT',
    path: `${RULES}/order`,
    operationId: 'orderGroupingRules',
    summary: 'Put the grouping rules of a project in another order',
    access: { scope: MANAGE },
    input: { params: schemas.projectParams, body: schemas.orderBody },
    output: schemas.rulesOutput,
    errors: ['conflict', 'not_found'],
    handle: async (request) => {
      const { ids } = request.body as { ids: string[] };
      return { items: await rules.reorder(request.principal, projectOf(request), ids) };
    },
  },
];

const memberRoutes = (rules: GroupingRules): RouteSpec[] => [
  {
    method: 'GET',
    path: `${RULES}/{id}`,
    operationId: 'getGroupingRule',
    summary: 'One grouping rule',
    access: { scope: READ },
    input: { params: schemas.ruleParams },
    output: schemas.ruleOutput,
    handle: async (request) => ({ rule: await rules.get(request.principal, projectOf(request), idOf(request)) }),
  },
  {
    method: 'PATCH',
    path: `${RULES}/{id}`,
    operationId: 'changeGroupingRule',
    summary: 'Change a grouping rule',
    description: 'Only what is given changes; null takes a field back.',
    access: { scope: MANAGE },
    input: { params: schemas.ruleParams, body: schemas.ruleBody },
    output: schemas.ruleOutput,
    errors: ['conflict', 'not_found'],
    handle: async (request) => ({
      rule: await rules.change(request.principal, projectOf(request), idOf(request), fieldsOf(request)),
    }),
  },
  {
    method: 'DELETE',
    path: `${RULES}/{id}`,
    operationId: 'deleteGroupingRule',
    summary: 'Delete a grouping rule; the groups that it made stay',
    access: { scope: MANAGE },
    input: { params: schemas.ruleParams },
    output: deleted,
    errors: ['conflict', 'not_found'],
    handle: async (request) => {
      await rules.remove(request.principal, projectOf(request), idOf(request));
      return { deleted: true };
    },
  },
];
