/**
 * Linear-time engine (lib/text/linear-pattern.ts), so no pattern can hang (contract 21, ignore
 * rules).
 */
import type { ServiceError } from '../../../kernel/errors.js';
import { compileLinearPattern, InvalidPattern, type LinearPattern } from '../../../lib/text/linear-pattern.js';
import { refusal } from '../errors.js';
import type { MatchType, RuleCriteria } from './rule.js';
import { listClassNames, listSubjectTexts, type MatchSubject } from './match-subject.js';

export interface CompiledPattern {
  appliesTo(subject: MatchSubject): boolean;
  matches(texts: SubjectTexts): boolean;
  /** A match may take milliseconds: yield in between. */
  slow: boolean;
}

export class SubjectTexts {
  readonly plain: readonly string[];
  #folded: readonly string[] | null = null;
  #classes: readonly string[] | null = null;

  constructor(private readonly subject: MatchSubject) {
    this.plain = listSubjectTexts(subject);
  }

  get lowerCaseTexts(): readonly string[] {
    return (this.#folded ??= this.plain.map((text) => text.toLowerCase()));
  }

  get classNames(): readonly string[] {
    return (this.#classes ??= listClassNames(this.subject.exception_class));
  }
}

const COMPILERS: Record<MatchType, (rule: RuleCriteria) => (texts: SubjectTexts) => boolean> = {
  contains: ({ pattern, case_sensitive }) => {
    const wanted = case_sensitive ? pattern : pattern.toLowerCase();
    return (texts) => (case_sensitive ? texts.plain : texts.lowerCaseTexts).some((text) => text.includes(wanted));
  },
  exception_class: ({ pattern, case_sensitive }) => {
    const fold = (text: string): string => (case_sensitive ? text : text.toLowerCase());
    const wanted = fold(pattern.trim());
    const start = wanted.endsWith('*') ? wanted.slice(0, -1) : null;
    return ({ classNames: classes }) =>
      classes.some((name) => (start === null ? fold(name) === wanted : fold(name).startsWith(start)));
  },
  regex: (rule) => {
    const expression = compileRegex(rule);
    return (texts) =>
      texts.plain.some((text, i) => expression.test(text, rule.case_sensitive ? text : texts.lowerCaseTexts[i]));
  },
};

/** @throws ServiceError invalid_pattern */
export function compilePattern(rule: RuleCriteria): CompiledPattern {
  const project = rule.project;
  const environment = rule.environment?.trim().toLowerCase() ?? null;
  return {
    appliesTo: (subject) =>
      (project === null || subject.project === project) &&
      (environment === null || (subject.environment ?? '').trim().toLowerCase() === environment),
    matches: COMPILERS[rule.match_type](rule),
    slow: rule.match_type === 'regex',
  };
}

function compileRegex({ pattern, case_sensitive }: RuleCriteria): LinearPattern {
  try {
    return compileLinearPattern(pattern, case_sensitive);
  } catch (error) {
    if (!(error instanceof InvalidPattern)) throw error;
    throw toPatternError(error.message);
  }
}

const toPatternError = (what: string): ServiceError =>
  refusal('invalid_pattern', `Invalid pattern: ${what}.`, {
    fields: { pattern: what },
  });
