/**
 * Compiled pattern of a rule (contract 21, ignore rules). Regular expressions use the linear-time
 * engine (lib/text/linear-pattern.ts), so no pattern can hang.
 */
import type { ServiceError } from '../../../kernel/errors.js';
import { compileLinearPattern, PatternProblem, type LinearPattern } from '../../../lib/text/linear-pattern.js';
import { refusal } from '../errors.js';
import type { MatchType, Matching } from './rule.js';
import { listClassNames, listSubjectTexts, type Subject } from './subject.js';

export interface Pattern {
  admits(subject: Subject): boolean;
  test(texts: Texts): boolean;
  /** A match may take milliseconds, so the caller yields to the event loop in between. */
  slow: boolean;
}

/** Lower-case texts of a subject, computed on first use. */
export class Texts {
  readonly plain: readonly string[];
  #folded: readonly string[] | null = null;
  #classes: readonly string[] | null = null;

  constructor(private readonly subject: Subject) {
    this.plain = listSubjectTexts(subject);
  }

  get folded(): readonly string[] {
    return (this.#folded ??= this.plain.map((text) => text.toLowerCase()));
  }

  get classes(): readonly string[] {
    return (this.#classes ??= listClassNames(this.subject.exception_class));
  }
}

const COMPILE: Record<MatchType, (rule: Matching) => (texts: Texts) => boolean> = {
  contains: ({ pattern, case_sensitive }) => {
    const wanted = case_sensitive ? pattern : pattern.toLowerCase();
    return (texts) => (case_sensitive ? texts.plain : texts.folded).some((text) => text.includes(wanted));
  },
  exception_class: ({ pattern, case_sensitive }) => {
    const fold = (text: string): string => (case_sensitive ? text : text.toLowerCase());
    const wanted = fold(pattern.trim());
    const start = wanted.endsWith('*') ? wanted.slice(0, -1) : null;
    return ({ classes }) =>
      classes.some((name) => (start === null ? fold(name) === wanted : fold(name).startsWith(start)));
  },
  regex: (rule) => {
    const expression = compiled(rule);
    return (texts) =>
      texts.plain.some((text, i) => expression.test(text, rule.case_sensitive ? text : texts.folded[i]));
  },
};

/** @throws ServiceError invalid_pattern */
export function compile(rule: Matching): Pattern {
  const project = rule.project;
  const environment = rule.environment?.trim().toLowerCase() ?? null;
  return {
    admits: (subject) =>
      (project === null || subject.project === project) &&
      (environment === null || (subject.environment ?? '').trim().toLowerCase() === environment),
    test: COMPILE[rule.match_type](rule),
    slow: rule.match_type === 'regex',
  };
}

function compiled({ pattern, case_sensitive }: Matching): LinearPattern {
  try {
    return compileLinearPattern(pattern, case_sensitive);
  } catch (error) {
    if (!(error instanceof PatternProblem)) throw error;
    throw refused(error.message);
  }
}

const refused = (what: string): ServiceError =>
  refusal('invalid_pattern', `The pattern is not one that can be searched for: ${what}.`, {
    fields: { pattern: what },
  });
