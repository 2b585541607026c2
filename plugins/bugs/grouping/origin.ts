/** The same file has one origin in every deployment and build (contract 21, origin). */
import { maskGeneratedName, maskNamesInText } from '../../../lib/text/generated-names.js';
import { isPage, maskPage, maskSegments } from './path-masks.js';

const MAX_LENGTH = 4096;
const MAX_SEGMENTS = 2;

const SCHEME_WRAPPER = /^(?:(?:blob|jar|view-source):){1,4}/i;
const SCHEME = /^[a-z][a-z0-9+.-]{1,31}:\/\/[^/]*/i;
/** Any other word before a colon may be a file before its line. */
const BARE_SCHEME = /^(?:node|file|webpack-internal|webpack|ng|app|package|about):/i;
const DRIVE_LETTER = /^\/?[a-z]:(?=[\\/]|[^\d])/i;
const LINE_SUFFIX = /(?::[^\d:\\/.]{0,20}\d{1,9}){1,2}$|\(\d{1,9}(?:,\d{1,9})?\)$/;

const EVALUATED_CODE =
  /^\(eval at (.{1,2000}):\d{1,9}\)$|^(.{1,2000}\.\w{1,8})\(\d{1,9}\) : (?:eval\(\)'d code|runtime-created function)$/;
/** Chrome, without a URL: `VM123`, `VM123 app.js`. */
const VM_SCRIPT = /^VM\d{1,9}(?: |(?=:|$))/;

/** @param isWhole also strips evaluated code and the fragment of a page */
export function splitPath(file: string, isWhole = true): string[] {
  let path = file.slice(0, MAX_LENGTH).trim();
  // Before splitting: the name of a hidden Java class contains a slash.
  if (isWhole) path = maskNamesInText(getEvaluatingFile(path).replace(VM_SCRIPT, ''));
  path = path.replace(SCHEME_WRAPPER, '');
  const url = SCHEME.exec(path);
  path = url === null ? path.replace(BARE_SCHEME, '') : path.slice(url[0].length);
  const query = path.search(isWhole && url !== null ? /[?#]/ : /\?/);
  if (query >= 0) path = path.slice(0, query);
  path = path.replace(DRIVE_LETTER, '').replace(LINE_SUFFIX, '').replaceAll('\\', '/');
  return path.split('/').filter((segment) => segment !== '' && segment !== '.' && segment !== '..');
}

function getEvaluatingFile(path: string): string {
  const found =
    path.startsWith('(eval at ') || path.endsWith(' code') || path.endsWith(' function')
      ? EVALUATED_CODE.exec(path)
      : null;
  return found?.[1] ?? found?.[2] ?? path;
}

/**
 * Returns the last two segments in lowercase, without scheme, host, query, drive and `:line:col`,
 * generated parts masked.
 */
export function normalizeOrigin(file: string): string {
  const segments = splitPath(file);
  const masked = maskSegments(segments);
  const retainedSegments = isPage(file.slice(0, MAX_LENGTH).trim()) ? maskPage(masked) : masked.slice(-MAX_SEGMENTS);
  return retainedSegments.map((segment) => segment.toLowerCase()).join('/');
}

const MAX_FUNCTION_LENGTH = 600;
const ANONYMOUS_FUNCTION = /^(?:\?+|<?anonymous>?|<unknown>|<redacted>|\{closure\}|\{anonymous\}|0x[0-9a-f]{1,16})$/i;

export function normalizeFunction(name: string): string {
  const given = name.slice(0, MAX_FUNCTION_LENGTH).trim();
  const masked = ANONYMOUS_FUNCTION.test(given) ? '' : maskGeneratedName(given);
  return ANONYMOUS_FUNCTION.test(masked) ? '' : masked;
}
