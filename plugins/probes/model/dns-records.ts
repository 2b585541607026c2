/**
 * Comparison of DNS records by meaning: names ignore case and the final dot, addresses their
 * spelling, and a record may be expected by a part of its fields.
 */
import type { RecordType } from '../../../ports/reach.js';

const QUOTED = /"((?:[^"\\]|\\.)*)"/g;

function toName(text: string): string {
  const bare = text.trim().replace(/\.$/, '').toLowerCase();
  const isAscii = /^[\x20-\x7e]*$/.test(bare);
  return isAscii || !URL.canParse(`http://${bare}/`) ? bare : new URL(`http://${bare}/`).hostname;
}

function toAddress(text: string): string {
  const url = `http://[${text.trim()}]/`;
  return text.includes(':') && URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : text.trim();
}

function toText(text: string): string {
  const trimmed = text.trim();
  if (!/^"[^]*"$/.test(trimmed)) return text;
  return [...trimmed.matchAll(QUOTED)].map(([, part = '']) => part.replaceAll(/\\(.)/g, '$1')).join('');
}

const words = (text: string): string[] => text.trim().split(/\s+/);
const numbers = (texts: readonly string[]): string[] =>
  texts.map((one) => (/^\d+$/.test(one) ? String(Number(one)) : one));

const toNumberedName = (text: string): string => {
  const parts = words(text);
  return [...numbers(parts.slice(0, -1)), toName(parts.at(-1) ?? '')].join(' ');
};

const toAuthority = (text: string): string => {
  const [server = '', mailbox = '', ...rest] = words(text);
  return [toName(server), toName(mailbox), ...numbers(rest)].join(' ');
};

function toAuthorization(text: string): string {
  const [flags = '', tag = '', ...value] = words(text);
  return [...numbers([flags]), tag.toLowerCase(), toName(toText(value.join(' ')))].join(' ');
}

interface Form {
  write: (text: string) => string;
  shorter?: (written: string) => string[];
}

const NAME: Form = { write: toName };
const ADDRESS: Form = { write: toAddress };

const FORMS: Readonly<Record<Exclude<RecordType, 'TXT'>, Form>> = {
  A: ADDRESS,
  AAAA: ADDRESS,
  CNAME: NAME,
  NS: NAME,
  PTR: NAME,
  MX: { write: toNumberedName, shorter: (written) => words(written).slice(-1) },
  SRV: {
    write: toNumberedName,
    shorter: (written) => {
      const [, , port = '', name = ''] = words(written);
      return [name, `${port} ${name}`, `${name}:${port}`];
    },
  },
  SOA: { write: toAuthority, shorter: (written) => words(written).slice(0, 1) },
  CAA: {
    write: toAuthorization,
    shorter: (written) => {
      const [, tag = '', ...value] = words(written);
      return [`${tag} ${value.join(' ')}`, value.join(' ')];
    },
  },
};

function hasRecord(type: Exclude<RecordType, 'TXT'>, records: readonly string[], expected: string): boolean {
  const { write, shorter = () => [] } = FORMS[type];
  const wanted = new Set([write(expected), toName(expected), toName(toText(expected)), parseTagged(expected)]);
  return records.some((record) => [write(record), ...shorter(write(record))].some((form) => wanted.has(form)));
}

function parseTagged(text: string): string {
  const [tag = '', ...value] = words(text);
  return `${tag.toLowerCase()} ${toName(toText(value.join(' ')))}`;
}

/**
 * Whether each of the comma-separated expected records exists, in any order. A text record only
 * needs to contain the expected text.
 */
export function matchRecords(type: RecordType, records: readonly string[], expected: string): boolean {
  if (type === 'TXT') return records.some((record) => record.includes(toText(expected)));
  const all = expected.split(',').filter((one) => one.trim() !== '');
  return all.length > 0 && all.every((one) => hasRecord(type, records, one));
}
