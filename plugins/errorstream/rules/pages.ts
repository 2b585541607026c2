import joi from 'joi';
import {
  pageActions,
  type Problem,
  Redirect,
  View,
  type Clock,
  type HttpRequest,
  type PageResult,
  type PageSpec,
} from '../../../kernel/contract.js';
import type { TrackedItems } from '../../../ports/domain/bugs.js';
import { KINDS } from './match-kinds.js';
import type { Registry } from './registry.js';
import { MATCH_TYPES, type RuleView } from './rule.js';
import { crumb, RuleEditor, TITLE, to } from './rule-editor.js';

const PAGE = 50;
const MUTED_SHOWN = 20;
const access = { session: 'member' } as const;
const params = joi.object({ id: joi.string().guid().required() });
const empty = (max: number): joi.StringSchema => joi.string().max(max).empty('');

function stated(rule: RuleView, now: number): object {
  const expired = rule.expires_at !== null && Date.parse(rule.expires_at) <= now;
  const [state, tone] = !rule.enabled
    ? ['disabled', 'neutral']
    : expired
      ? ['expired', 'neutral']
      : ['enabled', 'success'];
  return { ...rule, kind: KINDS[rule.match_type], state, tone, active: state === 'enabled' };
}

class RulePages {
  constructor(
    private readonly registry: Registry,
    private readonly clock: Clock,
  ) {}

  async list(request: HttpRequest): Promise<PageResult> {
    const { project, state, cursor } = request.query as { project?: string; state?: string; cursor?: string };
    const enabled = state === undefined ? undefined : state === 'enabled';
    const page = await this.registry.page(request.principal, { limit: PAGE, cursor, project, enabled });
    const held = await this.registry.held(page.items.map(({ id }) => id));
    const now = this.clock.now();
    return new View('ignore-rules', {
      items: page.items.map((rule) => ({ ...stated(rule, now), held: held[rule.id] ?? 0 })),
      next_cursor: page.next,
      projects: await this.registry.projects(),
      filtered: project !== undefined || state !== undefined,
    });
  }

  async detail(request: HttpRequest, problem?: Problem): Promise<View> {
    const id = request.params['id'] ?? '';
    const rule = await this.registry.get(request.principal, id);
    const [muted, run, held] = await Promise.all([
      this.registry.muted(id, MUTED_SHOWN),
      this.registry.lastRun(id),
      this.registry.held([id]),
    ]);
    const running = run?.state === 'running';
    // Shown on request with the number of groups, which requires checking all of them.
    const asking = request.query['apply'] !== undefined && !running;
    const preview = asking ? await this.registry.preview(request.principal, rule) : null;
    return new View('ignore-rule', {
      title: rule.name,
      rule: stated(rule, this.clock.now()),
      here: `/ignore-rules/${id}`,
      asked: preview && { ...preview, fresh: preview.count - preview.muted },
      held: held[id] ?? 0,
      muted: muted.items,
      more: muted.more,
      run,
      running,
      of: run === null ? 0 : Math.max(run.total, run.scanned, 1),
      ...(running && { refresh_seconds: 2 }),
      crumbs: [crumb, { label: rule.name }],
      problem: problem?.message,
    });
  }
}

export function buildIgnoreRulePages(registry: Registry, clock: Clock, items: Pick<TrackedItems, 'get'>): PageSpec[] {
  const pages = new RulePages(registry, clock);
  const editor = new RuleEditor(registry, clock, items);
  const action = pageActions(
    { path: '/ignore-rules/{id}', title: TITLE, access, input: { params } },
    (request, problem) => pages.detail(request, problem),
  );
  return [
    {
      path: '/ignore-rules',
      title: TITLE,
      nav: {
        section: 'work',
        label: TITLE,
        icon: 'filter-off',
        order: 30,
        also: ['mutes', 'muted', 'silences', 'filters', 'noise', 'suppressions'],
      },
      access,
      projectQuery: 'project',
      input: {
        query: joi.object({
          project: empty(64),
          state: joi.string().valid('enabled', 'disabled').empty(''),
          cursor: empty(4096),
        }),
      },
      handle: (request) => pages.list(request),
    },
    {
      path: '/ignore-rules/new',
      title: 'New ignore rule',
      access,
      input: {
        query: joi.object({
          name: empty(200),
          match_type: joi
            .string()
            .valid(...MATCH_TYPES)
            .empty(''),
          pattern: empty(500),
          case_sensitive: joi.string().valid('true', 'false').empty(''),
          project: empty(64),
          environment: empty(200),
          reason: empty(1000),
          like: empty(100),
        }),
      },
      handle: (request) => editor.blank(request),
    },
    {
      method: 'POST',
      path: '/ignore-rules',
      title: TITLE,
      access,
      creates: true,
      handle: (request) => editor.save(request),
    },
    {
      path: '/ignore-rules/{id}',
      title: TITLE,
      access,
      input: { params, query: joi.object({ apply: joi.string().valid('ask') }) },
      handle: (request) => pages.detail(request),
    },
    {
      path: '/ignore-rules/{id}/edit',
      title: TITLE,
      access,
      input: { params },
      handle: (request) => editor.edit(request),
    },
    {
      method: 'POST',
      path: '/ignore-rules/{id}/edit',
      title: TITLE,
      access,
      input: { params },
      handle: (request) => editor.save(request),
    },
    action('apply', async (request, id) => {
      await registry.begin(request.principal, id);
      return to(id);
    }),
    action('enable', async (request, id) => {
      await registry.change(request.principal, id, { enabled: true });
      return to(id, 'Rule enabled. It mutes matching errors from now on.');
    }),
    action('disable', async (request, id) => {
      await registry.change(request.principal, id, { enabled: false });
      return to(id, 'Rule disabled. Its groups are unmuted.');
    }),
    action('delete', async (request, id) => {
      await registry.remove(request.principal, id);
      return new Redirect('/ignore-rules', { tone: 'success', message: 'Rule deleted. Its groups are unmuted.' });
    }),
  ];
}
