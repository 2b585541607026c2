/**
 * Compares DNS records by meaning: names without case and final dot, addresses in any spelling, and records by the
 * parts that the expected record names. Pure.
 */
import type { RecordType } from '../../../ports/reach.js';

const QUOTED = /"((?:[^"\\]|\\.)*)"/g;

/** A name in the letters of DNS, without case and final dot. */
function toName(text: string): string {
  const bare = text.trim().replace(/\.$/, '').toLowerCase();
  const isAscii = /^[\x20-\x7e]*$/.test(bare);
  return isAscii || !URL.canParse(`http://${bare}/`) ? bare : new URL(`http://${bare}/`).hostname;
}

/** IPv6 in its short form. */
function toAddress(text: string): string {
  const url = `http://[${text.trim()}]/`;
  return text.includes(':') && URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : text.trim();
}

/** The text of a record, of which a zone file quotes the parts: `"first " "second"`. */
function toText(text: string): string {
  const trimmed = text.trim();
  if (!/^"[^]*"$/.test(trimmed)) return text;
  return [...trimmed.matchAll(QUOTED)].map(([, part = '']) => part.replaceAll(/\\(.)/g, '$1')).join('');
}

const words = (text: string): string[] => text.trim().split(/\s+/);
const numbers = (texts: readonly string[]): string[] =>
  texts.map((one) => (/^\d+$/.test(one) ? String(Number(one)) : one));

/** All that stands before the last word are numbers: `10 mail.example.org`, `1 2 5060 sip.example.org`. */
const toNumberedName = (text: string): string => {
  const parts = words(text);
  return [...numbers(parts.slice(0, -1)), toName(parts.at(-1) ?? '')].join(' ');
};

/** `ns.example.org hostmaster.example.org 1 2 3 4 5` */
const toAuthority = (text: string): string => {
  const [server = '', mailbox = '', ...rest] = words(text);
  return [toName(server), toName(mailbox), ...numbers(rest)].join(' ');
};

/** `0 issue letsencrypt.org`, with the tag in lower case and the value without quotes. */
function toAuthorization(text: string): string {
  const [flags = '', tag = '', ...value] = words(text);
  return [...numbers([flags]), tag.toLowerCase(), toName(toText(value.join(' ')))].join(' ');
}

/** How records of a type are written, and in what shorter ways they may be expected. */
interface Form {
  write: (text: string) => string;
  /** Of a written record; the record itself is always one. */
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

/** Whether what is expected is one of the records. */
function hasRecord(type: Exclude<RecordType, 'TXT'>, records: readonly string[], expected: string): boolean {
  const { write, shorter = () => [] } = FORMS[type];
  // What is expected may be a shorter form, which is read as a whole record or as a name, with or without quotes.
  const wanted = new Set([write(expected), toName(expected), toName(toText(expected)), parseTagged(expected)]);
  return records.some((record) => [write(record), ...shorter(write(record))].some((form) => wanted.has(form)));
}

/** `issue "letsencrypt.org"` as its record has it. */
function parseTagged(text: string): string {
  const [tag = '', ...value] = words(text);
  return `${tag.toLowerCase()} ${toName(toText(value.join(' ')))}`;
}

/**
 * Whether the records are as expected: each of those named, with commas between, is there, in any order. A text record
 * needs to hold the expected text only.
 */
export function matchRecords(type: RecordType, records: readonly string[], expected: string): boolean {
  if (type === 'TXT') return records.some((record) => record.includes(toText(expected)));
  const all = expected.split(',').filter((one) => one.trim() !== '');
  return all.length > 0 && all.every((one) => hasRecord(type, records, one));
}
