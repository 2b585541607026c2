import {
  orAgain,
  type Problem,
  Redirect,
  View,
  type Clock,
  type HttpRequest,
  type PageResult,
} from '../../../kernel/contract.js';
import { notFound } from '../../../kernel/errors.js';
import type { TrackedItems } from '../../../ports/domain/bugs.js';
import { parseRuleForm, EXPIRIES, validateRuleForm, getRuleFormFields, type Typed } from './form.js';
import { buildSimilarPattern, buildExactPattern } from './ignore-link.js';
import { kindChoices } from './match-kinds.js';
import type { Registry } from './registry.js';
import { changeBody, createBody, type RuleView } from './rule.js';
import type { Preview } from './rule-preview.js';

export const TITLE = 'Ignore rules';
export const crumb = { label: TITLE, href: '/ignore-rules' };

export const to = (id: string, message?: string): Redirect =>
  new Redirect(`/ignore-rules/${id}`, message === undefined ? undefined : { tone: 'success', message });

interface Editor {
  id?: string;
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

export class RuleEditor {
  constructor(
    private readonly registry: Registry,
    private readonly clock: Clock,
    private readonly items: Pick<TrackedItems, 'get'>,
  ) {}

  async blank(request: HttpRequest): Promise<PageResult> {
    const { like, ...given } = request.query as Typed;
    const form: Typed = {
      match_type: 'contains',
      enabled: 'true',
      ...(like !== undefined && (await this.#like(like, buildSimilarPattern))),
      ...given,
    };
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

  /**
   * Previews or saves the posted form. The form of a list row names only its item, which is muted
   * immediately.
   */
  async save(request: HttpRequest): Promise<PageResult> {
    const given = getRuleFormFields(request);
    const { like } = given;
    const row =
      like === undefined ? {} : { ...(await this.#like(like, buildExactPattern)), enabled: 'true', action: 'apply' };
    const form: Typed = { ...row, ...given };
    const id = request.params['id'];
    const editor: Editor = { form, ...(id !== undefined && { id }) };
    return orAgain(
      async () => {
        if (form['action'] === 'preview') return this.#preview(request, editor);
        const body = validateRuleForm(form, id === undefined ? createBody : changeBody, this.clock.now());
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

  /**
   * Returns form values that mute errors like this item.
   * @throws ServiceError not_found, also for an item that is not an error
   */
  async #like(ref: string, pattern: typeof buildExactPattern): Promise<Typed> {
    const item = await this.items.get(ref);
    if (item?.type !== 'error') throw notFound(`error ${ref}`);
    return { ...pattern(item.title), project: item.project };
  }

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
    const body = parseRuleForm(editor.form, createBody, this.clock.now());
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
      fresh: preview === undefined ? null : preview.count - preview.muted,
      kinds: kindChoices,
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
}
