/**
 * A JSON line, then items of a JSON line and a payload each, in one pass without copies. Strict
 * where an error would split payloads incorrectly, lenient about blank lines, a missing last line
 * end, and CR before LF.
 */
import { toRecord } from './untyped-values.js';

export interface EnvelopeItem {
  type: string;
  payload: Buffer;
  /** Bytes dropped on arrival, or true if unknown. */
  skipped?: number | true;
}

export interface Envelope {
  header: Readonly<Record<string, unknown>>;
  items: readonly EnvelopeItem[];
  /** About the first unreadable item; parsing stops there. */
  fault?: string;
}

/** SDKs send one event, or up to a hundred sessions. */
const MAX_ITEMS = 1_000;
export const MAX_HEADER_BYTES = 16_384;
const LF = 0x0a;
const CR = 0x0d;

/** `next` is the index after its end. */
interface LineRange {
  to: number;
  next: number;
}

function findLine(bytes: Buffer, from: number): LineRange {
  const end = bytes.indexOf(LF, from);
  return end < 0 ? { to: bytes.length, next: bytes.length } : { to: end, next: end + 1 };
}

function parseJsonLine(bytes: Buffer, from: number, { to }: LineRange): Record<string, unknown> | null {
  if (to - from > MAX_HEADER_BYTES) return null;
  try {
    return toRecord(JSON.parse(bytes.toString('utf8', from, to)));
  } catch {
    return null;
  }
}

/** First line only; null unless a JSON object. */
export function parseEnvelopeHeader(bytes: Buffer): Record<string, unknown> | null {
  return parseJsonLine(bytes, 0, findLine(bytes, 0));
}

export const parseHeader = (line: Buffer): Record<string, unknown> | null =>
  parseJsonLine(line, 0, { to: line.length, next: line.length });

/**
 * Returns an error message if unreadable. An unreadable item also discards those after it
 * (`fault`).
 */
export function parseEnvelope(bytes: Buffer): Envelope | string {
  const first = findLine(bytes, 0);
  const header = parseJsonLine(bytes, 0, first);
  if (header === null) return 'The first line of an envelope must be a JSON object.';
  const items: EnvelopeItem[] = [];
  for (let at = skipLineEnds(bytes, first.next); at < bytes.length; at = skipLineEnds(bytes, at)) {
    const broken = (fault: string): Envelope | string => (items.length === 0 ? fault : { header, items, fault });
    if (items.length === MAX_ITEMS) return broken(`The envelope has more than ${MAX_ITEMS} items.`);
    const head = findLine(bytes, at);
    const about = parseJsonLine(bytes, at, head);
    const { type, length, skipped } = about ?? {};
    if (about === null || typeof type !== 'string') {
      return broken(`The header of item ${items.length + 1} is not a JSON object with a \`type\`.`);
    }
    const end =
      length === undefined || length === null ? findLine(bytes, head.next).to : findPayloadEnd(bytes, head, length);
    if (end === null)
      return broken(`The \`length\` of item ${items.length + 1} does not match the end of its payload.`);
    const payload = bytes.subarray(head.next, end);
    items.push(typeof skipped === 'number' || skipped === true ? { type, payload, skipped } : { type, payload });
    at = end;
  }
  return { header, items };
}

function skipLineEnds(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === LF || bytes[at] === CR) at++;
  return at;
}

/** Returns null unless a line or the envelope ends there. */
function findPayloadEnd(bytes: Buffer, head: LineRange, length: unknown): number | null {
  if (typeof length !== 'number' || !Number.isSafeInteger(length) || length < 0) return null;
  const end = head.next + length;
  if (end > bytes.length) return null;
  if (length === 0) return end;
  const after = bytes[end] === CR ? bytes[end + 1] : bytes[end];
  return after === undefined || after === LF ? end : null;
}
