/**
 * Masks quoted values with a digit or placeholder (contract 21, masked). The apostrophe of "can't"
 * neither opens nor closes. One regular expression per kind of quote would be quadratic.
 */

const CLOSING_QUOTES: Readonly<Record<string, string>> = {
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
const VARIABLE_PART =
  /\d|<(?:guid|time|address|line|email|ip|mac|duration|size|share|id|number|value|temporary|build|version|pod|user)>/;
const WORD = /[\p{L}\p{N}_]/u;
const LITERAL_PREFIX = /[ubrfNL]/i;

export function maskQuoted(text: string): string {
  if (!QUOTE.test(text) || !VARIABLE_PART.test(text)) return text;
  return text.includes('\n') ? text.split('\n').map(maskLine).join('\n') : maskLine(text);
}

function maskLine(line: string): string {
  let masked = '';
  let done = 0;
  let exhausted = '';
  for (let at = 0; at < line.length; at++) {
    const quote = line.charAt(at);
    const partners = CLOSING_QUOTES[quote];
    if (partners === undefined || exhausted.includes(quote) || !isOpeningQuote(line, at)) continue;
    const close = findClosingQuote(line, at + 1, partners);
    if (close < 0) {
      exhausted += quote;
      continue;
    }
    if (VARIABLE_PART.test(line.slice(at + 1, close))) {
      masked += `${line.slice(done, at + 1)}<value>`;
      done = close;
    }
    at = close;
  }
  return masked + line.slice(done);
}

const isWord = (line: string, at: number): boolean => at >= 0 && at < line.length && WORD.test(line.charAt(at));

function isOpeningQuote(line: string, at: number): boolean {
  if (!isWord(line, at - 1)) return true;
  return LITERAL_PREFIX.test(line.charAt(at - 1)) && !isWord(line, at - 2);
}

/** Escaped quotes close only as a last resort: a path may end in a backslash. */
function findClosingQuote(line: string, from: number, partners: string): number {
  let escaped = -1;
  for (let at = from; at < line.length; at++) {
    if (!partners.includes(line.charAt(at)) || isWord(line, at + 1)) continue;
    if (line.charAt(at - 1) !== '\\' || at === from) return at;
    if (escaped < 0) escaped = at;
  }
  return escaped;
}
