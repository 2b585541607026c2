import joi from 'joi';
import {
  getFormFields,
  formPage,
  fromForm,
  Redirect,
  View,
  type HttpRequest,
  type PageSpec,
  type Problem,
} from '../../kernel/contract.js';
import type { Item, ItemAction } from '../../ports/domain/bugs.js';
import type { ItemFacts } from '../../ports/domain/item-facts.js';
import type { LiveTopic } from '../../ports/domain/live.js';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import { getCallerName } from './caller.js';
import type { Requests } from './requests.js';
import { agentName, createBody, formatRuleName, SEVERITIES, type RuleFields } from './rule.js';
import type { RequestRules } from './rules.js';
import type { AgentRuns } from './agent-runs.js';

const member = { session: 'member' } as const;
const RULES = '/agent-rules';
const TOPIC = 'agent_run';
const WORKABLE: ReadonlySet<Item['status']> = new Set(['open', 'needs_info']);

export const action: ItemAction = {
  label: 'Ask an agent',
  icon: 'robot',
  href: ({ ref, status }) => (WORKABLE.has(status) ? `/bugs/${encodeURIComponent(ref)}/request` : null),
};

export const facts = (runs: AgentRuns): ItemFacts => ({
  topic: TOPIC,
  of: async ({ id }) => {
    const run = await runs.of(id);
    if (run === null) return [];
    return [
      { label: 'Agent asked', value: run.agent },
      { label: 'Asked', at: run.requested_at },
      { label: 'Sent to a webhook', value: run.sent ? 'yes' : 'not yet' },
      ...(run.last_call_at === null ? [] : [{ label: 'Last call of the agent', at: run.last_call_at }]),
      ...(run.tokens_used === null
        ? []
        : [{ label: 'Tokens it has used', value: run.tokens_used.toLocaleString('en') }]),
      ...(run.note === null ? [] : [{ label: 'It says', value: run.note }]),
    ];
  },
});

/** Changes with every progress report and call of the item's agent. */
export const topic = (runs: AgentRuns): LiveTopic => ({
  name: TOPIC,
  mark: async (id) => JSON.stringify(await runs.of(id)),
});

export const buildDispatchPages = (requests: Requests, rules: RequestRules, projects: ProjectDirectory): PageSpec[] => [
  ...requestPages(requests),
  ...rulePages(rules, projects),
];

function requestPages(requests: Requests): PageSpec[] {
  const params = joi.object({ ref: joi.string().max(100).required() });
  const shared = { path: '/bugs/{ref}/request', title: 'Ask an agent', access: member, input: { params } };
  const form = async (request: HttpRequest, problem?: Problem): Promise<View> => {
    const item = await requests.need(request.principal, request.params['ref'] ?? '');
    const crumbs = [
      { label: 'Bugs', href: '/bugs' },
      { label: item.ref, href: `/bugs/${item.ref}` },
      { label: 'Ask an agent' },
    ];
    const agent = problem === undefined ? item.target_agent : getFormFields(request)['agent'];
    return new View('request', { item, agent, crumbs, ...problem });
  };
  return [
    { ...shared, handle: (request) => form(request) },
    formPage(
      { ...shared, creates: true },
      async (request) => {
        const schema = joi.object({ agent: agentName.empty('') });
        const { agent } = fromForm(schema, getFormFields(request)) as { agent?: string };
        const { item } = await requests.ask(request.principal, request.params['ref'] ?? '', agent);
        return new Redirect(`/bugs/${item.ref}`, { tone: 'success', message: 'The agent is asked for.' });
      },
      form,
    ),
  ];
}

function rulePages(rules: RequestRules, projects: ProjectDirectory): PageSpec[] {
  const view = async (request: HttpRequest, problem?: Problem): Promise<View> => {
    const all = await rules.list(request.principal);
    const known = (await projects.list()).map(({ slug, name }) => ({ value: slug, label: name }));
    return new View('rules', {
      rules: all.map((rule) => Object.assign({ name: formatRuleName(rule) }, rule)),
      projects: [{ value: '', label: 'Every project' }, ...known],
      severities: [{ value: '', label: 'Any' }, ...SEVERITIES.map((value) => ({ value, label: value }))],
      form: problem === undefined ? { severity: 'high' } : getFormFields(request),
      ...problem,
    });
  };
  const params = joi.object({ id: joi.string().max(64).required() });
  const of = (name: string, run: (request: HttpRequest, id: string) => Promise<string>): PageSpec =>
    formPage(
      { path: `${RULES}/{id}/${name}`, title: 'Agent rules', access: member, input: { params } },
      async (request) =>
        new Redirect(RULES, { tone: 'success', message: await run(request, request.params['id'] ?? '') }),
      view,
    );
  return [
    {
      path: RULES,
      title: 'Agent rules',
      nav: { section: 'work', label: 'Agent rules', icon: 'robot', order: 60, also: ['dispatch', 'agents', 'request'] },
      access: member,
      handle: (request) => view(request),
    },
    formPage(
      { path: RULES, title: 'Agent rules', access: member, creates: true },
      async (request) => {
        const fields = fromForm(createBody, getFormFields(request)) as RuleFields & { agent: string };
        await rules.create(request.principal, getCallerName(request.principal), fields);
        return new Redirect(RULES, { tone: 'success', message: 'The rule asks from now on.' });
      },
      view,
    ),
    of('delete', async ({ principal }, id) => {
      await rules.remove(principal, id);
      return 'The rule is deleted.';
    }),
  ];
}
