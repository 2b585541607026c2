/**
 * Masks quoted values that contain a digit or a placeholder (contract 21, masked). A quote opens
 * where no word ends and closes where none starts, so the apostrophe of "can't" does neither. One
 * regular expression per kind of quote was rejected as quadratic.
 */

const PARTNERS: Readonly<Record<string, string>> = {
  "'": "'",
  '"': '"',
  '`': "`'",
  '“': '”“',
  '”': '”',
  '„': '“”',
  '‘': '’',
  '‚': '‘’',
  '«': '»',
  '»': '«',
  '‹': '›',
};
const QUOTE = /['"`“”„‘‚«»‹]/;
const VARIABLE =
  /\d|<(?:guid|time|address|line|email|ip|mac|duration|size|share|id|number|value|temporary|build|version|pod|user)>/;
const WORD = /[\p{L}\p{N}_]/u;
const PREFIX = /[ubrfNL]/i;

export function maskQuoted(text: string): string {
  if (!QUOTE.test(text) || !VARIABLE.test(text)) return text;
  return text.includes('\n') ? text.split('\n').map(maskLine).join('\n') : maskLine(text);
}

function maskLine(line: string): string {
  let masked = '';
  let done = 0;
  let exhausted = '';
  for (let at = 0; at < line.length; at++) {
    const quote = line.charAt(at);
    const partners = PARTNERS[quote];
    if (partners === undefined || exhausted.includes(quote) || !opens(line, at)) continue;
    const close = closing(line, at + 1, partners);
    if (close < 0) {
      exhausted += quote;
      continue;
    }
    if (VARIABLE.test(line.slice(at + 1, close))) {
      masked += `${line.slice(done, at + 1)}<value>`;
      done = close;
    }
    at = close;
  }
  return masked + line.slice(done);
}

const isWord = (line: string, at: number): boolean => at >= 0 && at < line.length && WORD.test(line.charAt(at));

function opens(line: string, at: number): boolean {
  if (!isWord(line, at - 1)) return true;
  return PREFIX.test(line.charAt(at - 1)) && !isWord(line, at - 2);
}

/** An escaped quote closes only if no other does: a path may end in a backslash. */
function closing(line: string, from: number, partners: string): number {
  let escaped = -1;
  for (let at = from; at < line.length; at++) {
    if (!partners.includes(line.charAt(at)) || isWord(line, at + 1)) continue;
    if (line.charAt(at - 1) !== '\\' || at === from) return at;
    if (escaped < 0) escaped = at;
  }
  return escaped;
}
