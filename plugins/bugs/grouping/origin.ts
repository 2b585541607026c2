/**
 * The origin of an error as one short text (contract 21, origin): the same file deployed elsewhere, built again or
 * named by another tool has one origin. Pure, linear.
 */
import { maskGeneratedName, maskNamesInText } from '../../../lib/text/generated-names.js';
import { isPage, maskPage, maskSegments } from './paths.js';

const MAX_LENGTH = 4096;
const SEGMENTS = 2;

/** Schemes around another URL. */
const WRAPPER = /^(?:(?:blob|jar|view-source):){1,4}/i;
const SCHEME = /^[a-z][a-z0-9+.-]{1,31}:\/\/[^/]*/i;
/** Schemes without a host; any other word before a colon may be a file before its line. */
const BARE_SCHEME = /^(?:node|file|webpack-internal|webpack|ng|app|package|about):/i;
const DRIVE = /^\/?[a-z]:(?=[\\/]|[^\d])/i;
const LINE = /(?::[^\d:\\/.]{0,20}\d{1,9}){1,2}$|\(\d{1,9}(?:,\d{1,9})?\)$/;

/** Ruby's and PHP's code that a program evaluates, named by the file that holds it. */
const EVALUATED =
  /^\(eval at (.{1,2000}):\d{1,9}\)$|^(.{1,2000}\.\w{1,8})\(\d{1,9}\) : (?:eval\(\)'d code|runtime-created function)$/;
/** Chrome's name of a script without an address: `VM123`, `VM123 app.js`. */
const VM_SCRIPT = /^VM\d{1,9}(?: |(?=:|$))/;

/** The segments of a path. @param isWhole also what a program evaluates, and the fragment of a page */
export function cutPath(file: string, isWhole = true): string[] {
  let path = file.slice(0, MAX_LENGTH).trim();
  // Before the path is divided: a hidden class of Java has a slash in its name.
  if (isWhole) path = maskNamesInText(evaluatedIn(path).replace(VM_SCRIPT, ''));
  path = path.replace(WRAPPER, '');
  const url = SCHEME.exec(path);
  path = url === null ? path.replace(BARE_SCHEME, '') : path.slice(url[0].length);
  const query = path.search(isWhole && url !== null ? /[?#]/ : /\?/);
  if (query >= 0) path = path.slice(0, query);
  path = path.replace(DRIVE, '').replace(LINE, '').replaceAll('\\', '/');
  return path.split('/').filter((segment) => segment !== '' && segment !== '.' && segment !== '..');
}

function evaluatedIn(path: string): string {
  const found =
    path.startsWith('(eval at ') || path.endsWith(' code') || path.endsWith(' function') ? EVALUATED.exec(path) : null;
  return found?.[1] ?? found?.[2] ?? path;
}

/**
 * The last two segments in lower case; scheme, host, query, drive letter and `:line:col` cut; generated parts masked
 * (paths.ts, lib/text/generated-names.ts). Empty when nothing is left.
 */
export function normalizeOrigin(file: string): string {
  const segments = cutPath(file);
  const masked = maskSegments(segments);
  const kept = isPage(file.slice(0, MAX_LENGTH).trim()) ? maskPage(masked) : masked.slice(-SEGMENTS);
  return kept.map((segment) => segment.toLowerCase()).join('/');
}

const MAX_FUNCTION_LENGTH = 600;
/** Words of SDKs for a function without a name. */
const NAMELESS = /^(?:\?+|<?anonymous>?|<unknown>|<redacted>|\{closure\}|\{anonymous\}|0x[0-9a-f]{1,16})$/i;

/** A function as part of an origin; empty for one without a name. Functions that differ only in case are different. */
export function normalizeFunction(name: string): string {
  const given = name.slice(0, MAX_FUNCTION_LENGTH).trim();
  const masked = NAMELESS.test(given) ? '' : maskGeneratedName(given);
  return NAMELESS.test(masked) ? '' : masked;
}
