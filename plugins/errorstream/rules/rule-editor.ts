import {
  orAgain,
  type FormRejection,
  Redirect,
  View,
  type Clock,
  type HttpRequest,
  type PageResult,
} from '../../../kernel/contract/index.js';
import { notFound } from '../../../kernel/errors.js';
import type { TrackedItems } from '../../../ports/domain/bugs.js';
import { parseRuleForm, EXPIRY_OPTIONS, validateRuleForm, getRuleFormFields, type RuleFormValues } from './form.js';
import { buildSimilarPattern } from './ignore-link.js';
import { matchTypeOptions } from './match-types.js';
import type { IgnoreRuleService } from './ignore-rules.js';
import { ruleChangeSchema, ruleCreationSchema, type RuleView } from './rule.js';
import { PAGE_PREVIEW_MS, type PreviewResult } from './rule-applier.js';

const MAX_NAME_LENGTH = 200;

export const IGNORE_RULES_TITLE = 'Ignore rules';
export const ignoreRulesCrumb = { label: IGNORE_RULES_TITLE, href: '/ignore-rules' };

export const redirectToRule = (id: string, message?: string): Redirect =>
  new Redirect(`/ignore-rules/${id}`, message === undefined ? undefined : { tone: 'success', message });

interface EditorState {
  id?: string;
  form: RuleFormValues;
  preview?: PreviewResult | undefined;
  problem?: FormRejection;
}

const toFormValues = (rule: RuleView): RuleFormValues => ({
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
    private readonly registry: IgnoreRuleService,
    private readonly clock: Clock,
    private readonly items: Pick<TrackedItems, 'get'>,
  ) {}

  async showNew(request: HttpRequest): Promise<PageResult> {
    const { like, ...given } = request.query as RuleFormValues;
    const form: RuleFormValues = {
      match_type: 'contains',
      enabled: 'true',
      ...(like !== undefined && (await this.#buildSimilarForm(like))),
      ...given,
    };
    if (!form['pattern']) return this.#buildView({ form });
    return orAgain(
      () => this.#showPreview(request, { form }, PAGE_PREVIEW_MS),
      (problem) => this.#buildView({ form, problem }),
    );
  }

  async edit(request: HttpRequest): Promise<PageResult> {
    const rule = await this.registry.get(request.principal, request.params['id'] ?? '');
    return this.#buildView({ id: rule.id, form: toFormValues(rule) });
  }

  async save(request: HttpRequest): Promise<PageResult> {
    const form = getRuleFormFields(request);
    const id = request.params['id'];
    const editor: EditorState = { form, ...(id !== undefined && { id }) };
    return orAgain(
      async () => {
        if (form['action'] === 'preview') return this.#showPreview(request, editor);
        const body = validateRuleForm(form, id === undefined ? ruleCreationSchema : ruleChangeSchema, this.clock.now());
        const rule =
          id === undefined
            ? await this.registry.create(request.principal, body)
            : await this.registry.change(request.principal, id, body);
        const message = id === undefined ? 'Rule created' : 'Rule saved';
        return form['action'] === 'apply' ? this.#startApply(request, rule) : redirectToRule(rule.id, message);
      },
      (problem) => this.#buildView({ ...editor, problem }),
    );
  }

  /** @throws ServiceError not_found, also for an item that is not an error */
  async #buildSimilarForm(ref: string): Promise<RuleFormValues> {
    const item = await this.items.get(ref);
    if (item?.type !== 'error') throw notFound(`error ${ref}`);
    return { ...buildSimilarPattern(item.title), name: item.title.slice(0, MAX_NAME_LENGTH), project: item.project };
  }

  async #startApply(request: HttpRequest, rule: RuleView): Promise<Redirect> {
    const expired = rule.expires_at !== null && Date.parse(rule.expires_at) <= this.clock.now();
    const running = (await this.registry.findLastRun(rule.id))?.state === 'running';
    const not = (why: string): Redirect =>
      new Redirect(`/ignore-rules/${rule.id}`, {
        tone: 'warning',
        message: `Rule saved but not applied: ${why}`,
      });
    if (!rule.enabled || expired) return not(`it is ${expired ? 'expired' : 'disabled'}.`);
    if (running) return not('it is already being applied.');
    await this.registry.startApply(request.principal, rule.id);
    return redirectToRule(rule.id, 'Rule saved. Muting existing issues.');
  }

  async #showPreview(request: HttpRequest, editor: EditorState, maxMs?: number): Promise<View> {
    const body = parseRuleForm(editor.form, ruleCreationSchema, this.clock.now());
    return this.#buildView({ ...editor, preview: await this.registry.preview(request.principal, body, maxMs) });
  }

  async #buildView({ id, form, preview, problem }: EditorState): Promise<View> {
    const last = { label: id === undefined ? 'New rule' : 'Edit' };
    const name = form['name'] || 'Rule';
    return new View('ignore-rule-form', {
      title: id === undefined ? 'New ignore rule' : 'Edit ignore rule',
      known: id !== undefined,
      form,
      preview,
      fresh: preview === undefined ? null : preview.count - preview.muted,
      kinds: matchTypeOptions,
      case_sensitive: form['case_sensitive'] === 'true',
      enabled: form['enabled'] === 'true',
      expiries: id === undefined ? EXPIRY_OPTIONS : [{ value: 'keep', label: 'Unchanged' }, ...EXPIRY_OPTIONS],
      projects: await this.registry.listProjectOptions(),
      action: id === undefined ? '/ignore-rules' : `/ignore-rules/${id}/edit`,
      back: id === undefined ? '/ignore-rules' : `/ignore-rules/${id}`,
      crumbs:
        id === undefined
          ? [ignoreRulesCrumb, last]
          : [ignoreRulesCrumb, { label: name, href: `/ignore-rules/${id}` }, last],
      ...problem,
    });
  }
}
