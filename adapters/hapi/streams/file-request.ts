/**
 * @hapi/ammo and range-parser handle long suffixes and malformed ranges incorrectly (RFC 9110,
 *   sections 13 and 14).
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { StreamableFile } from '../../../ports/http/index.js';

export interface FilePart {
  status: 200 | 206 | 304 | 412 | 416;
  start: number;
  end: number;
}

type RequestHeaders = IncomingHttpHeaders;
type FileMetadata = Pick<StreamableFile, 'size' | 'etag' | 'modifiedAt'>;

export function resolveFilePart(file: FileMetadata, method: string, headers: RequestHeaders): FilePart {
  const whole = { start: 0, end: file.size };
  const condition = evaluatePreconditions(file, headers);
  if (condition !== null) return { status: condition, ...whole };
  // Range is defined for GET only (RFC 9110, 14.2).
  if (method !== 'GET' || headers.range === undefined || !isRangeValid(file, headers)) return { status: 200, ...whole };
  const range = parseRange(headers.range, file.size);
  if (range === null) return { status: 200, ...whole };
  return range === 'outside' ? { status: 416, ...whole } : { status: 206, ...range };
}

function evaluatePreconditions(file: FileMetadata, headers: RequestHeaders): 304 | 412 | null {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  const modified = file.modifiedAt === undefined ? null : toSeconds(file.modifiedAt.getTime());
  if (match !== undefined) {
    if (!hasETag(match, file.etag, false)) return 412;
  } else if (modified !== null && modified > (parseDateSeconds(headers['if-unmodified-since']) ?? Infinity)) return 412;
  if (noneMatch !== undefined) return hasETag(noneMatch, file.etag, true) ? 304 : null;
  return modified !== null && modified <= (parseDateSeconds(headers['if-modified-since']) ?? -Infinity) ? 304 : null;
}

const ETAG_PATTERN = /(W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g;

/** @param weak weak tags match too (RFC 9110, 8.8.3.2) */
export function hasETag(list: string, etag: string, weak: boolean): boolean {
  if (list.trim() === '*') return true;
  for (const [, isWeak, tag] of list.matchAll(ETAG_PATTERN))
    if (tag === etag && (weak || isWeak === undefined)) return true;
  return false;
}

/**
 * `If-Range`: the range applies only to this exact file. A date must be equal (RFC 9110, 13.1.5).
 */
function isRangeValid({ etag, modifiedAt }: FileMetadata, headers: RequestHeaders): boolean {
  const given = headers['if-range'] as string | undefined;
  if (given === undefined) return true;
  if (given.includes('"')) return given.trim() === etag;
  return modifiedAt !== undefined && parseDateSeconds(given) === toSeconds(modifiedAt.getTime());
}

const RANGE_PATTERN = /^bytes\s*=\s*(?:(\d+)\s*-\s*(\d*)|-\s*(\d+))\s*$/i;

/** Null for an unsupported or multiple range. */
function parseRange(header: string, size: number): { start: number; end: number } | 'outside' | null {
  const range = RANGE_PATTERN.exec(header);
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

/** Headers have a precision of seconds. */
const toSeconds = (milliseconds: number): number => Math.floor(milliseconds / 1000);

function parseDateSeconds(header: string | undefined): number | null {
  const at = header === undefined ? NaN : Date.parse(header);
  return Number.isNaN(at) ? null : toSeconds(at);
}
