/** Rules for package paths (contract 40, refused packages; contract 90, where it writes). */
import { caseFold } from 'unicode-case-folding';
import { canReachWindows } from './platform.js';
import { hasControlCharacters } from '../text/printable.js';

/** Bytes of a whole path, and of a name in it. */
export const MAX_PATH_BYTES = 2_048;
export const MAX_NAME_BYTES = 255;

/** The agent's files, and the web server's access file. */
const RESERVED_AT_ROOT = new Set(['manifest.json', '.htaccess', '.update-agent']);
/** Windows short names of these files. */
const RESERVED_SHORT_NAME_PATTERN = /^(manife|htacce|update)~\d/;
const DEVICE_NAME_PATTERN = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$|clock\$)$/;
const ASCII_PATTERN = /^[\x20-\x7e]*$/;

/** Returns a key that is equal for names some file system treats as one. */
export const toNameKey = (name: string): string =>
  ASCII_PATTERN.test(name) ? name.toLowerCase() : caseFold(name.normalize('NFD')).normalize('NFC');

/**
 * Returns why a package must not contain this path.
 * @param path relative, with slashes
 * @param platform unknown ones count as `any`
 */
export function findPathFault(path: string, platform: string): string | null {
  if (path === '') return 'has no name';
  if (!path.isWellFormed()) return 'is not UTF-8';
  if (path.includes('\0')) return 'has a NUL in its name';
  if (hasControlCharacters(path)) return 'has a control character in its name';
  if (path.includes('\\')) return 'has a back-slash in its name';
  if (path.startsWith('/')) return 'is an absolute path';
  if (/^[A-Za-z]:/.test(path)) return 'starts with a drive letter';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `is longer than ${MAX_PATH_BYTES} bytes`;
  const names = path.split('/');
  const first = toNameKey(names[0] ?? '');
  if (RESERVED_AT_ROOT.has(first)) return 'is reserved at the root of an installation';
  for (const name of names) {
    const why = findNameFault(name);
    if (why !== null) return why;
  }
  return canReachWindows(platform) ? findWindowsNameFault(names, first) : null;
}

function findNameFault(name: string): string | null {
  if (name === '') return 'has an empty name between two slashes, or ends with one';
  if (name === '..') return 'has .. in its path';
  if (name === '.') return 'has . in its path';
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `has a name longer than ${MAX_NAME_BYTES} bytes`;
  return null;
}

function findWindowsNameFault(names: readonly string[], first: string): string | null {
  if (RESERVED_SHORT_NAME_PATTERN.test(first))
    return 'is a short name of a path reserved at the root of an installation';
  for (const name of names) {
    if (/[<>"|?*:]/.test(name)) return 'has a character in its name that Windows does not allow';
    if (/[. ]$/.test(name)) return 'has a name that ends with a dot or a space, which Windows drops';
    const base = (name.split('.')[0] ?? '').trimEnd().toLowerCase();
    if (DEVICE_NAME_PATTERN.test(base)) return 'is the name of a device on Windows';
  }
  return null;
}
