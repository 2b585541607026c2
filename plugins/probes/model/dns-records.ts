/**
 * By meaning: names ignore case and the final dot, addresses their spelling; a part of the fields
 * suffices.
 */
import type { RecordType } from '../../../ports/network-probe.js';

const QUOTED_PATTERN = /"((?:[^"\\]|\\.)*)"/g;

function normalizeName(text: string): string {
  const bare = text.trim().replace(/\.$/, '').toLowerCase();
  const isAscii = /^[\x20-\x7e]*$/.test(bare);
  return isAscii || !URL.canParse(`http://${bare}/`) ? bare : new URL(`http://${bare}/`).hostname;
}

function normalizeAddress(text: string): string {
  const url = `http://[${text.trim()}]/`;
  return text.includes(':') && URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : text.trim();
}

function joinQuotedText(text: string): string {
  const trimmed = text.trim();
  if (!/^"[^]*"$/.test(trimmed)) return text;
  return [...trimmed.matchAll(QUOTED_PATTERN)].map(([, part = '']) => part.replaceAll(/\\(.)/g, '$1')).join('');
}

const splitWords = (text: string): string[] => text.trim().split(/\s+/);
const normalizeNumbers = (texts: readonly string[]): string[] =>
  texts.map((one) => (/^\d+$/.test(one) ? String(Number(one)) : one));

const normalizeNumberedName = (text: string): string => {
  const parts = splitWords(text);
  return [...normalizeNumbers(parts.slice(0, -1)), normalizeName(parts.at(-1) ?? '')].join(' ');
};

const normalizeSoa = (text: string): string => {
  const [server = '', mailbox = '', ...rest] = splitWords(text);
  return [normalizeName(server), normalizeName(mailbox), ...normalizeNumbers(rest)].join(' ');
};

function normalizeCaa(text: string): string {
  const [flags = '', tag = '', ...value] = splitWords(text);
  return [...normalizeNumbers([flags]), tag.toLowerCase(), normalizeName(joinQuotedText(value.join(' ')))].join(' ');
}

interface RecordFormat {
  write: (text: string) => string;
  shorter?: (written: string) => string[];
}

const NAME_FORMAT: RecordFormat = { write: normalizeName };
const ADDRESS_FORMAT: RecordFormat = { write: normalizeAddress };

const RECORD_FORMATS: Readonly<Record<Exclude<RecordType, 'TXT'>, RecordFormat>> = {
  A: ADDRESS_FORMAT,
  AAAA: ADDRESS_FORMAT,
  CNAME: NAME_FORMAT,
  NS: NAME_FORMAT,
  PTR: NAME_FORMAT,
  MX: { write: normalizeNumberedName, shorter: (written) => splitWords(written).slice(-1) },
  SRV: {
    write: normalizeNumberedName,
    shorter: (written) => {
      const [, , port = '', name = ''] = splitWords(written);
      return [name, `${port} ${name}`, `${name}:${port}`];
    },
  },
  SOA: { write: normalizeSoa, shorter: (written) => splitWords(written).slice(0, 1) },
  CAA: {
    write: normalizeCaa,
    shorter: (written) => {
      const [, tag = '', ...value] = splitWords(written);
      return [`${tag} ${value.join(' ')}`, value.join(' ')];
    },
  },
};

function hasRecord(type: Exclude<RecordType, 'TXT'>, records: readonly string[], expected: string): boolean {
  const { write, shorter = () => [] } = RECORD_FORMATS[type];
  const wanted = new Set([
    write(expected),
    normalizeName(expected),
    normalizeName(joinQuotedText(expected)),
    normalizeTaggedValue(expected),
  ]);
  return records.some((record) => [write(record), ...shorter(write(record))].some((form) => wanted.has(form)));
}

function normalizeTaggedValue(text: string): string {
  const [tag = '', ...value] = splitWords(text);
  return `${tag.toLowerCase()} ${normalizeName(joinQuotedText(value.join(' ')))}`;
}

/** A text record only needs to contain the expected text; any order. */
export function matchRecords(type: RecordType, records: readonly string[], expected: string): boolean {
  if (type === 'TXT') return records.some((record) => record.includes(joinQuotedText(expected)));
  const all = expected.split(',').filter((one) => one.trim() !== '');
  return all.length > 0 && all.every((one) => hasRecord(type, records, one));
}
