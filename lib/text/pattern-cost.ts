/**
 * Estimates an upper bound of an expression's size with repetitions expanded, before compiling:
 * `(ab){50}` costs two hundred.
 */

/** Escapes, whose braces (`\p{…}`, `\x{…}`) do not repeat. */
export const ESCAPE_PATTERN = /\\(?:[pPx]\{[^}]*\}|Q[\s\S]*?(?:\\E|$)|[\s\S]|$)/y;
export const CLASS_PATTERN = /\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*(?:\]|$)/y;
export const REPEAT_PATTERN = /\{(\d{1,6})(?:,(\d{0,6}))?\}/y;

export function estimatePatternCost(pattern: string): number {
  const open: number[] = [];
  let sum = 0;
  let last = 0;
  const atom = (cost: number): void => {
    sum += cost;
    last = cost;
  };
  for (let i = 0; i < pattern.length;) {
    const char = pattern[i];
    const whole =
      char === '\\' ? matchAt(ESCAPE_PATTERN, pattern, i) : char === '[' ? matchAt(CLASS_PATTERN, pattern, i) : null;
    const repeat = char === '{' ? matchAt(REPEAT_PATTERN, pattern, i) : null;
    if (whole !== null) atom(whole[0].startsWith('\\Q') ? whole[0].length : 1);
    else if (repeat !== null) {
      const least = Number(repeat[1]);
      const most = repeat[2] === undefined ? least : repeat[2] === '' ? least + 1 : Number(repeat[2]);
      const times = Math.max(least, most, 1);
      sum += last * (times - 1);
      last *= times;
    } else if (char === '(') {
      open.push(sum);
      sum = 1;
    } else if (char === ')' && open.length > 0) {
      const inner = sum;
      sum = open.pop() ?? 0;
      atom(inner + 1);
    } else if (char === '*' || char === '+' || char === '?') {
      sum += 1;
      last += 1;
    } else atom(1);
    i += whole?.[0].length ?? repeat?.[0].length ?? 1;
  }
  return open.reduce((all, part) => all + part, sum);
}

/** Matches a sticky expression at an index. */
export function matchAt(sticky: RegExp, text: string, index: number): RegExpExecArray | null {
  sticky.lastIndex = index;
  return sticky.exec(text);
}
