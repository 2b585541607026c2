/**
 * Decides which part of a file a request asks for, and whether its conditions hold (RFC 9110, sections 13 and 14).
 * Rejected: @hapi/ammo and range-parser, which both take a suffix longer than the file for unsatisfiable; the first
 * also cannot tell a malformed range, which is ignored, from one outside the file, which is 416.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { AnsweredFile } from '../../../ports/http.js';

export interface FilePart {
  status: 200 | 206 | 304 | 412 | 416;
  /** First byte. */
  start: number;
  /** Behind the last byte. */
  end: number;
}

type Wanted = IncomingHttpHeaders;
type File = Pick<AnsweredFile, 'size' | 'etag' | 'modifiedAt'>;

/** The answer's status and bytes. */
export function partOf(file: File, method: string, headers: Wanted): FilePart {
  const whole = { start: 0, end: file.size };
  const condition = preconditions(file, headers);
  if (condition !== null) return { status: condition, ...whole };
  // Range is defined for GET alone (RFC 9110, 14.2).
  if (method !== 'GET' || headers.range === undefined || !rangeHolds(file, headers)) return { status: 200, ...whole };
  const range = rangeOf(headers.range, file.size);
  if (range === null) return { status: 200, ...whole };
  return range === 'outside' ? { status: 416, ...whole } : { status: 206, ...range };
}

/** The preconditions, in the order of RFC 9110, 13.2.2. */
function preconditions(file: File, headers: Wanted): 304 | 412 | null {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  const modified = file.modifiedAt === undefined ? null : toSeconds(file.modifiedAt.getTime());
  if (match !== undefined) {
    if (!namesTag(match, file.etag, false)) return 412;
  } else if (modified !== null && modified > (dateOf(headers['if-unmodified-since']) ?? Infinity)) return 412;
  if (noneMatch !== undefined) return namesTag(noneMatch, file.etag, true) ? 304 : null;
  return modified !== null && modified <= (dateOf(headers['if-modified-since']) ?? -Infinity) ? 304 : null;
}

const TAGS = /(W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g;

/** Whether a list of entity tags names this one. @param weak a weak tag counts too (RFC 9110, 8.8.3.2) */
export function namesTag(list: string, etag: string, weak: boolean): boolean {
  if (list.trim() === '*') return true;
  for (const [, isWeak, tag] of list.matchAll(TAGS)) if (tag === etag && (weak || isWeak === undefined)) return true;
  return false;
}

/** `If-Range`: the range counts only for this very file. A date must be the file's own (RFC 9110, 13.1.5). */
function rangeHolds({ etag, modifiedAt }: File, headers: Wanted): boolean {
  const given = headers['if-range'] as string | undefined;
  if (given === undefined) return true;
  if (given.includes('"')) return given.trim() === etag;
  return modifiedAt !== undefined && dateOf(given) === toSeconds(modifiedAt.getTime());
}

const RANGE = /^bytes\s*=\s*(?:(\d+)\s*-\s*(\d*)|-\s*(\d+))\s*$/i;

/** The range; null for one that we do not understand, or several at once: then the whole file is sent. */
function rangeOf(header: string, size: number): { start: number; end: number } | 'outside' | null {
  const range = RANGE.exec(header);
  if (range === null) return null;
  const [, first, last = '', suffix] = range;
  if (first === undefined) {
    const bytes = Math.min(Number(suffix), size);
    return bytes === 0 ? 'outside' : { start: size - bytes, end: size };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return null;
  if (start >= size) return 'outside';
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) };
}

/** A time in seconds, the precision of headers. */
const toSeconds = (milliseconds: number): number => Math.floor(milliseconds / 1000);

/** A date in seconds; null for a text that is no date. */
function dateOf(header: string | undefined): number | null {
  const at = header === undefined ? NaN : Date.parse(header);
  return Number.isNaN(at) ? null : toSeconds(at);
}
