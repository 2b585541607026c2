/**
 * Regular expressions with linear search time (RE2 in JavaScript). Pattern size is capped at
 * `MAX_PATTERN_INSTRUCTIONS`, a search at `MAX_SEARCH_STEPS`; larger patterns search only a text's
 * beginning.
 */
import { RE2JS, RE2JSException } from 're2js';
import { estimatePatternCost } from './pattern-cost.js';
import { findLiterals } from './pattern-literals.js';

/** Compiled instructions. */
export const MAX_PATTERN_INSTRUCTIONS = 1000;
/** Instructions × characters per search. */
export const MAX_SEARCH_STEPS = 260_000;

/** An unsupported pattern, with a message for users. */
export class InvalidPattern extends Error {
  override name = 'PatternProblem';
}

export interface LinearPattern {
  test(text: string, folded?: string): boolean;
  /** Returns the groups of the first match, '' for those without a part; null without a match. */
  getCaptures(text: string): string[] | null;
  groups: number;
}

/** Compiles a pattern. @throws InvalidPattern */
export function compileLinearPattern(pattern: string, caseSensitive: boolean): LinearPattern {
  const expression = compilePattern(pattern, caseSensitive);
  const longest = Math.floor(MAX_SEARCH_STEPS / expression.programSize());
  const mayMatch = createLiteralTest(pattern, caseSensitive);
  const searched = (text: string): string => (text.length > longest ? text.slice(0, longest) : text);
  return {
    test: (text, folded) => mayMatch(text, folded) && expression.test(searched(text)),
    getCaptures: (text) => {
      const found = expression.matcher(searched(text));
      if (!found.find()) return null;
      return Array.from({ length: expression.groupCount() }, (_, i) => found.group(i + 1) ?? '');
    },
    groups: expression.groupCount(),
  };
}

function createLiteralTest(pattern: string, caseSensitive: boolean): LinearPattern['test'] {
  const literals = findLiterals(pattern);
  if (literals === null) return () => true;
  if (caseSensitive) return (text) => literals.some((literal) => text.includes(literal));
  const wanted = literals.map((literal) => literal.toLowerCase());
  return (text, folded = text.toLowerCase()) =>
    // The engine folds ſ to s; `toLowerCase` does not.
    folded.includes('ſ') || wanted.some((literal) => folded.includes(literal));
}

function compilePattern(pattern: string, caseSensitive: boolean): RE2JS {
  const cost = estimatePatternCost(pattern);
  if (cost > MAX_PATTERN_INSTRUCTIONS) throw createSizeError(cost);
  try {
    const expression = RE2JS.compile(pattern, caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE);
    const size = expression.programSize();
    if (size > MAX_PATTERN_INSTRUCTIONS) throw createSizeError(size);
    return expression;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    // The engine prefixes its case flag to the pattern.
    const problem = error.message.replace(`\`(?i)${pattern}\``, () => `\`${pattern}\``);
    const text = problem.replace(/^error parsing regexp: /, '');
    throw new InvalidPattern(
      /Perl syntax|escape sequence/.test(text)
        ? `Invalid regular expression: ${text}. Look-around and back-references are not supported`
        : `Invalid regular expression: ${text}`,
    );
  }
}

const createSizeError = (size: number): InvalidPattern =>
  new InvalidPattern(`Regular expression is too large: ${size} steps, at most ${MAX_PATTERN_INSTRUCTIONS}`);
