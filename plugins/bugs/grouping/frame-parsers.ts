/**
 * Parses stack trace lines (contract 21, first frame). Markers are found by `indexOf`, and
 * expressions are anchored to them, so the time is linear.
 */
import { createParsedFrame, SOURCE_EXTENSION, LINE_SUFFIX, type ParsedFrame } from './parsed-frame.js';
import { parseAtFrame, parseDotnetFrame } from './managed-frames.js';
import { parseNativeFrame } from './native-frames.js';
import {
  parseGoFrame,
  parseNumberedFrame,
  parsePerlFrame,
  parsePhpHeader,
  parsePowershellFrame,
  parsePythonFrame,
  parseRubyFrame,
  parseRustFrame,
  parseShellFrame,
} from './script-frames.js';

export function parseFrameLine(line: string): ParsedFrame | null {
  const first = line.charCodeAt(0);
  if (first === CHAR_CODES.a && line.startsWith('at ')) return parseAtFrame(line.slice(3).trimStart());
  if (first === CHAR_CODES.hash)
    return (line.includes(' pc ') ? parseNativeFrame(line) : null) ?? parseNumberedFrame(line);
  if (line.includes('File "')) {
    const python = parsePythonFrame(line);
    if (python !== null) return python;
  }
  const method = line.includes('(') ? parseDotnetFrame(line) : null;
  if (method !== null) return method;
  if (!DIGIT.test(line)) return null;
  return (
    (first >= CHAR_CODES.zero || first === CHAR_CODES.slash || first === CHAR_CODES.dot
      ? parseNativeFrame(line)
      : null) ??
    (line.includes('.go:') ? parseGoFrame(line) : null) ??
    (line.includes('@') || line.includes('://') ? parseBrowserFrame(line) : null) ??
    (line.includes(' in ') ? parsePhpHeader(line) : null) ??
    (line.includes('panicked at ') ? parseRustFrame(line) : null) ??
    (line.includes(':in ') ? parseRubyFrame(line) : null) ??
    (line.includes('1: ') ? parsePowershellFrame(line.slice(line.indexOf(' ') + 1)) : null) ??
    (line.includes(' line ') ? (parseShellFrame(line) ?? parsePerlFrame(line)) : parseShellFrame(line))
  );
}

const CHAR_CODES = { a: 97, hash: 35, dot: 46, slash: 47, zero: 48 } as const;
const DIGIT = /\d/;

function parseBrowserFrame(line: string): ParsedFrame | null {
  const tail = LINE_SUFFIX.exec(line);
  if (tail === null) return null;
  const place = line.slice(0, tail.index);
  const at = findNameEnd(place);
  if (at < 0 && !/^[a-z][a-z0-9+.-]{1,30}:\/\/\S{1,2000}$/i.test(place)) return null;
  const file = place.slice(at + 1);
  if (file.includes('@') ? /\s/.test(file) : /^\S*\s(?!line )/.test(file) && !file.includes('/')) return null;
  const evaluated = / line (\d{1,9}) > /.exec(file);
  const name = at < 0 ? null : place.slice(0, at);
  if (evaluated !== null) return createParsedFrame('browser', file.slice(0, evaluated.index), name, evaluated[1]);
  return SCRIPT.test(file) ? createParsedFrame('browser', file, name, tail[1]) : null;
}

const SCRIPT = /[/\\]|\.[cm]?[jt]sx?$|\.html?$|^<|code$|bundle$/i;

/** Paths may contain another `@` (`/@scope/`); function names contain no `/` before it. */
function findNameEnd(place: string): number {
  const at = place.indexOf('@');
  if (at < 0) return -1;
  const slash = place.indexOf('://');
  return slash >= 0 && slash < at ? -1 : at;
}

const PATH_END = /[\s'"()<>|*?,;=[\]{}]/;

const SOURCE_FILE = new RegExp(`[^.\\\\/:@]\\.(?:${SOURCE_EXTENSION})$`, 'i');
const OTHER_FILE = /[\\/][^\\/:@]{0,200}\.[A-Za-z][A-Za-z0-9]{0,9}$/;
const HOST = /^(?:[A-Za-z][A-Za-z0-9+.-]{0,30}:)?\/\/[^/]*$/;

/** Parses any `path.ext:NN`. */
export function parseGenericFrame(line: string): ParsedFrame | null {
  let from = 0;
  for (let colon = line.indexOf(':'); colon >= 0; colon = line.indexOf(':', colon + 1)) {
    const number = /^\d{1,9}(?!\d)/.exec(line.slice(colon + 1, colon + 12));
    if (number === null) continue;
    let start = colon;
    while (start > from && !PATH_END.test(line.charAt(start - 1))) start--;
    from = colon;
    const file = line.slice(start, colon);
    if (SOURCE_FILE.test(file) || (OTHER_FILE.test(file) && !HOST.test(file)))
      return createParsedFrame('generic', file, null, number[0]);
  }
  return null;
}
