import { lineEndOf, notOneLine, splice, type Format } from './format.js';

const ASSIGNMENT = /[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=/y;
const PLAIN = /^[A-Za-z0-9_./:@%+,=-]*$/;
const TAME = /^[^"\\$`!]*$/;

interface Assignment {
  key: string;
  from: number;
  to: number;
  quote: string;
  value: string;
}

export const env: Format = {
  read: (text, key) => assignments(text).findLast((line) => line.key === key)?.value ?? null,

  write(text, key, value) {
    const found = assignments(text).findLast((line) => line.key === key);
    if (found !== undefined) return splice(text, found.from, found.to, encoded(String(value), found.quote));
    const eol = lineEndOf(text);
    const line = `${key}=${encoded(String(value), '')}`;
    if (text === '') return `${line}${eol}`;
    return /[\r\n]$/.test(text) ? `${text}${line}${eol}` : `${text}${eol}${line}`;
  },

  refusedKey: (key) =>
    /^[A-Za-z_][A-Za-z0-9_.-]*$/.test(key) ? null : 'must be a name of letters, digits and underscores',
  refusedValue: notOneLine,
};

function assignments(text: string): Assignment[] {
  const found: Assignment[] = [];
  for (let at = 0; at < text.length;) {
    ASSIGNMENT.lastIndex = at;
    const match = ASSIGNMENT.exec(text);
    if (match?.[1] === undefined) {
      at = lineAfter(text, at);
      continue;
    }
    const one = valueAt(text, ASSIGNMENT.lastIndex);
    found.push({ key: match[1], ...one });
    at = lineAfter(text, one.to);
  }
  return found;
}

function lineAfter(text: string, at: number): number {
  const end = endOfLine(text, at);
  return text.startsWith('\r\n', end) ? end + 2 : end + 1;
}

function endOfLine(text: string, at: number): number {
  for (let end = at; end < text.length; end++) if (text[end] === '\n' || text[end] === '\r') return end;
  return text.length;
}

/** An unclosed quote, or one followed by more than a comment, is a literal character. */
function valueAt(text: string, begin: number): Omit<Assignment, 'key'> {
  const line = text.slice(begin, endOfLine(text, begin));
  const from = begin + (/^[ \t]*/.exec(line)?.[0].length ?? 0);
  const quote = text[from] ?? '';
  if (quote === '"' || quote === "'" || quote === '`') {
    const close = closing(text, from, quote);
    if (close !== null && /^[ \t]*(#|$)/.test(text.slice(close + 1, endOfLine(text, close + 1)))) {
      const inside = text.slice(from + 1, close);
      return { from, to: close + 1, quote, value: quote === '"' ? inside.replace(/\\(["\\$`])/g, '$1') : inside };
    }
  }
  const value = line.slice(0, commentAt(line)).trim();
  // Shells require the value right after the sign.
  if (value === '') return { from: begin, to: begin, quote: '', value };
  return { from, to: from + value.length, quote: '', value };
}

/** Returns the offset of a comment in the text after the sign; its length without one. */
function commentAt(line: string): number {
  for (const { index } of line.matchAll(/#/g)) if (index === 0 || /[ \t]/.test(line.charAt(index - 1))) return index;
  return line.length;
}

function closing(text: string, from: number, quote: string): number | null {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\' && quote === '"') at++;
    else if (text[at] === quote) return at;
  }
  return null;
}

/** Keeps existing quotes if they can contain the value; adds none where no reader needs them. */
function encoded(value: string, before: string): string {
  if (before === '"' && TAME.test(value)) return `"${value}"`;
  if (before === "'" && !value.includes("'")) return `'${value}'`;
  if (before === '' && PLAIN.test(value)) return value;
  if (!value.includes("'")) return `'${value}'`;
  return TAME.test(value) ? `"${value}"` : `"${value.replace(/["\\$`]/g, '\\$&')}"`;
}
