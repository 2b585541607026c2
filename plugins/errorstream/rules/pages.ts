import joi from 'joi';
import {
  createPageActions,
  type FormRejection,
  Redirect,
  text,
  View,
  type Clock,
  type HttpRequest,
  type PageResult,
  type PageSpec,
  type Reply,
} from '../../../kernel/contract/index.js';
import { formatCsvPages } from '../../../lib/text/csv.js';
import { toLocalPath } from '../../../lib/http/local-path.js';
import type { TrackedItems } from '../../../ports/domain/bugs.js';
import { MATCH_TYPE_LABELS } from './match-types.js';
import type { IgnoreRuleService } from './ignore-rules.js';
import { MATCH_TYPES, type RuleView } from './rule.js';
import { PAGE_PREVIEW_MS } from './rule-applier.js';
import { ignoreRulesCrumb, RuleEditor, IGNORE_RULES_TITLE, redirectToRule } from './rule-editor.js';

const PAGE_SIZE = 50;
const MAX_SHOWN_GROUPS = 20;
const CSV_PAGE_SIZE = 200;
const CSV_COLUMNS = [
  'name',
  'match_type',
  'pattern',
  'case_sensitive',
  'project',
  'environment',
  'reason',
  'alarm_threshold',
  'enabled',
  'expires_at',
  'hit_count',
  'last_hit_at',
  'created_by',
  'created_at',
] as const satisfies readonly (keyof RuleView)[];
const accessRule = { session: 'member' } as const;
const paramsSchema = joi.object({ id: joi.string().guid().required() });
const buildOptionalTextSchema = (max: number): joi.StringSchema => joi.string().max(max).empty('');

function toRuleFields(rule: RuleView, now: number): object {
  const expired = rule.expires_at !== null && Date.parse(rule.expires_at) <= now;
  const [state, tone] = !rule.enabled
    ? ['disabled', 'neutral']
    : expired
      ? ['expired', 'neutral']
      : ['enabled', 'success'];
  return { ...rule, kind: MATCH_TYPE_LABELS[rule.match_type], state, tone, active: state === 'enabled' };
}

/** Returns to the list or issue that the form was on, if it is a path of this service. */
const redirectBack = ({ query }: HttpRequest, otherwise: string, message: string): Redirect => {
  const { back } = query as { back?: string };
  return Redirect.toUntrusted(toLocalPath(back) ?? otherwise, { tone: 'success', message });
};

class RulePages {
  constructor(
    private readonly registry: IgnoreRuleService,
    private readonly clock: Clock,
  ) {}

  async showList(request: HttpRequest): Promise<PageResult> {
    const { project, state, cursor } = request.query as { project?: string; state?: string; cursor?: string };
    const enabled = state === undefined ? undefined : state === 'enabled';
    const page = await this.registry.getPage(request.principal, { limit: PAGE_SIZE, cursor, project, enabled });
    const held = await this.registry.countMutedGroups(page.items.map(({ id }) => id));
    const now = this.clock.now();
    return new View('ignore-rules', {
      items: page.items.map((rule) => ({ ...toRuleFields(rule, now), held: held[rule.id] ?? 0 })),
      next_cursor: page.next,
      projects: await this.registry.listProjectOptions(),
      filtered: project !== undefined || state !== undefined,
    });
  }

  async exportList(request: HttpRequest): Promise<Reply> {
    const { project, state } = request.query as { project?: string; state?: string };
    const enabled = state === undefined ? undefined : state === 'enabled';
    const query = { limit: CSV_PAGE_SIZE, project, enabled };
    const csv = await formatCsvPages(
      CSV_COLUMNS,
      (after) => this.registry.getPage(request.principal, { ...query, cursor: after ?? undefined }),
      (rule) => CSV_COLUMNS.map((name) => rule[name]),
    );
    return text(csv, 'text/csv; charset=utf-8').header(
      'content-disposition',
      'attachment; filename="ignore-rules.csv"',
    );
  }

