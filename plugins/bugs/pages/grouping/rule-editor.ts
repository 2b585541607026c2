import {
  orAgain,
  type FormRejection,
  Redirect,
  View,
  type HttpRequest,
  type PageResult,
} from '../../../../kernel/contract/index.js';
import { invalid } from '../../../../kernel/errors.js';
import type { GroupingRule } from '../../grouping/grouping-rule.js';
import { ruleBody } from '../../http/grouping-rule-schemas.js';
import type { GroupingRuleFields } from '../../regrouping/grouping-rules.js';
import type { RuleTrial } from '../../regrouping/rule-trial.js';
import { validateForm, getFormFields } from '../shared/form.js';
import type { PageDeps } from '../shared/page-deps.js';
import { groupingRulesCrumb, buildRulesUrl } from './rule-links.js';

type FormValues = Record<string, string>;

interface EditorState {
  project: string;
  id: string | null;
  form: FormValues;
  trial?: RuleTrial;
  problem?: FormRejection;
}

const LINE_BREAK_PATTERN = /\r\n?|\n/;
const PREFILLED_FIELDS = ['name', 'exception_class', 'message', 'origin'] as const;

const toFormValues = (rule: GroupingRule): FormValues => ({
  name: rule.name,
  enabled: String(rule.enabled),
  exception_class: rule.exception_class ?? '',
  message: rule.message ?? '',
  origin: rule.origin ?? '',
  fingerprint: (rule.fingerprint ?? []).join('\n'),
  title: rule.title ?? '',
});

function toRuleFields(form: FormValues): GroupingRuleFields {
  const { name = '', exception_class = '', message = '', origin = '', fingerprint = '', title = '' } = form;
  const elements = fingerprint
    .split(LINE_BREAK_PATTERN)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const given = { name, exception_class, message, origin, title, enabled: form['enabled'] === 'true' };
  return validateForm(ruleBody, {
    ...given,
    fingerprint: elements.length === 0 ? null : elements,
  }) as GroupingRuleFields;
}

export class GroupingRuleEditor {
  constructor(private readonly page: PageDeps) {}

  async showNew(request: HttpRequest): Promise<PageResult> {
    const given = request.query as Partial<FormValues>;
    const { project = '' } = given;
    const form: FormValues = { enabled: 'true' };
    for (const name of PREFILLED_FIELDS) if (given[name] !== undefined) form[name] = given[name];
    const editor = { project, id: null, form };
    // Fails with 404 before the form is filled in.
    if (project !== '') await this.page.services.regrouping.list(request.principal, project);
    return this.#buildView(editor);
  }

  async edit(request: HttpRequest): Promise<PageResult> {
    const { project = '', id = '' } = request.params;
    const rule = await this.page.services.regrouping.get(request.principal, project, id);
    return this.#buildView({ project, id: rule.id, form: toFormValues(rule) });
  }

  async save(request: HttpRequest): Promise<PageResult> {
    const { regrouping } = this.page.services;
    const form = getFormFields(request);
    const { principal, params } = request;
    const project = params['project'] ?? form['project'] ?? '';
    const id = params['id'] ?? null;
    const editor: EditorState = { project, id, form };
    return orAgain(
      async () => {
        if (project === '') throw invalid({ project: 'Required' });
        const fields = toRuleFields(form);
        if (form['action'] === 'try') {
          const trial = await regrouping.preview(principal, project, fields, id);
          return this.#buildView({ ...editor, trial });
        }
        const rule =
          id === null
            ? await regrouping.create(principal, project, fields)
            : await regrouping.change(principal, project, id, fields);
        const message = !rule.enabled ? `Rule “${rule.name}” saved (disabled)` : `Rule “${rule.name}” saved`;
        return new Redirect(buildRulesUrl(project), { tone: 'success', message });
      },
      (problem) => this.#buildView({ ...editor, problem }),
    );
  }

  async #buildView({ project, id, form, trial, problem }: EditorState): Promise<View> {
    const title = id === null ? 'New grouping rule' : 'Edit grouping rule';
    return new View('grouping-rule-form', {
      title,
      known: id !== null,
      project,
      projects: project === '' ? await this.#listProjectOptions() : null,
      form,
      enabled: form['enabled'] === 'true',
      trial,
      action: id === null ? '/grouping-rules' : `/grouping-rules/${encodeURIComponent(project)}/${id}/edit`,
      back: project === '' ? groupingRulesCrumb.href : buildRulesUrl(project),
      crumbs: [
        groupingRulesCrumb,
        ...(project === '' ? [] : [{ label: project, href: buildRulesUrl(project) }]),
        { label: id === null ? 'New rule' : 'Edit' },
      ],
      message: problem && formatErrorsWithoutControl(problem),
      errors: problem?.errors,
    });
  }

  async #listProjectOptions(): Promise<{ value: string; label: string }[]> {
    return (await this.page.deps.projects.list()).map(({ slug, name }) => ({ value: slug, label: name }));
  }
}

function formatErrorsWithoutControl({ message, errors }: FormRejection): string {
  const elements = Object.entries(errors).flatMap(([field, what]) => (field.startsWith('fingerprint.') ? [what] : []));
  return [message, ...elements].join(' ');
}
