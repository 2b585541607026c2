/**
 * Where an error comes from, as one short text (contract 21, origin): the same file deployed elsewhere, built again or named
 * by another tool has one origin. Pure, linear.
 */

import { RecentMap } from '../../../lib/recent-map.js';

const LONGEST = 4096;
const SEGMENTS = 2;

/** Schemes around another URL. */
const WRAPPER = /^(?:(?:blob|jar|view-source):){1,4}/i;
const SCHEME = /^[a-z][a-z0-9+.-]{1,31}:\/\/[^/]*/i;
/** Schemes without a host; anything else before a colon may be a file before its line. */
const BARE_SCHEME = /^(?:node|file|webpack-internal|webpack|ng|app|package|about):/i;
const DRIVE = /^\/?[a-z]:(?=[\\/]|[^\d])/i;
const LINE = /(?::[^\d:\\/.]{0,20}\d{1,9}){1,2}$|\(\d{1,9}(?:,\d{1,9})?\)$/;

const GUID = /\{?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}?/gi;

/**
 * The last two segments in lower case; scheme, host, query, drive letter and `:line:col` cut; GUIDs and content hashes
 * masked. Empty when nothing is left.
 */
export function normaliseOrigin(file: string): string {
  if (file.length > LONGEST_KNOWN) return normalised(file);
  const before = known.get(file);
  if (before !== undefined) return before;
  const made = copyOf(normalised(file));
  known.set(copyOf(file), made);
  return made;
}

/** A text of its own: a piece of a stack trace would keep all of it in memory. */
const copyOf = (text: string): string => Buffer.from(text).toString();

/** Files that were normalised already: the errors of a storm come from the same ones. */
const MOST_KNOWN = 500;
const LONGEST_KNOWN = 256;
const known = new RecentMap<string>(MOST_KNOWN);

function normalised(file: string): string {
  let path = file.slice(0, LONGEST).trim().replace(WRAPPER, '');
  const url = SCHEME.exec(path);
  path = url === null ? path.replace(BARE_SCHEME, '') : path.slice(url[0].length);
  const query = path.indexOf('?');
  if (query >= 0) path = path.slice(0, query);
  path = path.replace(DRIVE, '').replace(LINE, '').replaceAll('\\', '/');
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.' && segment !== '..');
  const kept = segments.slice(-SEGMENTS);
  return kept.map((segment, i) => maskSegment(segment, i === kept.length - 1).toLowerCase()).join('/');
}

/** `main.3f2504e0.js`: anything of 8 or more hex digits between dots. */
const DOTTED_HASH = /\.[0-9a-f]{8,64}(?=\.)/gi;
/** `main-3f2504e0.js`: with a letter and a digit, since a date may be here too. */
const HYPHENED_HASH = /[-_~](?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8,64}(?=\.|$)/gi;
/** `index-DkS8a9Xz.js`, `chunk-5KJ2X7QW.js`: what bundlers take from base64 and base32. */
const MIXED_HASH = /([-.])([A-Za-z0-9_]{8})(?=\.(?:[cm]?js|css|map)\b)/g;
const WHOLE_HASH = /^(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8,64}(?=\.|$)/i;
const NUMBERED_DIRECTORY = /^\d{8,}$/;

function maskSegment(segment: string, isFile: boolean): string {
  if (segment.length < 8) return segment;
  if (!isFile && NUMBERED_DIRECTORY.test(segment)) return '<hash>';
  const masked = segment
    .replace(GUID, '<guid>')
    .replace(DOTTED_HASH, '.<hash>')
    .replace(HYPHENED_HASH, '-<hash>')
    .replace(WHOLE_HASH, '<hash>');
  return isFile ? masked.replace(MIXED_HASH, maskMixed) : masked;
}

function maskMixed(whole: string, before: string, name: string): string {
  const base32 = /\d/.test(name) && /[A-Z]/.test(name) && !/[a-z_]/.test(name);
  const base64 = /\d[A-Za-z]/.test(name) && /.[A-Z]/.test(name) && /[a-z]/.test(name);
  return base32 || base64 ? `${before}<hash>` : whole;
}
