/**
 * INI files: `section:key`, or `key` before the first section. Names match case-insensitively when
 * no exact spelling exists. Comments start with `;` or `#` at a line's start or after a blank.
 */
import { FormatError, getLineEnd, getSingleLineFault, spliceText, type SettingsFormat } from './format.js';

const SECTION_PATTERN = /^[ \t]*\[([^\]\r\n]*)\][ \t]*(?:[;#].*)?$/;
const BLANKS_PATTERN = /^[ \t]*/;

interface Line {
  from: number;
  text: string;
}

interface Entry {
  section: string;
  key: string;
  line: Line;
  indent: string;
  delimiter: string;
  from: number;
  to: number;
  /** Blanks required before a value when there are none yet. */
  lead: string;
  quote: string;
  value: string;
  continued: boolean;
  end: number;
}

interface Section {
  name: string;
  end: number;
}

export const iniFormat: SettingsFormat = {
  read: (text, key) => findEntry(parseIni(text).entries, ...splitKey(key))?.value ?? null,

  write(text, key, value) {
    const [section, name] = splitKey(key);
    const { entries, sections } = parseIni(text);
    const found = findEntry(entries, section, name);
    if (found === undefined) return insertEntry(text, section, name, String(value), entries, sections);
    if (found.continued) throw new FormatError(`has ${key} on multiple lines`);
    const quote = String(value).includes(found.quote) ? '' : found.quote;
    const lead = found.value === '' && found.quote === '' ? found.lead || detectLead(entries) : '';
    return spliceText(text, found.from, found.to, `${lead}${quote}${String(value)}${quote}`);
  },

  refusedKey(key) {
    const [section, name] = splitKey(key);
    if (/[\]\p{Cc}]/u.test(section) || section !== section.trim()) return 'has an invalid section name';
    return /^[^=:;#[\s\p{Cc}](?:[^=:\p{Cc}]*[^=:\s\p{Cc}])?$/u.test(name)
      ? null
      : 'must be section:key, without =, brackets and leading or trailing spaces';
  },

  refusedValue(value) {
    if (typeof value !== 'string') return null;
    if (value !== value.trim()) return 'must not start or end with a space: INI files do not preserve it';
    if (findComment(value) < value.length)
      return 'must not start with ; or #, or have one after a space: INI files treat it as a comment';
    return getSingleLineFault(value);
  },
};

function splitKey(key: string): [section: string, name: string] {
  const at = key.lastIndexOf(':');
  return at < 0 ? ['', key] : [key.slice(0, at), key.slice(at + 1)];
}

/** The last one counts. */
function findEntry(entries: readonly Entry[], section: string, key: string): Entry | undefined {
  const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
  return (
    entries.findLast((entry) => entry.section === section && entry.key === key) ??
    entries.findLast((entry) => same(entry.section, section) && same(entry.key, key))
  );
}

function parseIni(text: string): { entries: Entry[]; sections: Section[] } {
  const entries: Entry[] = [];
  const sections: Section[] = [];
  let section = '';
  for (const line of splitLines(text)) {
    if (/^[ \t]*([;#].*)?$/.test(line.text)) continue;
    const last = entries.at(-1);
    const heading = SECTION_PATTERN.exec(line.text);
    if (heading?.[1] !== undefined) {
      section = heading[1].trim();
      sections.push({ name: section, end: line.from + line.text.length });
      continue;
    }
    if (
      last?.section === section &&
      getIndent(line.text) > last.indent.length &&
      last.end > (sections.at(-1)?.end ?? -1)
    ) {
      last.continued = true;
      last.end = line.from + line.text.length;
      continue;
    }
    const entry = parseEntry(line, section);
    if (entry !== null) entries.push(entry);
  }
  return { entries, sections };
}

const getIndent = (text: string): number => BLANKS_PATTERN.exec(text)?.[0].length ?? 0;

function parseEntry(line: Line, section: string): Entry | null {
  const at = line.text.search(/[=:]/);
  const key = line.text.slice(0, at).trim();
  if (at < 0 || key === '') return null; // A key without a value, as in some dialects.
  const blanks = BLANKS_PATTERN.exec(line.text.slice(at + 1))?.[0] ?? '';
  const rest = line.text.slice(at + 1 + blanks.length);
  const raw = rest.slice(0, findComment(rest)).trimEnd();
  const quote = raw.length > 1 && /^["']/.test(raw) && raw.endsWith(raw.charAt(0)) ? raw.charAt(0) : '';
  const begin = line.from + at + 1;
  const end = line.from + line.text.length;
  const valueRange =
    raw === ''
      ? { from: begin, to: rest === '' ? end : begin }
      : { from: begin + blanks.length, to: begin + blanks.length + raw.length };
  return {
    section,
    key,
    line,
    indent: BLANKS_PATTERN.exec(line.text)?.[0] ?? '',
    delimiter: line.text.slice(line.text.slice(0, at).trimEnd().length, at + 1) + blanks,
    ...valueRange,
    lead: blanks,
    quote,
    value: quote === '' ? raw : raw.slice(1, -1),
    continued: false,
    end,
  };
}

/** Returns the offset of a comment after the delimiter; its length without one. */
function findComment(text: string): number {
  for (const { index } of text.matchAll(/[;#]/g)) {
    if (index === 0) return 0;
    if (/[ \t]/.test(text.charAt(index - 1))) return index;
  }
  return text.length;
}

function splitLines(text: string): Line[] {
  const lines: Line[] = [];
  let from = 0;
  for (const end of text.matchAll(/\r\n|\n|\r/g)) {
    lines.push({ from, text: text.slice(from, end.index) });
    from = end.index + end[0].length;
  }
  lines.push({ from, text: text.slice(from) });
  return lines;
}

const detectLead = (entries: readonly Entry[]): string => entries.find(({ value }) => value !== '')?.lead ?? '';

/** A new section goes last. */
function insertEntry(
  text: string,
  section: string,
  name: string,
  value: string,
  entries: readonly Entry[],
  sections: readonly Section[],
): string {
  const eol = getLineEnd(text);
  const like = (one: string, other: string): boolean => one === other || one.toLowerCase() === other.toLowerCase();
  const sibling = entries.findLast((entry) => like(entry.section, section));
  const model = sibling ?? entries.at(-1);
  const line = `${sibling?.indent ?? ''}${name}${model?.delimiter ?? '='}${value}`;
  if (sibling !== undefined) return spliceText(text, sibling.end, sibling.end, `${eol}${line}`);
  const heading = sections.findLast((one) => like(one.name, section));
  if (heading !== undefined) return spliceText(text, heading.end, heading.end, `${eol}${line}`);
  if (section === '') return `${line}${eol}${text}`;
  const block = `[${section}]${eol}${line}`;
  if (text === '') return `${block}${eol}`;
  return /[\r\n]$/.test(text) ? `${text}${eol}${block}${eol}` : `${text}${eol}${eol}${block}`;
}
