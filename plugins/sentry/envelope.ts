/**
 * Parser for Sentry envelopes: a JSON line, then items of a JSON line and a payload each. Only the
 * structure is parsed, in one pass without copies. Strict where an error would split payloads
 * incorrectly, lenient about blank lines, a missing last line end, and CR before LF.
 */
import { record } from './values.js';

export interface EnvelopeItem {
  type: string;
  payload: Buffer;
  /** The payload was dropped on arrival: its size in bytes, or true if unknown. */
  skipped?: number | true;
}

export interface Envelope {
  header: Readonly<Record<string, unknown>>;
  items: readonly EnvelopeItem[];
  /** Error message about the first unreadable item; parsing stops there. */
  fault?: string;
}

/** SDKs send one event, or up to a hundred sessions. */
const MOST_ITEMS = 1_000;
export const LONGEST_HEADER = 16_384;
const LF = 0x0a;
const CR = 0x0d;

/** Line from `from`; `next` is the index after its end. */
interface Line {
  to: number;
  next: number;
}

function lineAt(bytes: Buffer, from: number): Line {
  const end = bytes.indexOf(LF, from);
  return end < 0 ? { to: bytes.length, next: bytes.length } : { to: end, next: end + 1 };
}

function jsonLine(bytes: Buffer, from: number, { to }: Line): Record<string, unknown> | null {
  if (to - from > LONGEST_HEADER) return null;
  try {
    return record(JSON.parse(bytes.toString('utf8', from, to)));
  } catch {
    return null;
  }
}

/** Parses the first line only; returns null unless it is a JSON object. */
export function envelopeHeader(bytes: Buffer): Record<string, unknown> | null {
  return jsonLine(bytes, 0, lineAt(bytes, 0));
}

export const parseHeader = (line: Buffer): Record<string, unknown> | null =>
  jsonLine(line, 0, { to: line.length, next: line.length });

/**
 * Returns the envelope, or an error message. An unreadable item also discards the items after it;
 * those before it stay (`fault`).
 */
export function readEnvelope(bytes: Buffer): Envelope | string {
  const first = lineAt(bytes, 0);
  const header = jsonLine(bytes, 0, first);
  if (header === null) return 'The first line of an envelope is a JSON object.';
  const items: EnvelopeItem[] = [];
  for (let at = blank(bytes, first.next); at < bytes.length; at = blank(bytes, at)) {
    const broken = (fault: string): Envelope | string => (items.length === 0 ? fault : { header, items, fault });
    if (items.length === MOST_ITEMS) return broken(`The envelope has more than ${MOST_ITEMS} items.`);
    const head = lineAt(bytes, at);
    const about = jsonLine(bytes, at, head);
    const { type, length, skipped } = about ?? {};
    if (about === null || typeof type !== 'string') {
      return broken(`The header of item ${items.length + 1} is no JSON object with a \`type\`.`);
    }
    const end = length === undefined || length === null ? lineAt(bytes, head.next).to : lengthEnd(bytes, head, length);
    if (end === null) return broken(`The \`length\` of item ${items.length + 1} does not meet the end of its payload.`);
    const payload = bytes.subarray(head.next, end);
    items.push(typeof skipped === 'number' || skipped === true ? { type, payload, skipped } : { type, payload });
    at = end;
  }
  return { header, items };
}

function blank(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === LF || bytes[at] === CR) at++;
  return at;
}

/**
 * Returns the index after a payload of `length` bytes; null unless a line or the envelope ends
 * there.
 */
function lengthEnd(bytes: Buffer, head: Line, length: unknown): number | null {
  if (typeof length !== 'number' || !Number.isSafeInteger(length) || length < 0) return null;
  const end = head.next + length;
  if (end > bytes.length) return null;
  if (length === 0) return end;
  const after = bytes[end] === CR ? bytes[end + 1] : bytes[end];
  return after === undefined || after === LF ? end : null;
}
