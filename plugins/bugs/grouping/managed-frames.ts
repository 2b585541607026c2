/**
 * V8, Java and .NET all may start with `at ` (contract 21, first frame): V8 has a blank before its
 * parentheses, Java a file inside, .NET parameters.
 */
import { createParsedFrame, LINE_SUFFIX, type ParsedFrame } from './parsed-frame.js';
import { parsePowershellFrame } from './script-frames.js';

export function parseAtFrame(given: string): ParsedFrame | null {
  const rest = given.endsWith(']') ? given.replace(PACKAGE_SUFFIX, '') : given;
  const java = rest.endsWith(')') ? parseJavaFrame(rest) : null;
  if (java !== null) return java;
  const mono = MONO_FRAME.exec(rest);
  if (mono !== null) return parseMonoFrame(mono);
  const open = rest.indexOf('(');
  if (open > 0 && rest.charAt(open - 1) !== ' ' && !LINE_SUFFIX.test(rest.slice(0, open))) {
    const method = parseDotnetMethod(rest);
    if (method !== null) return method;
  }
  return (rest.endsWith(')') ? null : parsePowershellFrame(rest)) ?? parseV8Frame(rest);
}

/** Of Logback and Log4j: ` ~[shop-1.4.2.jar!/:1.4.2]`. */
const PACKAGE_SUFFIX = /\s{1,4}~?\[[^[\]]{0,300}\]$/;

const V8_WORDS = /^(?:async |new )+/;
/** React Native's engine: `pay (address at index.android.bundle:1:23)`. */
const HERMES_PREFIX = 'address at ';

function parseV8Frame(rest: string): ParsedFrame | null {
  const open = rest.endsWith(')') ? rest.indexOf(' (') : -1;
  const name = open < 0 ? null : rest.slice(0, open).replace(V8_WORDS, '');
  const place = open < 0 ? rest.replace(V8_WORDS, '') : rest.slice(open + 2, -1);
  if (place.startsWith('eval at ')) return parseEvalFrame(place, name);
  const tail = LINE_SUFFIX.exec(place);
  const start = place.startsWith(HERMES_PREFIX) ? HERMES_PREFIX.length : 0;
  if (tail !== null) return createParsedFrame('v8', place.slice(start, tail.index), name, tail[1]);
  return open >= 0 || place.startsWith('<') ? createParsedFrame('v8', null, name ?? place, null) : null;
}

/** Returns the outermost file: `eval at f (/srv/a.js:10:5), <anonymous>:1:1`. */
function parseEvalFrame(place: string, name: string | null): ParsedFrame {
  const open = place.lastIndexOf('(');
  const close = place.indexOf(')', open);
  const origin = open < 0 || close < 0 ? '' : place.slice(open + 1, close);
  const tail = LINE_SUFFIX.exec(origin);
  return tail === null
    ? createParsedFrame('v8', null, name, null)
    : createParsedFrame('v8', origin.slice(0, tail.index), name, tail[1]);
}

const JAVA_PLACE =
  /^(?:([\w$.-]{1,200}\.[A-Za-z]{1,10})(?::(\d{1,9}))?|SourceFile(?::(\d{1,9}))?|Native Method|Unknown Source(?::\d{1,9})?|<generated>|[\w$-]{1,200}:(\d{1,9}))$/;

/** `module/com.acme.Pool$Inner.get(Pool.java:88)` becomes com/acme/Pool.java. */
function parseJavaFrame(rest: string): ParsedFrame | null {
  const open = rest.lastIndexOf('(');
  if (open <= 0 || rest.charAt(open - 1) === ' ') return null;
  const place = JAVA_PLACE.exec(rest.slice(open + 1, -1));
  if (place === null) return null;
  const qualified = rest.slice(rest.lastIndexOf('/', open) + 1, open);
  const parts = qualified.split('.');
  if (parts.length < 2 || (place[1] !== undefined && !isJavaFile(place[1], place[2]))) return null;
  parts.pop();
  const type = parts.pop() ?? '';
  const file = place[1] ?? `${type.split('$')[0]}.java`;
  return createParsedFrame('java', [...parts, file].join('/'), qualified, place[2] ?? place[3] ?? place[4]);
}

const JAVA_FILE = /\.(?:java|kts?|scala|groovy|cljc?|jav|gradle|jsp|js|rb|py)$/i;
const isJavaFile = (file: string, line: string | undefined): boolean => line !== undefined || JAVA_FILE.test(file);

/** Localized: `bei …`, `à …`, `в …`, `場所 …`. */
export function parseDotnetFrame(line: string): ParsedFrame | null {
  const blank = line.indexOf(' ');
  if (blank < 1 || blank > 12 || !/^[\p{L}\p{M}]+:?$/u.test(line.slice(0, blank))) return null;
  const rest = line.slice(blank + 1).trimStart();
  const open = rest.indexOf('(');
  if (open <= 0 || !rest.slice(0, open).includes('.')) return null;
  return parseDotnetMethod(rest);
}

const IL_OFFSET =
  /^\+ 0x[0-9a-f]{1,16}|^(?:in <[^>]{1,200}>(?::(?:line )?\d{1,9})?|IL_[0-9a-f]{1,8}|\[0x[0-9a-f]{1,16}\])$/;
const DOTNET_METHOD = /^[\p{L}_<][\p{L}\p{N}_.`<>+$|,[\]@&-]*$/u;
const DOTNET_PLACE = /:[^\d:\\/.]{0,24}(\d{1,9})\.?$/;
const PATH_START = /(?:^|[\s:])((?:[A-Za-z]:)?[\\/]|[\p{L}\p{N}_.-]{1,100}[\\/])/u;

/**
 * Mono and Unity: `Acme.Job.Run (System.Int32 x) [0x0001f] in <3f25…>:0`, `Job.Run () (at
 * Assets/Job.cs:12)`.
 */
const MONO_FRAME =
  /^([\p{L}_<][\p{L}\p{N}_.`<>+$|,/:@-]{0,500}) \([^()]{0,500}\) ?(?:\[0x[0-9a-f]{1,16}\] in (.{1,1000}?):\d{1,9}|\(at (.{1,1000}?):\d{1,9}\)|\+ 0x[0-9a-f]{1,16}) ?$/u;
const MONO_LINE = /:(\d{1,9})\)? ?$/;

function parseMonoFrame(found: RegExpExecArray): ParsedFrame {
  const file = found[2] ?? found[3] ?? '<unknown>';
  const isNamed = !file.startsWith('<');
  return createParsedFrame(
    'dotnet',
    isNamed ? file : null,
    found[1] ?? null,
    isNamed ? MONO_LINE.exec(found[0])?.[1] : null,
  );
}

/**
 * `Acme.Order.Load(Guid id) in C:\src\Order.cs:line 42`; without a file, the method is the place.
 */
function parseDotnetMethod(rest: string): ParsedFrame | null {
  const open = rest.indexOf('(');
  const close = rest.indexOf(')', open);
  const name = rest.slice(0, open);
  if (close < 0 || !DOTNET_METHOD.test(name)) return null;
  const place = rest
    .slice(close + 1)
    .trim()
    .replace(IL_OFFSET, '');
  if (place === '') return name.includes('.') ? createParsedFrame('dotnet', null, name, null) : null;
  const tail = DOTNET_PLACE.exec(place);
  const start = PATH_START.exec(place);
  if (tail === null || start === null || start.index >= tail.index) return null;
  return createParsedFrame(
    'dotnet',
    place.slice(start.index + start[0].length - (start[1] ?? '').length, tail.index),
    name,
    tail[1],
  );
}
