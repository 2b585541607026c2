/**
 * Finds literals of which one is part of every match: `Duplicate entry` for `Duplicate entry '.*'`.
 * A literal is mandatory ASCII text outside groups and classes; flags or `\Q` disable literals.
 */
import { CLASS_PATTERN, ESCAPE_PATTERN, REPEAT_PATTERN, matchAt } from './pattern-cost.js';

/** Shorter literals occur in most texts. */
const MIN_LITERAL_LENGTH = 3;
const UNSUPPORTED_PATTERN = /\(\?(?!:|P?<)|\\Q/;
const PLAIN_CHARACTER_PATTERN = /[\x20-\x7e]/;

/** Returns one literal per alternative, or null when one has none. */
export function findLiterals(pattern: string): string[] | null {
  if (UNSUPPORTED_PATTERN.test(pattern)) return null;
  const found: string[] = [];
  let best = '';
  let run = '';
  let depth = 0;
  const end = (): void => {
    if (run.length > best.length) best = run;
    run = '';
  };
  for (let i = 0; i < pattern.length;) {
    const char = pattern[i] as string;
    const whole =
      char === '\\' ? matchAt(ESCAPE_PATTERN, pattern, i) : char === '[' ? matchAt(CLASS_PATTERN, pattern, i) : null;
    const repeat = char === '{' ? matchAt(REPEAT_PATTERN, pattern, i) : null;
    const escaped = whole !== null && /^\\[^\w\s]$/.test(whole[0]) ? (whole[0][1] as string) : null;
    if (escaped !== null) run += escaped;
    else if (repeat !== null || char === '*' || char === '?') {
      run = run.slice(0, -1);
      end();
    } else if (char === '|' && depth === 0) {
      end();
      found.push(best);
      best = '';
    } else if (whole === null && PLAIN_CHARACTER_PATTERN.test(char) && !'()|.^$+{}]'.includes(char)) run += char;
    else end();
    if (char === '(') depth += 1;
    if (char === ')') depth -= 1;
    if (depth > 0) run = '';
    i += whole?.[0].length ?? repeat?.[0].length ?? 1;
  }
  end();
  found.push(best);
  return found.every((text) => text.length >= MIN_LITERAL_LENGTH) ? found : null;
}
