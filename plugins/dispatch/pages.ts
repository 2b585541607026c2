import joi from 'joi';
import {
  createCsvFile,
  getFormFields,
  createFormPage,
  fromForm,
  Redirect,
  View,
  type HttpRequest,
  type PageSpec,
  type FormRejection,
} from '../../kernel/contract/index.js';
import { formatCsvRecords } from '../../lib/text/csv.js';
import type { ItemFactProvider } from '../../ports/domain/item-facts.js';
import type { LiveTopic } from '../../ports/domain/live-topics.js';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import { CONNECT_HREF } from './agent-offer.js';
import { AGENTS_PATH } from './agent-pages.js';
import { getCallerName } from './caller.js';
import type { AgentDispatchService } from './agent-requests.js';
import {
  agentNameSchema,
  ruleCreationSchema,
  formatRuleName,
  RULE_SEVERITIES,
  type RequestRuleFields,
} from './request-rule.js';
import type { RequestRuleService } from './request-rules.js';
import type { AgentRunService } from './agent-runs.js';
import type { KnownAgentService } from './known-agents.js';

const memberAccess = { session: 'member' } as const;
const RULES_PATH = '/agent-rules';
const RUN_TOPIC = 'agent_run';
export const buildRunFacts = (runs: AgentRunService): ItemFactProvider => ({
  topic: RUN_TOPIC,
  listFacts: async ({ id }) => {
    const run = await runs.find(id);
    if (run === null) return [];
    return [
      { label: 'Requested', at: run.requested_at },
      { label: 'Webhook delivery', value: run.sent ? 'Delivered' : 'Pending' },
      ...(run.last_call_at === null ? [] : [{ label: 'Last agent activity', at: run.last_call_at }]),
      ...(run.tokens_used === null ? [] : [{ label: 'Tokens used', value: run.tokens_used.toLocaleString('en') }]),
      ...(run.note === null ? [] : [{ label: 'Agent note', value: run.note }]),
    ];
  },
});

/** Changes with every progress report and call of the item's agent. */
export const buildRunTopic = (runs: AgentRunService): LiveTopic => ({
  name: RUN_TOPIC,
  getRevision: async (id) => JSON.stringify(await runs.find(id)),
});

export const buildDispatchPages = (
  requests: AgentDispatchService,
  agentNames: KnownAgentService,
  rules: RequestRuleService,
  projects: ProjectDirectory,
): PageSpec[] => [...buildRequestPages(requests, agentNames), ...buildRulePages(rules, projects)];

function buildRequestPages(requests: AgentDispatchService, agentNames: KnownAgentService): PageSpec[] {
  const params = joi.object({ ref: joi.string().max(100).required() });
  const shared = { path: '/bugs/{ref}/request', title: 'Assign to agent', access: memberAccess, input: { params } };
  const form = async (request: HttpRequest, problem?: FormRejection): Promise<View> => {
    const item = await requests.getItem(request.principal, request.params['ref'] ?? '');
    const crumbs = [
      { label: 'Issues', href: '/bugs' },
      { label: item.ref, href: `/bugs/${item.ref}` },
      { label: 'Assign to agent' },
    ];
    const agent = problem === undefined ? item.target_agent : getFormFields(request)['agent'];
    const [agents, listening] = await Promise.all([agentNames.list(item.project), requests.isListening(item.project)]);
    return new View('request', { item, agent, agents, listening, connect_href: CONNECT_HREF, crumbs, ...problem });
  };
  return [
    { ...shared, handle: (request) => form(request) },
    createFormPage(
      { ...shared, creates: true },
      async (request) => {
        const schema = joi.object({ agent: agentNameSchema.empty('') });
        const { agent } = fromForm(schema, getFormFields(request)) as { agent?: string };
        const { item, request: run } = await requests.requestAgent(
          request.principal,
          request.params['ref'] ?? '',
          agent,
        );
        return new Redirect(`/bugs/${item.ref}`, {
          tone: 'success',
          message: `Request sent to ${run?.agent ?? 'agent'}`,
        });
      },
      form,
    ),
  ];
}

const RULE_COLUMNS = ['project', 'severity', 'tag', 'agent', 'enabled', 'created_by', 'created_at'] as const;

function buildRulePages(rules: RequestRuleService, projects: ProjectDirectory): PageSpec[] {
  const view = async (request: HttpRequest, problem?: FormRejection): Promise<View> => {
    const all = await rules.list(request.principal);
    const known = (await projects.list()).map(({ slug, name }) => ({ value: slug, label: name }));
    return new View('rules', {
      rules: all.map((rule) => Object.assign({ name: formatRuleName(rule) }, rule)),
      projects: [{ value: '', label: 'All projects' }, ...known],
      severities: [{ value: '', label: 'Any' }, ...RULE_SEVERITIES.map((value) => ({ value, label: value }))],
      form: problem === undefined ? { severity: 'high' } : getFormFields(request),
      ...problem,
    });
  };
  const params = joi.object({ id: joi.string().max(64).required() });
  const of = (name: string, run: (request: HttpRequest, id: string) => Promise<string>): PageSpec =>
    createFormPage(
      { path: `${RULES_PATH}/{id}/${name}`, title: 'Agent automation', access: memberAccess, input: { params } },
      async (request) =>
        new Redirect(RULES_PATH, { tone: 'success', message: await run(request, request.params['id'] ?? '') }),
      view,
    );
  return [
    {
      path: RULES_PATH,
      title: 'Agent automation',
      nav: {
        section: 'work',
        within: AGENTS_PATH,
        label: 'Agent automation',
        tab: 'Rules',
        icon: 'robot',
        order: 20,
        also: ['dispatch', 'automation', 'rules', 'request'],
      },
      access: memberAccess,
      input: { query: joi.object({ format: joi.string().valid('csv').empty('') }) },
      handle: async (request) => {
        if (request.query['format'] !== 'csv') return view(request);
        const all = await rules.list(request.principal);
        return createCsvFile('agent-rules', formatCsvRecords(RULE_COLUMNS, all));
      },
    },
    createFormPage(
      { path: RULES_PATH, title: 'Agent automation', access: memberAccess, creates: true },
      async (request) => {
        const fields = fromForm(ruleCreationSchema, getFormFields(request)) as RequestRuleFields & { agent: string };
        await rules.create(request.principal, getCallerName(request.principal), fields);
        return new Redirect(RULES_PATH, { tone: 'success', message: 'Rule created' });
      },
      view,
    ),
    of('delete', async ({ principal }, id) => {
      await rules.remove(principal, id);
      return 'Rule deleted';
    }),
  ];
}
