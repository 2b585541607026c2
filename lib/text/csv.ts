/**
 * Escapes CSV cells that a spreadsheet would run as formulas: signs at the start, after blanks and
 * invisible characters, and after separators, since locales split at `;` or tabs even inside
 * quotes. Linear.
 */
import { INVISIBLE_CLASS } from './invisible-characters.js';

const EQUALS = '=\\uff1d\\ufe66\\u207c\\u208c';
const AT = '@\\uff20\\ufe6b';
const PLUS = '+\\uff0b\\ufe62\\u207a\\u208a';
const MINUS = '\\-\\uff0d\\ufe63\\u2212\\u207b\\u208b';
const SIGNS = `[${EQUALS}${AT}${PLUS}${MINUS}]`;
const BLANKS = `[\\s${INVISIBLE_CLASS}"']{0,100}`;
/** A signed number in a list is not a formula. */
const SIGNED_NUMBER = `[${PLUS}${MINUS}]\\d{1,40}(?:\\.\\d{1,40})?(?=[\\]},;|\\s]|$)`;

const FORMULA_START_PATTERN = new RegExp(`^(?:[\\t\\r\\n]|${BLANKS}${SIGNS})`, 'u');
const FORMULA_AFTER_SEPARATOR_PATTERN = new RegExp(`([,;|\\t\\r\\n]${BLANKS})(?!${SIGNED_NUMBER})(?=${SIGNS})`, 'gu');

/** Prefixes a sign with `'`, which makes it text. */
export function escapeFormula(text: string): string {
  const inside = text.replace(FORMULA_AFTER_SEPARATOR_PATTERN, "$1'");
  return FORMULA_START_PATTERN.test(inside) ? `'${inside}` : inside;
}

export type CsvValue = string | number | boolean | object | null;

/** Numbers and truth values stay as they are, so that a spreadsheet can calculate. */
export function formatCsvValue(value: CsvValue): string {
  if (value === null) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const safe = typeof value === 'number' || typeof value === 'boolean' ? text : escapeFormula(text);
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const formatCsvRows = (rows: readonly (readonly CsvValue[])[]): string =>
  rows.map((cells) => `${cells.map(formatCsvValue).join(',')}\r\n`).join('');

export const formatCsvTable = (names: readonly string[], rows: readonly (readonly CsvValue[])[]): string =>
  formatCsvRows([names, ...rows]);

/** Formats one row per record, by the names of its fields. */
export const formatCsvRecords = <K extends string>(
  names: readonly K[],
  records: readonly Readonly<Record<K, CsvValue>>[],
): string =>
  formatCsvTable(
    names,
    records.map((record) => names.map((name) => record[name])),
  );

/** Rows of one export, so that a long list cannot exhaust the memory. */
const MAX_CSV_ROWS = 100_000;

export interface CsvPage<T> {
  items: readonly T[];
  /** Cursor; null after the last page. */
  next: string | null;
}

/** Formats a list as CSV, one page at a time, so that the event loop is not blocked. */
export async function formatCsvPages<T>(
  columns: readonly string[],
  loadPage: (after: string | null) => Promise<CsvPage<T>>,
  toCells: (item: T) => readonly CsvValue[] | Promise<readonly CsvValue[]>,
  maxRows = MAX_CSV_ROWS,
): Promise<string> {
  const parts = [formatCsvRows([columns])];
  let after: string | null = null;
  let count = 0;
  do {
    const page: CsvPage<T> = await loadPage(after);
    const rows: (readonly CsvValue[])[] = [];
    for (const item of page.items.slice(0, maxRows - count)) rows.push(await toCells(item));
    parts.push(formatCsvRows(rows));
    count += rows.length;
    after = page.next;
  } while (after !== null && count < maxRows);
  return parts.join('');
}

/** RFC 4180. */
function splitCsvLines(text: string, separator: string): string[][] {
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

/** Rows become objects, so a long header would multiply the work. */
const MAX_COLUMNS = 1_000;

/** Names and separator (comma or semicolon) come from the header. */
export function parseCsv(text: string): Record<string, string>[] {
  const [head = ''] = text.split('\n', 1);
  const separator = head.split(';').length > head.split(',').length ? ';' : ',';
  const [names = [], ...rows] = splitCsvLines(text.replace(/^\ufeff/, ''), separator);
  if (names.length > MAX_COLUMNS) return [];
  return rows.map((cells) => Object.fromEntries(names.map((name, at) => [name.trim(), cells[at] ?? ''])));
}
