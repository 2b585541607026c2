/**
 * The origin of an error as one short text (contract 21, origin): the same file deployed elsewhere, built again or
 * named by another tool has one origin. Pure, linear.
 */

import { GUID } from '../../../lib/text/guid.js';
import { RecentMap } from '../../../lib/recent-map.js';

const LONGEST = 4096;
const SEGMENTS = 2;

/** Schemes around another URL. */
const WRAPPER = /^(?:(?:blob|jar|view-source):){1,4}/i;
const SCHEME = /^[a-z][a-z0-9+.-]{1,31}:\/\/[^/]*/i;
/** Schemes without a host; any other word before a colon may be a file before its line. */
const BARE_SCHEME = /^(?:node|file|webpack-internal|webpack|ng|app|package|about):/i;
const DRIVE = /^\/?[a-z]:(?=[\\/]|[^\d])/i;
const LINE = /(?::[^\d:\\/.]{0,20}\d{1,9}){1,2}$|\(\d{1,9}(?:,\d{1,9})?\)$/;

const ANY_GUID = new RegExp(`\\{?${GUID}\\}?`, 'gi');

/**
 * The last two segments in lower case; scheme, host, query, drive letter and `:line:col` cut; GUIDs and content hashes
 * masked. Empty when nothing is left.
 */
export function normaliseOrigin(file: string): string {
  if (file.length > LONGEST_KNOWN) return normalised(file, maskBundled);
  const before = known.get(file);
  if (before !== undefined) return before;
  const made = copyOf(normalised(file, maskBundled));
  known.set(copyOf(file), made);
  return made;
}

/** The origin as in the keys of stores from before decision 041. */
export const earlierOrigin = (file: string): string => normalised(file, maskMixed);

const LONGEST_FUNCTION = 300;
/** Words of SDKs for a function without a name. */
const NAMELESS = /^(?:\?+|<?anonymous>?|<unknown>|<redacted>|\{closure\}|\{anonymous\}|0x[0-9a-f]{1,16})$/i;
/** Rust's own hash of a function, which differs in each build. */
const RUST_HASH = /::h[0-9a-f]{16}$/;
const HEX_ADDRESS = /0x[0-9a-f]{4,16}/gi;

/** A function as part of an origin; empty for one without a name. Functions that differ only in case are different. */
export function normaliseFunction(name: string): string {
  const given = name.slice(0, LONGEST_FUNCTION).trim();
  return NAMELESS.test(given) ? '' : given.replace(RUST_HASH, '').replace(HEX_ADDRESS, '<address>');
}

/** A text of its own: a piece of a stack trace would keep all of it in memory. */
const copyOf = (text: string): string => Buffer.from(text).toString();

/** Normalised files that are kept: the errors of a storm come from the same files. */
const MOST_KNOWN = 500;
const LONGEST_KNOWN = 256;
const known = new RecentMap<string>(MOST_KNOWN);

function normalised(file: string, hashes: (name: string) => string): string {
  let path = file.slice(0, LONGEST).trim().replace(WRAPPER, '');
  const url = SCHEME.exec(path);
  path = url === null ? path.replace(BARE_SCHEME, '') : path.slice(url[0].length);
  const query = path.indexOf('?');
  if (query >= 0) path = path.slice(0, query);
  path = path.replace(DRIVE, '').replace(LINE, '').replaceAll('\\', '/');
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.' && segment !== '..');
  const kept = segments.slice(-SEGMENTS);
  return kept.map((segment, i) => maskSegment(segment, i === kept.length - 1 ? hashes : null).toLowerCase()).join('/');
}

/** A hash between dots, `main.3f2504e0.js`: 8 or more hex digits. */
const DOTTED_HASH = /\.[0-9a-f]{8,64}(?=\.)/gi;
/** A hash behind a hyphen, `main-3f2504e0.js`: with a letter and a digit, since a date may be here too. */
const HYPHENED_HASH = /[-_~](?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8,64}(?=\.|$)/gi;
/** Endings that bundlers write: `.js`, `.min.js`, `.chunk.css`, `.js.map`. */
const BUNDLE = String.raw`(?=(?:\.(?:min|chunk|bundle|esm|umd|iife|legacy|modern|module))?\.(?:[cm]?js|css|wasm)(?:\.map)?$)`;
/** The eight characters that bundlers take from base64 and base32: `index-BdJ3kf9Q.js`, `chunk-5KJ2X7QW.js`. */
const BUNDLED_HASH = new RegExp(`([-._])([\\w-]{8})${BUNDLE}`, 'i');
/** A name that is only a hash: `_nuxt/DlAUqK2U.js`. */
const BUNDLED_NAME = new RegExp(`^[\\w-]{8}${BUNDLE}`, 'i');
/** A word, no hash: `settings`, `UserCart`, `Service1` of a row of files, or a number between other words. */
const WORD = /^(?:[a-z]*(?:[A-Z][a-z]{2,}){1,4}\d?|[a-z]{1,8}|\d{1,3})$/;
/** A hash by the rule of stores from before decision 041. */
const MIXED_HASH = /([-.])([A-Za-z0-9_]{8})(?=\.(?:[cm]?js|css|map)\b)/g;
const WHOLE_HASH = /^(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8,64}(?=\.|$)/i;
const NUMBERED_DIRECTORY = /^\d{8,}$/;

/** Masks one segment of a path. @param hashes null: the segment is a directory */
function maskSegment(segment: string, hashes: ((name: string) => string) | null): string {
  if (segment.length < 8) return segment;
  if (hashes === null && NUMBERED_DIRECTORY.test(segment)) return '<hash>';
  const masked = segment
    .replace(ANY_GUID, '<guid>')
    .replace(DOTTED_HASH, '.<hash>')
    .replace(HYPHENED_HASH, '-<hash>')
    .replace(WHOLE_HASH, '<hash>');
  return hashes === null ? masked : hashes(masked);
}

/**
 * Whether a name is a hash: not when it consists of words in small letters and camel case, or the rest of a name before
 * another placeholder.
 */
const isHash = (name: string): boolean => !name.split(/[-_]/).every((word) => WORD.test(word));

function maskBundled(name: string): string {
  const whole = BUNDLED_NAME.exec(name)?.[0];
  if (whole !== undefined && /[A-Z]/.test(whole) && /[a-z]/.test(whole) && isHash(whole))
    return `<hash>${name.slice(whole.length)}`;
  return name.replace(BUNDLED_HASH, (found, before: string, part: string) =>
    isHash(part) ? `${before}<hash>` : found,
  );
}

const maskMixed = (name: string): string =>
  name.replace(MIXED_HASH, (found, before: string, part: string) => {
    const base32 = /\d/.test(part) && /[A-Z]/.test(part) && !/[a-z_]/.test(part);
    const base64 = /\d[A-Za-z]/.test(part) && /.[A-Z]/.test(part) && /[a-z]/.test(part);
    return base32 || base64 ? `${before}<hash>` : found;
  });
