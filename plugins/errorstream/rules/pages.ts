/** /ignore-rules: the rules with their counters, and a form that previews a rule before it is saved (contract 80). */
import joi from 'joi';
import {
  orAgain,
  type Problem,
  Redirect,
  View,
  type Clock,
  type HttpRequest,
  type PageResult,
  type PageSpec,
} from '../../../kernel/contract.js';
import { bodyOf, EXPIRIES, ruleOf, typed, type Typed } from './form.js';
import type { Registry } from './registry.js';
import { changeBody, createBody, MATCH_TYPES, type RuleView } from './rule.js';
import type { Preview } from './rule-preview.js';

const PAGE = 50;
const MUTED_SHOWN = 20;
const TITLE = 'Ignore rules';
const access = { session: 'member' } as const;
const crumb = { label: TITLE, href: '/ignore-rules' };
const params = joi.object({ id: joi.string().guid().required() });
const empty = (max: number): joi.StringSchema => joi.string().max(max).empty('');

const KINDS: Record<RuleView['match_type'], string> = {
  contains: 'Contains',
  regex: 'Regular expression',
  exception_class: 'Exception class',
};

/** What each kind of match compares, with a pattern that works. */
const HELP: Record<RuleView['match_type'], { help: string; example: string }> = {
  contains: {
    help: 'A part of the title, of the message, or of “Class: message”, as it is written.',
    example: 'reset by peer',
  },
  regex: {
    help: 'An expression in RE2 syntax, searched for in each of the three. What is meant literally needs \\ before . + * ? ( ) [ ] { } ^ $ |.',
    example: String.raw`^timed out after \d+ s`,
  },
  exception_class: {
    help: 'The class: whole, its last segment alone, or a beginning of it that ends in *.',
    example: 'shop.http.PartnerError, PartnerError or shop.legacy.*',
  },
};
const kinds = MATCH_TYPES.map((value) => ({ value, label: KINDS[value], ...HELP[value] }));

/** A rule as the list and its own page show it. */
function stated(rule: RuleView, now: number): object {
  const expired = rule.expires_at !== null && Date.parse(rule.expires_at) <= now;
  const [state, tone] = !rule.enabled
    ? ['disabled', 'neutral']
    : expired
      ? ['expired', 'neutral']
      : ['enabled', 'success'];
  return { ...rule, kind: KINDS[rule.match_type], state, tone, active: state === 'enabled' };
}

const to = (id: string, message?: string): Redirect =>
  new Redirect(`/ignore-rules/${id}`, message === undefined ? undefined : { tone: 'success', message });

interface Editor {
  id?: string;
  /** The values of the controls. */
  form: Typed;
  preview?: Preview | undefined;
  problem?: Problem;
}

const formOf = (rule: RuleView): Typed => ({
  name: rule.name,
  match_type: rule.match_type,
  pattern: rule.pattern,
  case_sensitive: String(rule.case_sensitive),
  project: rule.project ?? '',
  environment: rule.environment ?? '',
  reason: rule.reason,
  alarm_threshold: rule.alarm_threshold === null ? '' : String(rule.alarm_threshold),
  enabled: String(rule.enabled),
  expires: 'keep',
});

export class RulePages {
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

  /** The form, with a preview when the pattern is prefilled. */
  async blank(request: HttpRequest): Promise<PageResult> {
    const given = Object.entries(request.query as Typed);
    const form: Typed = { match_type: 'contains', enabled: 'true', ...Object.fromEntries(given) };
    if (!form['pattern']) return this.#editor({ form });
    return orAgain(
      () => this.#preview(request, { form }),
      (problem) => this.#editor({ form, problem }),
    );
  }

  async edit(request: HttpRequest): Promise<PageResult> {
    const rule = await this.registry.get(request.principal, request.params['id'] ?? '');
    return this.#editor({ id: rule.id, form: formOf(rule) });
  }

  /** The posted form: previewed, or saved. */
  save(request: HttpRequest): Promise<PageResult> {
    const form = typed(request);
    const id = request.params['id'];
    const editor: Editor = { form, ...(id !== undefined && { id }) };
    return orAgain(
      async () => {
        if (form['action'] === 'preview') return this.#preview(request, editor);
        const body = ruleOf(form, id === undefined ? createBody : changeBody, this.clock.now());
        const rule =
          id === undefined
            ? await this.registry.create(request.principal, body)
            : await this.registry.change(request.principal, id, body);
        const message = id === undefined ? 'Rule created. It mutes matching errors from now on.' : 'Rule saved.';
        return form['action'] === 'apply' ? this.#applied(request, rule) : to(rule.id, message);
      },
      (problem) => this.#editor({ ...editor, problem }),
    );
  }

