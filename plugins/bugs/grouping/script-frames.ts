import { createParsedFrame, LINE_SUFFIX, type ParsedFrame } from './parsed-frame.js';

const PYTHON_INDENT = /^[|+\s]{0,40}$/;
const PYTHON_FILE = 'File "';
const PYTHON_LINE = '", line ';
const PYTHON_REST = /^(\d{1,9})(?:,? in (.{1,300}))?/;

/** `File "/app/a.py", line 12, in add`; exception groups prefix bars. */
export function parsePythonFrame(line: string): ParsedFrame | null {
  const head = line.indexOf(PYTHON_FILE);
  if (head < 0 || (head > 0 && !PYTHON_INDENT.test(line.slice(0, head)))) return null;
  const start = head + PYTHON_FILE.length;
  const close = line.indexOf(PYTHON_LINE, start);
  if (close < 0) return null;
  const rest = PYTHON_REST.exec(line.slice(close + PYTHON_LINE.length));
  return rest === null ? null : createParsedFrame('python', line.slice(start, close), rest[2]?.trim() ?? null, rest[1]);
}

/** `/app/main.go:12 +0x1d`. */
export function parseGoFrame(line: string): ParsedFrame | null {
  const at = line.lastIndexOf('.go:');
  const rest = /^(\d{1,9})(?: \+0x[0-9a-f]{1,16})?$/.exec(line.slice(at + 4));
  const file = line.slice(0, at + 3);
  return rest === null || file.includes(' ') ? null : createParsedFrame('go', file, null, rest[1]);
}

const PHP_INTERNAL = '[internal function]: ';

/** `#0 /app/a.php(12): f()`, and Dart and debuggers. */
export function parseNumberedFrame(line: string): ParsedFrame | null {
  const number = /^#\d{1,6}\s{1,8}/.exec(line);
  if (number === null) return null;
  const rest = line.slice(number[0].length);
  if (rest.startsWith(PHP_INTERNAL)) return createParsedFrame('php', null, rest.slice(PHP_INTERNAL.length), null);
  const php = rest.includes('): ') ? /\((\d{1,9})\): /.exec(rest) : null;
  if (php !== null)
    return createParsedFrame('php', rest.slice(0, php.index), rest.slice(php.index + php[0].length), php[1]);
  return parseNumberedPlace(rest);
}

/** Dart `main (package:app/a.dart:12:3)`, GDB `0x… in f (x=1) at a.c:12` */
function parseNumberedPlace(rest: string): ParsedFrame | null {
  const open = rest.endsWith(')') ? rest.lastIndexOf(' (') : rest.lastIndexOf(' at ');
  if (open < 0) return null;
  const place = rest.endsWith(')') ? rest.slice(open + 2, -1) : rest.slice(open + 4);
  const tail = LINE_SUFFIX.exec(place);
  return tail === null
    ? null
    : createParsedFrame('generic', place.slice(0, tail.index), rest.slice(0, open).trim(), tail[1]);
}

const PHP_FILE = /^(?:[A-Za-z]:)?[^:]{1,1000}\.(?:php\d?|phtml|inc|module|install|theme|phar)$/i;

/** `RuntimeException: text in /app/a.php:12` and `… in /app/a.php on line 12`. */
export function parsePhpHeader(line: string): ParsedFrame | null {
  const spoken = / on line (\d{1,9})$/.exec(line);
  const tail = spoken ?? /:(\d{1,9})$/.exec(line);
  if (tail === null) return null;
  const before = line.slice(0, tail.index);
  const start = before.lastIndexOf(' in ');
  const file = before.slice(start + 4);
  if (start < 0 || !PHP_FILE.test(file)) return null;
  const header = createParsedFrame('php-header', file, null, tail[1]);
  header.next = line.startsWith('Next ');
  return header;
}

/**
 * `thread 'main' panicked at src/main.rs:12:5:`; before Rust 1.73 `panicked at 'text',
 * src/main.rs:12:5`.
 */
export function parseRustFrame(line: string): ParsedFrame | null {
  const place = line.endsWith(':') ? line.slice(0, -1) : line;
  const tail = LINE_SUFFIX.exec(place);
  if (tail === null) return null;
  const before = place.slice(0, tail.index);
  const start = before.lastIndexOf(' ');
  return createParsedFrame('rust', before.slice(start + 1), null, tail[1]);
}

const POWERSHELL_FILE = /\.psm?1$/i;

/** Parses PowerShell frames in any language: `Pay, C:\app\cart.ps1: line 12`. */
export function parsePowershellFrame(rest: string): ParsedFrame | null {
  const end = rest.lastIndexOf(': ');
  const start = rest.lastIndexOf(', ', end);
  const number = start < 0 ? null : /^\D{1,24}(\d{1,9})$/.exec(rest.slice(end + 2));
  const file = rest.slice(start + 2, end);
  return number === null || !POWERSHELL_FILE.test(file)
    ? null
    : createParsedFrame('generic', file, rest.slice(0, start), number[1]);
}

const RUBY_HEAD = /^(?:(?:from|\d{1,6}: from) )?/;

/** `/app/a.rb:12:in 'add': text (RuntimeError)`, `from /app/b.rb:3:in …` */
export function parseRubyFrame(line: string): ParsedFrame | null {
  const mark = line.indexOf(':in ');
  const tail = /:(\d{1,9})$/.exec(line.slice(0, mark));
  const head = RUBY_HEAD.exec(line)?.[0].length ?? 0;
  if (tail === null || tail.index <= head) return null;
  const name = /^['`]([^']{1,300})'/.exec(line.slice(mark + 4));
  return createParsedFrame('ruby', line.slice(head, tail.index), name?.[1] ?? null, tail[1]);
}

/** `Died at /app/a.pl line 12.`, `main::f(1) called at /app/a.pl line 20` */
export function parsePerlFrame(line: string): ParsedFrame | null {
  const tail = /(?<= line (\d{1,9}))(?:, <[^>]{1,40}> (?:line|chunk) \d{1,9})?\.?$/.exec(line);
  if (tail === null) return null;
  const before = line.slice(0, line.lastIndexOf(' line ', tail.index));
  const start = before.lastIndexOf(' at ');
  const file = before.slice(start + 4);
  if (start < 0 || (file.includes(' ') && !/[\\/.]/.test(file)) || file === '') return null;
  const name = before.slice(0, start).endsWith(' called') ? before.slice(0, start - 7) : null;
  return createParsedFrame('perl', file.startsWith('(eval ') ? null : file, name, tail[1]);
}

const SHELL_FILE = /^[^\s:]{1,500}$/;

/** `deploy.sh:26 in build`, `./deploy.sh: line 12: foo: command not found` */
export function parseShellFrame(line: string): ParsedFrame | null {
  const spoken = /^([^\s:]{1,500}): line (\d{1,9}): /.exec(line);
  if (spoken !== null) return createParsedFrame('shell', spoken[1] ?? null, null, spoken[2]);
  const mark = line.indexOf(' in ');
  if (mark < 0) return null;
  const tail = /:(\d{1,9})$/.exec(line.slice(0, mark));
  const file = tail === null ? '' : line.slice(line.lastIndexOf(' ', tail.index) + 1, tail.index);
  return SHELL_FILE.test(file) ? createParsedFrame('shell', file, line.slice(mark + 4), tail?.[1]) : null;
}
