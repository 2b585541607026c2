import { getLineEnd, getSingleLineFault, spliceText, type SettingsFormat } from './format.js';

const ASSIGNMENT_PATTERN = /[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=/y;
const PLAIN_VALUE_PATTERN = /^[A-Za-z0-9_./:@%+,=-]*$/;
const QUOTABLE_VALUE_PATTERN = /^[^"\\$`!]*$/;

interface Assignment {
  key: string;
  from: number;
  to: number;
  quote: string;
  value: string;
}

export const envFormat: SettingsFormat = {
  read: (text, key) => parseAssignments(text).findLast((line) => line.key === key)?.value ?? null,

  write(text, key, value) {
    const found = parseAssignments(text).findLast((line) => line.key === key);
    if (found !== undefined) return spliceText(text, found.from, found.to, encodeValue(String(value), found.quote));
    const eol = getLineEnd(text);
    const line = `${key}=${encodeValue(String(value), '')}`;
    if (text === '') return `${line}${eol}`;
    return /[\r\n]$/.test(text) ? `${text}${line}${eol}` : `${text}${eol}${line}`;
  },

  refusedKey: (key) =>
    /^[A-Za-z_][A-Za-z0-9_.-]*$/.test(key) ? null : 'must be a name of letters, digits and underscores',
  refusedValue: getSingleLineFault,
};

function parseAssignments(text: string): Assignment[] {
  const found: Assignment[] = [];
  for (let at = 0; at < text.length;) {
    ASSIGNMENT_PATTERN.lastIndex = at;
    const match = ASSIGNMENT_PATTERN.exec(text);
    if (match?.[1] === undefined) {
      at = findNextLine(text, at);
      continue;
    }
    const one = parseValue(text, ASSIGNMENT_PATTERN.lastIndex);
    found.push({ key: match[1], ...one });
    at = findNextLine(text, one.to);
  }
  return found;
}

function findNextLine(text: string, at: number): number {
  const end = findLineEnd(text, at);
  return text.startsWith('\r\n', end) ? end + 2 : end + 1;
}

function findLineEnd(text: string, at: number): number {
  for (let end = at; end < text.length; end++) if (text[end] === '\n' || text[end] === '\r') return end;
  return text.length;
}

/** An unclosed quote, or one followed by more than a comment, is a literal character. */
function parseValue(text: string, begin: number): Omit<Assignment, 'key'> {
  const line = text.slice(begin, findLineEnd(text, begin));
  const from = begin + (/^[ \t]*/.exec(line)?.[0].length ?? 0);
  const quote = text[from] ?? '';
  if (quote === '"' || quote === "'" || quote === '`') {
    const close = findClosingQuote(text, from, quote);
    if (close !== null && /^[ \t]*(#|$)/.test(text.slice(close + 1, findLineEnd(text, close + 1)))) {
      const inside = text.slice(from + 1, close);
      return { from, to: close + 1, quote, value: quote === '"' ? inside.replace(/\\(["\\$`])/g, '$1') : inside };
    }
  }
  const value = line.slice(0, findComment(line)).trim();
  // Shells require the value right after the sign.
  if (value === '') return { from: begin, to: begin, quote: '', value };
  return { from, to: from + value.length, quote: '', value };
}

/** Returns the offset of a comment in the text after the sign; its length without one. */
function findComment(line: string): number {
  for (const { index } of line.matchAll(/#/g)) if (index === 0 || /[ \t]/.test(line.charAt(index - 1))) return index;
  return line.length;
}

function findClosingQuote(text: string, from: number, quote: string): number | null {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\' && quote === '"') at++;
    else if (text[at] === quote) return at;
  }
  return null;
}

/** Keeps existing quotes if they can contain the value; adds none where no reader needs them. */
function encodeValue(value: string, before: string): string {
  if (before === '"' && QUOTABLE_VALUE_PATTERN.test(value)) return `"${value}"`;
  if (before === "'" && !value.includes("'")) return `'${value}'`;
  if (before === '' && PLAIN_VALUE_PATTERN.test(value)) return value;
  if (!value.includes("'")) return `'${value}'`;
  return QUOTABLE_VALUE_PATTERN.test(value) ? `"${value}"` : `"${value.replace(/["\\$`]/g, '\\$&')}"`;
}