  /** The rule is stored and mutes what comes; what exists already is muted in the background, while its page shows how far it is. */
  async #applied(request: HttpRequest, rule: RuleView): Promise<Redirect> {
    const expired = rule.expires_at !== null && Date.parse(rule.expires_at) <= this.clock.now();
    const running = (await this.registry.lastRun(rule.id))?.state === 'running';
    const not = (why: string): Redirect =>
      new Redirect(`/ignore-rules/${rule.id}`, {
        tone: 'warning',
        message: `The rule is saved, but not applied: ${why}`,
      });
    if (!rule.enabled || expired) return not(`it is ${expired ? 'expired' : 'disabled'}, so it mutes nothing.`);
    if (running) return not('it is being applied already. Apply it again when that has ended.');
    await this.registry.begin(request.principal, rule.id);
    return to(rule.id, 'The rule is saved, and is being applied to the groups that exist.');
  }

  async #preview(request: HttpRequest, editor: Editor): Promise<View> {
    const body = bodyOf(editor.form, createBody, this.clock.now());
    return this.#editor({ ...editor, preview: await this.registry.preview(request.principal, body) });
  }

  async #editor({ id, form, preview, problem }: Editor): Promise<View> {
    const last = { label: id === undefined ? 'New rule' : 'Edit' };
    const name = form['name'] || 'Rule';
    return new View('ignore-rule-form', {
      title: id === undefined ? 'New ignore rule' : 'Edit ignore rule',
      known: id !== undefined,
      form,
      preview,
      // What "and apply" would mute now.
      fresh: preview === undefined ? null : preview.count - preview.muted,
      kinds,
      case_sensitive: form['case_sensitive'] === 'true',
      enabled: form['enabled'] === 'true',
      expiries: id === undefined ? EXPIRIES : [{ value: 'keep', label: 'As it is' }, ...EXPIRIES],
      projects: await this.registry.projects(),
      action: id === undefined ? '/ignore-rules' : `/ignore-rules/${id}/edit`,
      back: id === undefined ? '/ignore-rules' : `/ignore-rules/${id}`,
      crumbs: id === undefined ? [crumb, last] : [crumb, { label: name, href: `/ignore-rules/${id}` }, last],
      ...problem,
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
    // Asked for with the number of groups, which takes a look at all of them.
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
      // The groups were counted when the run began; more may have come since.
      of: run === null ? 0 : Math.max(run.total, run.scanned, 1),
      ...(running && { refresh_seconds: 2 }),
      crumbs: [crumb, { label: rule.name }],
      problem: problem?.message,
    });
  }

  /** A button of a rule's page. An error appears on the same page. */
  act(run: (request: HttpRequest, id: string) => Promise<PageResult>): (request: HttpRequest) => Promise<PageResult> {
    return (request) =>
      orAgain(
        () => run(request, request.params['id'] ?? ''),
        (problem) => this.detail(request, problem),
      );
  }
}

export function rulePages(registry: Registry, clock: Clock): PageSpec[] {
  const pages = new RulePages(registry, clock);
  const action = (name: string, run: (request: HttpRequest, id: string) => Promise<PageResult>): PageSpec => ({
    method: 'POST',
    path: `/ignore-rules/{id}/${name}`,
    title: TITLE,
    access,
    input: { params },
    handle: pages.act(run),
  });
  return [
    {
      path: '/ignore-rules',
      title: TITLE,
      nav: { section: 'work', label: TITLE, icon: 'filter-off', order: 30 },
      access,
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
        }),
      },
      handle: (request) => pages.blank(request),
    },
    {
      method: 'POST',
      path: '/ignore-rules',
      title: TITLE,
      access,
      creates: true,
      handle: (request) => pages.save(request),
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
      handle: (request) => pages.edit(request),
    },
    {
      method: 'POST',
      path: '/ignore-rules/{id}/edit',
      title: TITLE,
      access,
      input: { params },
      handle: (request) => pages.save(request),
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
