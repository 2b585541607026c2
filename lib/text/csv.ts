/**
 * Text for a cell of CSV that a spreadsheet must not run as a formula. Pure, linear.
 *
 * A sign of a formula counts at the beginning of the cell, behind blanks and what is not seen, and behind a separator:
 * a spreadsheet of another language divides the line at `;` or a tab, whatever the quotes say. Full-width, small and
 * raised forms of a sign are signs to spreadsheets of some languages.
 */
import { UNSEEN } from '../unseen.js';

const EQUALS = '=\\uff1d\\ufe66\\u207c\\u208c';
const AT = '@\\uff20\\ufe6b';
const PLUS = '+\\uff0b\\ufe62\\u207a\\u208a';
const MINUS = '\\-\\uff0d\\ufe63\\u2212\\u207b\\u208b';
const SIGNS = `[${EQUALS}${AT}${PLUS}${MINUS}]`;
const BLANKS = `[\\s${UNSEEN}"']{0,100}`;
/** A list of numbers holds signs that are none of a formula. */
const NUMBER = `[${PLUS}${MINUS}]\\d{1,40}(?:\\.\\d{1,40})?(?=[\\]},;|\\s]|$)`;

const BEGINS = new RegExp(`^(?:[\\t\\r\\n]|${BLANKS}${SIGNS})`, 'u');
const AFTER_SEPARATOR = new RegExp(`([,;|\\t\\r\\n]${BLANKS})(?!${NUMBER})(?=${SIGNS})`, 'gu');

/** A `'` before a sign makes it text. */
export function escapeFormula(text: string): string {
  const inside = text.replace(AFTER_SEPARATOR, "$1'");
  return BEGINS.test(inside) ? `'${inside}` : inside;
}

/** Cells of each line (RFC 4180). Quoted cells may hold line breaks. */
function csvLines(text: string, separator: string): string[][] {
  const lines: string[][] = [];
  let line: string[] = [];
  let cell = '';
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (quoted && char === '"' && text.charAt(at + 1) === '"') cell += text.charAt(at++);
    else if (char === '"' && (quoted || cell === '')) quoted = !quoted;
    else if (!quoted && (char === separator || char === '\n')) {
      line.push(cell.replace(/\r$/, ''));
      cell = '';
      if (char === '\n') lines.push(line);
      if (char === '\n') line = [];
    } else cell += char;
  }
  line.push(cell);
  return [...lines, line].filter((cells) => cells.some((one) => one.trim() !== ''));
}

/** Each row becomes an object of as many fields: a long first line would multiply the work. */
const MAX_COLUMNS = 1_000;

/**
 * Rows of a CSV file by the names in its first line, which also shows whether it separates by comma or semicolon. None
 * where it has too many names.
 */
export function parseCsv(text: string): Record<string, string>[] {
  const [head = ''] = text.split('\n', 1);
  const separator = head.split(';').length > head.split(',').length ? ';' : ',';
  const [names = [], ...rows] = csvLines(text.replace(/^\ufeff/, ''), separator);
  if (names.length > MAX_COLUMNS) return [];
  return rows.map((cells) => Object.fromEntries(names.map((name, at) => [name.trim(), cells[at] ?? ''])));
}
