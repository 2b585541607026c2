import {
  orAgain,
  type Problem,
  Redirect,
  View,
  type HttpRequest,
  type PageResult,
} from '../../../../kernel/contract.js';
import { invalid } from '../../../../kernel/errors.js';
import type { GroupingRule } from '../../grouping/grouping-rule.js';
import { ruleBody } from '../../http/grouping-rule-schemas.js';
import type { GroupingRuleFields } from '../../regrouping/registry.js';
import type { RuleTrial } from '../../regrouping/trial.js';
import { checked, typedFields } from '../shared/form.js';
import type { PageDeps } from '../shared/page-deps.js';
import { crumb, rulesUrl } from './rule-links.js';

type Typed = Record<string, string>;

interface Editor {
  project: string;
  id: string | null;
  form: Typed;
  trial?: RuleTrial;
  problem?: Problem;
}

const LINE = /\r\n?|\n/;
const PREFILLED = ['name', 'exception_class', 'message', 'origin'] as const;

const formOf = (rule: GroupingRule): Typed => ({
  name: rule.name,
  enabled: String(rule.enabled),
  exception_class: rule.exception_class ?? '',
  message: rule.message ?? '',
  origin: rule.origin ?? '',
  fingerprint: (rule.fingerprint ?? []).join('\n'),
  title: rule.title ?? '',
});

function fieldsOf(form: Typed): GroupingRuleFields {
  const { name = '', exception_class = '', message = '', origin = '', fingerprint = '', title = '' } = form;
  const elements = fingerprint
    .split(LINE)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const given = { name, exception_class, message, origin, title, enabled: form['enabled'] === 'true' };
  return checked(ruleBody, { ...given, fingerprint: elements.length === 0 ? null : elements }) as GroupingRuleFields;
}

export class GroupingRuleEditor {
  constructor(private readonly page: PageDeps) {}

  async blank(request: HttpRequest): Promise<PageResult> {
    const given = request.query as Partial<Typed>;
    const { project = '' } = given;
    const form: Typed = { enabled: 'true' };
    for (const name of PREFILLED) if (given[name] !== undefined) form[name] = given[name];
    const editor = { project, id: null, form };
    // An unknown project fails with 404 here instead of after the form was filled in.
    if (project !== '') await this.page.services.regrouping.list(request.principal, project);
    return this.#view(editor);
  }

  async edit(request: HttpRequest): Promise<PageResult> {
    const { project = '', id = '' } = request.params;
    const rule = await this.page.services.regrouping.get(request.principal, project, id);
    return this.#view({ project, id: rule.id, form: formOf(rule) });
  }

  async save(request: HttpRequest): Promise<PageResult> {
    const { regrouping } = this.page.services;
    const form = typedFields(request);
    const { principal, params } = request;
    const project = params['project'] ?? form['project'] ?? '';
    const id = params['id'] ?? null;
    const editor: Editor = { project, id, form };
    return orAgain(
      async () => {
        if (project === '') throw invalid({ project: 'Choose a project.' });
        const fields = fieldsOf(form);
        if (form['action'] === 'try') {
          const trial = await regrouping.preview(principal, project, fields, id);
          return this.#view({ ...editor, trial });
        }
        const rule =
          id === null
            ? await regrouping.create(principal, project, fields)
            : await regrouping.change(principal, project, id, fields);
        const message = !rule.enabled
          ? `Saved “${rule.name}”. It is disabled and groups nothing.`
          : `Saved “${rule.name}”. Errors that fit are grouped by it from now on.`;
        return new Redirect(rulesUrl(project), { tone: 'success', message });
      },
      (problem) => this.#view({ ...editor, problem }),
    );
  }

  async #view({ project, id, form, trial, problem }: Editor): Promise<View> {
    const title = id === null ? 'New grouping rule' : 'Edit grouping rule';
    return new View('grouping-rule-form', {
      title,
      known: id !== null,
      project,
      projects: project === '' ? await this.#projects() : null,
      form,
      enabled: form['enabled'] === 'true',
      trial,
      action: id === null ? '/grouping-rules' : `/grouping-rules/${encodeURIComponent(project)}/${id}/edit`,
      back: project === '' ? crumb.href : rulesUrl(project),
      crumbs: [
        crumb,
        ...(project === '' ? [] : [{ label: project, href: rulesUrl(project) }]),
        { label: id === null ? 'New rule' : 'Edit' },
      ],
      message: problem && faultsWithoutControl(problem),
      errors: problem?.errors,
    });
  }

  async #projects(): Promise<{ value: string; label: string }[]> {
    return (await this.page.deps.projects.list()).map(({ slug, name }) => ({ value: slug, label: name }));
  }
}

function faultsWithoutControl({ message, errors }: Problem): string {
  const elements = Object.entries(errors).flatMap(([field, what]) => (field.startsWith('fingerprint.') ? [what] : []));
  return [message, ...elements].join(' ');
}
