import { cutText } from '../../../lib/text/cut-text.js';
import { getShortClassName, titleOf } from '../../../lib/text/error-title.js';
import { compileLinearPattern, PatternProblem, type LinearPattern } from '../../../lib/text/linear-pattern.js';
import { isDefault } from '../grouping/key.js';
import { normalizeFunction, normalizeOrigin } from '../grouping/origin.js';
import type { GroupingRule, RuleBehaviour } from '../grouping/grouping-rule.js';
import type { RuleSubject } from './subject.js';
import { parseTemplate, TemplateProblem, type Template, type TemplateValues } from './template.js';
import { compileWildcard } from './wildcard.js';

const MAX_ELEMENT_LENGTH = 500;
/** Maximum length of a title (contract 20). */
const MAX_TITLE_LENGTH = 200;

export interface Ruling {
  rule_id: string;
  /** Replaces the report's fingerprint; null if the rule sets only the title. */
  fingerprint: string[] | null;
  /** The fingerprint contains `{{ default }}`, so the key includes the class. */
  keeps_class: boolean;
  title: string | null;
}

export interface CompiledRule {
  fits(subject: RuleSubject): boolean;
  ruling(subject: RuleSubject): Ruling;
  /** A search may take a millisecond, so the caller yields to the event loop between searches. */
  slow: boolean;
}

export type RuleProblems = Partial<Record<keyof RuleBehaviour, string>>;

export class RuleProblem extends Error {
  override name = 'RuleProblem';
  constructor(readonly fields: RuleProblems) {
    super(Object.values(fields).join(' '));
  }
}

/** @throws RuleProblem with all errors */
export function compileRule(rule: Pick<GroupingRule, 'id'> & RuleBehaviour): CompiledRule {
  const faults: RuleProblems = {};
  const noted = <T>(field: keyof RuleBehaviour, make: () => T): T | null => {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof PatternProblem) && !(error instanceof TemplateProblem)) throw error;
      faults[field] = error.message;
      return null;
    }
  };
  const { exception_class, message, origin, fingerprint, title } = rule;
  const pattern = message === null ? null : noted('message', () => compileLinearPattern(message, false));
  const place = origin === null ? null : noted('origin', () => originForm(origin));
  const elements = fingerprint && noted('fingerprint', () => fingerprint.map(elementOf));
  const heading = title === null ? null : noted('title', () => parseTemplate(title));
  checkGroups(faults, pattern, { fingerprint: elements ?? [], title: heading === null ? [] : [heading] });
  if (exception_class === null && message === null && origin === null)
    faults.message = 'name a class, a pattern of the message or an origin: a rule without any would take every error';
  if (fingerprint === null && title === null) faults.fingerprint = 'give a fingerprint, a title, or both';
  if (Object.keys(faults).length > 0) throw new RuleProblem(faults);

  const ofClass = exception_class === null ? null : compileWildcard(exception_class.trim());
  return {
    slow: pattern !== null,
    fits: (subject) =>
      (ofClass === null || subject.classes.some(ofClass)) &&
      (place === null || place(subject.origin)) &&
      (pattern === null || pattern.test(subject.message, subject.folded)),
    ruling: (subject) => {
      const groups = usedBy(elements, heading) > 0 ? (pattern?.captures(subject.message) ?? []) : [];
      return {
        rule_id: rule.id,
        fingerprint: elements && elements.map((one) => rendered(one, subject, groups)),
        keeps_class: elements === null || elements.includes('default'),
        title: heading && titled(heading, subject, groups),
      };
    },
  };
}

type Element = Template | 'default';

const elementOf = (text: string): Element => (isDefault(text) ? 'default' : parseTemplate(text));

const usedBy = (elements: readonly Element[] | null, heading: Template | null): number =>
  Math.max(heading?.groups ?? 0, ...(elements ?? []).map((one) => (one === 'default' ? 0 : one.groups)));

function checkGroups(
  faults: RuleProblems,
  pattern: LinearPattern | null,
  templates: { fingerprint: readonly Element[]; title: readonly Template[] },
): void {
  if (faults.message !== undefined) return;
  const there = pattern?.groups ?? 0;
  for (const field of ['fingerprint', 'title'] as const) {
    const named = usedBy(templates[field], null);
    if (named > there)
      faults[field] ??= `{{ ${named} }} names a group that the pattern of the message does not have; it has ${there}`;
  }
}

const valuesOf = (subject: RuleSubject, groups: readonly string[], message: () => string): TemplateValues => ({
  named: (name) => (name === 'class' ? subject.exception_class : name === 'origin' ? subject.origin : message()),
  captured: (index) => groups[index - 1] ?? '',
});

function rendered(element: Element, subject: RuleSubject, groups: readonly string[]): string {
  if (element === 'default') return '{{ default }}';
  const text = cutText(element.render(valuesOf(subject, groups, () => subject.masked)), MAX_ELEMENT_LENGTH);
  // Report text must not become a placeholder.
  return isDefault(text) ? text.replaceAll('{{', '{ {') : text;
}

function titled(heading: Template, subject: RuleSubject, groups: readonly string[]): string | null {
  const values = valuesOf(subject, groups, () => titleOf(null, subject.message));
  const named = (name: Parameters<TemplateValues['named']>[0]): string =>
    name === 'class' ? getShortClassName(subject.exception_class) : values.named(name);
  const line = heading
    .render({ ...values, named })
    .replace(/\s+/gu, ' ')
    .trim();
  return line === '' ? null : cutText(line, MAX_TITLE_LENGTH);
}

/** @throws PatternProblem */
function originForm(given: string): (origin: string) => boolean {
  const [file = '', ...functions] = given.trim().split('#');
  const path = normalizeOrigin(file);
  if (path === '') throw new PatternProblem('name a file, as `orders/db.py`; `*` stands for any characters');
  const ofFile = compileWildcard(path);
  const ofFunction = functions.length === 0 ? null : compileWildcard(normalizeFunction(functions.join('#')));
  return (origin) => {
    const at = origin.indexOf('#');
    if (!ofFile(at < 0 ? origin : origin.slice(0, at))) return false;
    return ofFunction === null || (at >= 0 && ofFunction(origin.slice(at + 1)));
  };
}
