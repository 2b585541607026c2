/**
 * Texts of which every match of an expression holds one: `Duplicate entry` of `Duplicate entry '.*'`. Looking for them first
 * takes a microsecond where the expression takes a hundred, and nearly no report matches nearly any rule. Pure.
 *
 * Only what certainly must be there counts: plain ASCII outside of groups and classes, without the character that a
 * repetition makes optional. What is not understood ends a text; flags and `\Q` give up.
 */
import { CLASS, ESCAPE, REPEAT, at } from './pattern-cost.js';

/** Shorter ones are everywhere. */
const SHORTEST = 3;
const GIVE_UP = /\(\?(?!:|P?<)|\\Q/;
const PLAIN = /[\x20-\x7e]/;

/** One for each of the expression's alternatives; null where one of them has none. */
export function literalsOf(pattern: string): string[] | null {
  if (GIVE_UP.test(pattern)) return null;
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
    const whole = char === '\\' ? at(ESCAPE, pattern, i) : char === '[' ? at(CLASS, pattern, i) : null;
    const repeat = char === '{' ? at(REPEAT, pattern, i) : null;
    const escaped = whole !== null && /^\\[^\w\s]$/.test(whole[0]) ? (whole[0][1] as string) : null;
    if (escaped !== null) run += escaped;
    else if (repeat !== null || char === '*' || char === '?') {
      run = run.slice(0, -1);
      end();
    } else if (char === '|' && depth === 0) {
      end();
      found.push(best);
      best = '';
    } else if (whole === null && PLAIN.test(char) && !'()|.^$+{}]'.includes(char)) run += char;
    else end();
    if (char === '(') depth += 1;
    if (char === ')') depth -= 1;
    if (depth > 0) run = '';
    i += whole?.[0].length ?? repeat?.[0].length ?? 1;
  }
  end();
  found.push(best);
  return found.every((text) => text.length >= SHORTEST) ? found : null;
}
