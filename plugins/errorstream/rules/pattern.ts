/**
 * A rule's pattern, compiled (contract 21, ignore rules). Regular expressions run on RE2's algorithm in JavaScript: the
 * time is linear in the text, so no pattern can hang. It also grows with the pattern, so both are capped: at most
 * `LARGEST` instructions, and at most `STEPS` (instructions × characters) for a search, about ten milliseconds. A
 * pattern of up to 30 instructions (about 25 characters of plain text) searches the longest text whole. A larger one
 * searches the beginning: with 100 instructions the first 2,600 characters.
 *
 * Rejected: JavaScript's own engine (`(a+)+$` on forty characters takes longer than a day), and a time limit (the same
 * report would match or not, depending on the machine's load).
 */
import { RE2JS, RE2JSException } from 're2js';
import type { ServiceError } from '../../../kernel/errors.js';
import { refusal } from '../errors.js';
import type { MatchType, Matching } from './rule.js';
import { literalsOf } from './literal.js';
import { classNames, textsOf, type Subject } from './subject.js';
import { patternCost } from './pattern-cost.js';

/** Instructions of a compiled expression. */
export const LARGEST = 1000;
/** Instructions × characters of one search. */
export const STEPS = 260_000;

export interface Pattern {
  /** Whether the rule applies to this project and environment. */
  admits(subject: Subject): boolean;
  /** @param folded the texts in lower case, made once for all rules */
  test(texts: Texts): boolean;
  /** A search may take milliseconds, so the caller lets the event loop run between searches. */
  slow: boolean;
}

/** A subject's texts in lower case, computed on first use. */
export class Texts {
  readonly plain: readonly string[];
  #folded: readonly string[] | null = null;
  #classes: readonly string[] | null = null;

  constructor(private readonly subject: Subject) {
    this.plain = textsOf(subject);
  }

  get folded(): readonly string[] {
    return (this.#folded ??= this.plain.map((text) => text.toLowerCase()));
  }

  get classes(): readonly string[] {
    return (this.#classes ??= classNames(this.subject.exception_class));
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
    const longest = Math.floor(STEPS / expression.programSize());
    const literals = mustHold(rule);
    return (texts) =>
      texts.plain.some(
        (text, i) => literals(texts, i) && expression.test(text.length > longest ? text.slice(0, longest) : text),
      );
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

/** False when the text cannot match. */
function mustHold({ pattern, case_sensitive }: Matching): (texts: Texts, i: number) => boolean {
  const literals = literalsOf(pattern);
  if (literals === null) return () => true;
  if (case_sensitive) return ({ plain }, i) => literals.some((literal) => plain[i]?.includes(literal));
  const wanted = literals.map((literal) => literal.toLowerCase());
  // The engine treats the long s (ſ) as an s, which lower case does not.
  return ({ folded }, i) => folded[i]?.includes('ſ') === true || wanted.some((literal) => folded[i]?.includes(literal));
}

function compiled({ pattern, case_sensitive }: Matching): RE2JS {
  const cost = patternCost(pattern);
  if (cost > LARGEST) throw tooLarge(cost);
  try {
    const expression = RE2JS.compile(pattern, case_sensitive ? 0 : RE2JS.CASE_INSENSITIVE);
    const size = expression.programSize();
    if (size > LARGEST) throw tooLarge(size);
    return expression;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw refused(
      `${error.message}. Look-around and back-references are not supported: they take more than linear time`,
    );
  }
}

const tooLarge = (size: number): ServiceError =>
  refused(`with its repetitions written out it has ${size} steps; at most ${LARGEST} can be searched for in time`);

const refused = (what: string): ServiceError =>
  refusal('invalid_pattern', `The pattern is not one that can be searched for: ${what}.`, {
    fields: { pattern: what },
  });
