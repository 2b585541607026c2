import { cutText } from '../../../lib/text/cut-text.js';
import { getShortClassName, toErrorTitle } from '../../../lib/text/error-title.js';
import { compileLinearPattern, InvalidPattern, type LinearPattern } from '../../../lib/text/linear-pattern.js';
import { isDefaultPlaceholder } from '../grouping/grouping-key.js';
import { normalizeFunction, normalizeOrigin } from '../grouping/origin.js';
import type { GroupingRule, RuleBehaviour } from '../grouping/grouping-rule.js';
import type { RuleSubject } from './rule-subject.js';
import { parseTemplate, TemplateProblem, type Template, type TemplateValues } from './template.js';
import { compileWildcard } from './wildcard.js';

const MAX_ELEMENT_LENGTH = 500;
const MAX_TITLE_LENGTH = 200;

export interface RuleOutcome {
  rule_id: string;
  /** Null if the rule sets only the title. */
  fingerprint: string[] | null;
  /** The fingerprint contains `{{ default }}`. */
  keeps_class: boolean;
  title: string | null;
}

export interface CompiledRule {
  matches(subject: RuleSubject): boolean;
  evaluate(subject: RuleSubject): RuleOutcome;
  /** Yields to the event loop between searches. */
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
      if (!(error instanceof InvalidPattern) && !(error instanceof TemplateProblem)) throw error;
      faults[field] = error.message;
      return null;
    }
  };
  const { exception_class, message, origin, fingerprint, title } = rule;
  const pattern = message === null ? null : noted('message', () => compileLinearPattern(message, false));
  const place = origin === null ? null : noted('origin', () => compileOriginPattern(origin));
  const elements = fingerprint && noted('fingerprint', () => fingerprint.map(parseElement));
  const heading = title === null ? null : noted('title', () => parseTemplate(title));
  checkGroups(faults, pattern, { fingerprint: elements ?? [], title: heading === null ? [] : [heading] });
  if (exception_class === null && message === null && origin === null)
    faults.message = 'set a class, a message pattern or an origin: a rule without any would match every error';
  if (fingerprint === null && title === null) faults.fingerprint = 'set a fingerprint, a title, or both';
  if (Object.keys(faults).length > 0) throw new RuleProblem(faults);

  const ofClass = exception_class === null ? null : compileWildcard(exception_class.trim());
  return {
    slow: pattern !== null,
    matches: (subject) =>
      (ofClass === null || subject.classes.some(ofClass)) &&
      (place === null || place(subject.origin)) &&
      (pattern === null || pattern.test(subject.message, subject.folded)),
    evaluate: (subject) => {
      const groups = countUsedGroups(elements, heading) > 0 ? (pattern?.getCaptures(subject.message) ?? []) : [];
      return {
        rule_id: rule.id,
        fingerprint: elements && elements.map((one) => renderElement(one, subject, groups)),
        keeps_class: elements === null || elements.includes('default'),
        title: heading && renderTitle(heading, subject, groups),
      };
    },
  };
}

type FingerprintElement = Template | 'default';

const parseElement = (text: string): FingerprintElement =>
  isDefaultPlaceholder(text) ? 'default' : parseTemplate(text);

const countUsedGroups = (elements: readonly FingerprintElement[] | null, heading: Template | null): number =>
  Math.max(heading?.groups ?? 0, ...(elements ?? []).map((one) => (one === 'default' ? 0 : one.groups)));

function checkGroups(
  faults: RuleProblems,
  pattern: LinearPattern | null,
  templates: { fingerprint: readonly FingerprintElement[]; title: readonly Template[] },
): void {
  if (faults.message !== undefined) return;
  const there = pattern?.groups ?? 0;
  for (const field of ['fingerprint', 'title'] as const) {
    const named = countUsedGroups(templates[field], null);
    if (named > there)
      faults[field] ??= `{{ ${named} }} refers to a group that the message pattern does not have; it has ${there}`;
  }
}

const buildTemplateValues = (
  subject: RuleSubject,
  groups: readonly string[],
  message: () => string,
): TemplateValues => ({
  getNamed: (name) => (name === 'class' ? subject.exception_class : name === 'origin' ? subject.origin : message()),
  getCaptured: (index) => groups[index - 1] ?? '',
});

function renderElement(element: FingerprintElement, subject: RuleSubject, groups: readonly string[]): string {
  if (element === 'default') return '{{ default }}';
  const text = cutText(element.render(buildTemplateValues(subject, groups, () => subject.masked)), MAX_ELEMENT_LENGTH);
  // Report text must not become a placeholder.
  return isDefaultPlaceholder(text) ? text.replaceAll('{{', '{ {') : text;
}

function renderTitle(heading: Template, subject: RuleSubject, groups: readonly string[]): string | null {
  const values = buildTemplateValues(subject, groups, () => toErrorTitle(null, subject.message));
  const named = (name: Parameters<TemplateValues['getNamed']>[0]): string =>
    name === 'class' ? getShortClassName(subject.exception_class) : values.getNamed(name);
  const line = heading
    .render({ ...values, getNamed: named })
    .replace(/\s+/gu, ' ')
    .trim();
  return line === '' ? null : cutText(line, MAX_TITLE_LENGTH);
}

/** @throws PatternProblem */
function compileOriginPattern(given: string): (origin: string) => boolean {
  const [file = '', ...functions] = given.trim().split('#');
  const path = normalizeOrigin(file);
  if (path === '') throw new InvalidPattern('must be a file, such as `orders/db.py`; `*` matches any characters');
  const ofFile = compileWildcard(path);
  const ofFunction = functions.length === 0 ? null : compileWildcard(normalizeFunction(functions.join('#')));
  return (origin) => {
    const at = origin.indexOf('#');
    if (!ofFile(at < 0 ? origin : origin.slice(0, at))) return false;
    return ofFunction === null || (at >= 0 && ofFunction(origin.slice(at + 1)));
  };
}
