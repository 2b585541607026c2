/**
 * A regular expression that searches in linear time. It runs on RE2's algorithm in JavaScript, so no pattern can hang.
 * The time also grows with the pattern, so both are capped: at most `LARGEST` instructions, and at most `STEPS`
 * (instructions × characters) for a search, about ten milliseconds. A pattern of up to 30 instructions (about 25
 * characters of plain text) searches the longest text whole. A larger one searches the beginning: with 100 instructions
 * the first 2,600 characters.
 *
 * Rejected: JavaScript's own engine (`(a+)+$` on forty characters takes longer than a day), and a time limit (the same
 * text would match or not, depending on the machine's load).
 */
import { RE2JS, RE2JSException } from 're2js';
import { patternCost } from './pattern-cost.js';
import { findLiterals } from './pattern-literals.js';

/** Instructions of a compiled expression. */
export const MAX_PATTERN_INSTRUCTIONS = 1000;
/** Instructions × characters of one search. */
export const MAX_SEARCH_STEPS = 260_000;

/** The pattern cannot be searched for; the message says why, in words for a person. */
export class PatternProblem extends Error {
  override name = 'PatternProblem';
}

export interface LinearPattern {
  /** @param folded the text in lower case, where the caller has it already */
  test(text: string, folded?: string): boolean;
  /**
   * What the parenthesised groups of the first match hold, the first group first; an empty text for one that took no
   * part. Null: no match. It takes up to ten times as long as `test`, so ask that first.
   */
  captures(text: string): string[] | null;
  /** How many parenthesised groups it has. */
  groups: number;
}

/** @throws PatternProblem */
export function compileLinearPattern(pattern: string, caseSensitive: boolean): LinearPattern {
  const expression = compiled(pattern, caseSensitive);
  const longest = Math.floor(MAX_SEARCH_STEPS / expression.programSize());
  const mayMatch = literalTest(pattern, caseSensitive);
  const searched = (text: string): string => (text.length > longest ? text.slice(0, longest) : text);
  return {
    test: (text, folded) => mayMatch(text, folded) && expression.test(searched(text)),
    captures: (text) => {
      const found = expression.matcher(searched(text));
      if (!found.find()) return null;
      return Array.from({ length: expression.groupCount() }, (_, i) => found.group(i + 1) ?? '');
    },
    groups: expression.groupCount(),
  };
}

/** False for a text that cannot match. */
function literalTest(pattern: string, caseSensitive: boolean): LinearPattern['test'] {
  const literals = findLiterals(pattern);
  if (literals === null) return () => true;
  if (caseSensitive) return (text) => literals.some((literal) => text.includes(literal));
  const wanted = literals.map((literal) => literal.toLowerCase());
  return (text, folded = text.toLowerCase()) =>
    // The engine treats the long s (ſ) as an s, which lower case does not.
    folded.includes('ſ') || wanted.some((literal) => folded.includes(literal));
}

function compiled(pattern: string, caseSensitive: boolean): RE2JS {
  const cost = patternCost(pattern);
  if (cost > MAX_PATTERN_INSTRUCTIONS) throw tooLarge(cost);
  try {
    const expression = RE2JS.compile(pattern, caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE);
    const size = expression.programSize();
    if (size > MAX_PATTERN_INSTRUCTIONS) throw tooLarge(size);
    return expression;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    // The engine puts its own switch for letters before the pattern.
    const problem = error.message.replace(`\`(?i)${pattern}\``, () => `\`${pattern}\``);
    throw new PatternProblem(
      `${problem}. Look-around and back-references are not supported: they take more than linear time`,
    );
  }
}

const tooLarge = (size: number): PatternProblem =>
  new PatternProblem(
    `with its repetitions written out it has ${size} steps; at most ${MAX_PATTERN_INSTRUCTIONS} can be searched for in time`,
  );