  async showDetail(request: HttpRequest, problem?: FormRejection): Promise<View> {
    const id = request.params['id'] ?? '';
    const rule = await this.registry.get(request.principal, id);
    const [muted, run, held] = await Promise.all([
      this.registry.listMutedGroups(id, MAX_SHOWN_GROUPS),
      this.registry.findLastRun(id),
      this.registry.countMutedGroups([id]),
    ]);
    const running = run?.state === 'running';
    const shouldPreview = request.query['apply'] !== undefined && !running;
    const preview = shouldPreview ? await this.registry.preview(request.principal, rule, PAGE_PREVIEW_MS) : null;
    return new View('ignore-rule', {
      title: rule.name,
      rule: toRuleFields(rule, this.clock.now()),
      here: `/ignore-rules/${id}`,
      asked: preview && { ...preview, fresh: preview.count - preview.muted },
      held: held[id] ?? 0,
      muted: muted.items,
      more: muted.more,
      run,
      running,
      of: run === null ? 0 : Math.max(run.total, run.scanned, 1),
      ...(running && { refresh_seconds: 2 }),
      crumbs: [ignoreRulesCrumb, { label: rule.name }],
      problem: problem?.message,
    });
  }
}

export function buildIgnoreRulePages(
  registry: IgnoreRuleService,
  clock: Clock,
  items: Pick<TrackedItems, 'get'>,
): PageSpec[] {
  const pages = new RulePages(registry, clock);
  const editor = new RuleEditor(registry, clock, items);
  const query = joi.object({ back: joi.string().max(8000).empty('') });
  const action = createPageActions(
    {
      path: '/ignore-rules/{id}',
      title: IGNORE_RULES_TITLE,
      access: accessRule,
      input: { params: paramsSchema, query },
    },
    (request, problem) => pages.showDetail(request, problem),
  );
  return [
    {
      path: '/ignore-rules',
      title: IGNORE_RULES_TITLE,
      nav: {
        section: 'administration',
        group: 'project',
        label: IGNORE_RULES_TITLE,
        icon: 'filter-off',
        order: 30,
        also: ['mutes', 'muted', 'silences', 'filters', 'noise', 'suppressions'],
      },
      access: accessRule,
      projectQuery: 'project',
      input: {
        query: joi.object({
          project: buildOptionalTextSchema(64),
          state: joi.string().valid('enabled', 'disabled').empty(''),
          cursor: buildOptionalTextSchema(4096),
          format: joi.string().valid('csv').empty(''),
        }),
      },
      handle: (request) =>
        request.query['format'] === undefined ? pages.showList(request) : pages.exportList(request),
    },
    {
      path: '/ignore-rules/new',
      title: 'New ignore rule',
      access: accessRule,
      input: {
        query: joi.object({
          name: buildOptionalTextSchema(200),
          match_type: joi
            .string()
            .valid(...MATCH_TYPES)
            .empty(''),
          pattern: buildOptionalTextSchema(500),
          case_sensitive: joi.string().valid('true', 'false').empty(''),
          project: buildOptionalTextSchema(64),
          environment: buildOptionalTextSchema(200),
          reason: buildOptionalTextSchema(1000),
          like: buildOptionalTextSchema(100),
        }),
      },
      handle: (request) => editor.showNew(request),
    },
    {
      method: 'POST',
      path: '/ignore-rules',
      title: IGNORE_RULES_TITLE,
      access: accessRule,
      creates: true,
      handle: (request) => editor.save(request),
    },
    {
      path: '/ignore-rules/{id}',
      title: IGNORE_RULES_TITLE,
      access: accessRule,
      input: { params: paramsSchema, query: joi.object({ apply: joi.string().valid('ask') }) },
      handle: (request) => pages.showDetail(request),
    },
    {
      path: '/ignore-rules/{id}/edit',
      title: IGNORE_RULES_TITLE,
      access: accessRule,
      input: { params: paramsSchema },
      handle: (request) => editor.edit(request),
    },
    {
      method: 'POST',
      path: '/ignore-rules/{id}/edit',
      title: IGNORE_RULES_TITLE,
      access: accessRule,
      input: { params: paramsSchema },
      handle: (request) => editor.save(request),
    },
    action('apply', async (request, id) => {
      await registry.startApply(request.principal, id);
      return redirectToRule(id);
    }),
    action('enable', async (request, id) => {
      await registry.change(request.principal, id, { enabled: true });
      return redirectToRule(id, 'Rule enabled');
    }),
    action('disable', async (request, id) => {
      await registry.change(request.principal, id, { enabled: false });
      return redirectBack(request, `/ignore-rules/${id}`, 'Rule disabled. Its issues are unmuted.');
    }),
    action('delete', async (request, id) => {
      await registry.remove(request.principal, id);
      return redirectBack(request, '/ignore-rules', 'Rule deleted. Its issues are unmuted.');
    }),
  ];
}
