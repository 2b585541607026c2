/**
 * Parses a stack trace for display. No line is lost: lines that are not frames become titles, notes
 * or source lines. Input is limited as in grouping.
 */
import { parseFrames, type Frame } from '../../grouping/frames.js';
import { folded, type ShownFrame } from './folds.js';
import { FrameOwners } from './frame-owners.js';
import { FrameValues } from './frame-values.js';
import { libraryOf } from './libraries.js';
import { nested, type Joins, type TraceNode, type TracePart } from './nesting.js';

export interface Trace {
  parts: TracePart[];
  tree: TraceNode[];
  raw: string;
  mark: number | null;
}

export interface Stated {
  file: string | null;
  line: number | null;
  owners: FrameOwners;
  values: FrameValues;
}

const NOTHING: Stated = {
  file: null,
  line: null,
  owners: new FrameOwners(null),
  values: new FrameValues(null),
};

export const rawTrace = (raw: string): Trace => ({ parts: [], tree: [], raw, mark: null });

export function traceOf(stack: string | null, stated: Stated = NOTHING): Trace | null {
  if (stack === null || stack.trim() === '') return null;
  const text = unixLines(stack);
  const frames = marked(parseFrames(text), stated);
  const mark = frames.find(({ crash }) => crash)?.line ?? null;
  if (frames.length === 0) return { ...rawTrace(stack), mark };
  const parts = new Reader(text.split('\n'), frames, stated).read();
  for (const part of parts) part.rows = folded(part.rows);
  return { parts, tree: nested(parts), raw: stack, mark };
}

const unixLines = (text: string): string => text.replace(/\r\n?/g, '\n');

/** Marks the frame of the reported file, which grouping prefers, otherwise the first frame. */
function marked(frames: Frame[], { file, line }: Stated): Frame[] {
  const named = file === null ? undefined : frames.find((frame) => isAt(frame, file, line));
  if (named !== undefined) for (const frame of frames) frame.crash = frame === named;
  return frames;
}

const isAt = (frame: Frame, file: string, line: number | null): boolean =>
  frame.file !== null &&
  (frame.line_no ?? 0) === (line ?? 0) &&
  (frame.file === file || frame.file.endsWith(`/${file}`) || file.endsWith(`/${frame.file}`));

/**
 * Python lines between exceptions, which define how the exception above relates to the one below.
 */
const RELATIONS: readonly [pattern: RegExp, relation: string][] = [
  [/^During handling of the above exception/, 'While handling'],
  [/^The above exception was the (?:direct )?cause/, 'Caused by'],
];
/** .NET prints an exception's frames below those of its cause. */
const INNER = /^---> ?/;
const NAMED: readonly [pattern: RegExp, relation: string, joins: Joins][] = [
  [/^Caused by:?\s*/i, 'Caused by', 'cause'],
  [/^Suppressed:\s*/, 'Suppressed', 'member'],
  [/^\[cause\]:\s*/, 'Caused by', 'cause'],
  [INNER, 'Caused by', 'cause'],
  [/^Member of the group:\s*/, 'Member of the group', 'member'],
  [/^Wrapped by:\s*/, 'Wrapped by', 'wrapper'],
];
const END_OF_INNER = /^--- End of inner exception stack trace ---$/;
const SILENT =
  /^(?:\+ Exception Group )?(?:Traceback \(most recent call last\):|Stack trace:|stack backtrace:|(?:#\d+ )?\{main\}|[{}\]],?)$/;
/**
 * Python's separator before each member of an exception group, numbered, and after the last one.
 */
const MEMBER = /^\+(?:-\+)?-{4,40}(?: (\d{1,4}|\.\.\.) -{4,40})?$/;
const BARS = /^[|\s]+/;
/** Group bars before a line, and the indentation of source below its frame. */
const FRAMED = /^[|\s]*\|/;
const SOURCE = /^\s{4}/;
const HEADING = /^(?:goroutine \d+ |[\w.$\\:]*(?:Error|Exception|Warning|Panic|Failure)\b)/;
const MAX_SOURCE = 6;
const MAX_LINE_LENGTH = 2048;

class Reader {
  readonly #parts: TracePart[] = [];
  readonly #byLine: Map<number, Frame>;
  readonly #python: boolean;
  #part: TracePart = { relation: null, joins: null, level: 0, title: '', rows: [] };
  /** .NET exceptions whose frames follow later. */
  readonly #outside: TracePart[] = [];
  readonly #listed = new Set<TracePart>();
  /** Line that may name the function of the frame below (Go, Rust). */
  #pending: string | null = null;
  #ended = false;

  constructor(
    private readonly lines: readonly string[],
    frames: readonly Frame[],
    private readonly stated: Stated,
  ) {
    this.#byLine = new Map(frames.map((frame) => [frame.line, frame]));
    this.#python = lines[frames[0]?.line ?? 0]?.includes('File "') === true;
  }

  read(): TracePart[] {
    for (const [i, whole] of this.lines.entries()) {
      const raw = whole.length > MAX_LINE_LENGTH ? `${whole.slice(0, MAX_LINE_LENGTH)}…` : whole;
      const line = raw.trim();
      if (line === '') continue;
      const frame = this.#byLine.get(i) ?? braced(line);
      if (frame) this.#frame(frame, raw);
      else this.#text(raw, line);
    }
    this.#flush();
    this.#close();
    return this.#parts;
  }

  #frame(frame: Frame, raw: string): void {
    const pending = this.#pending;
    const line = raw.trim();
    const header = headerOf(line);
    if (header !== null) {
      this.#flush();
      if (this.#hasFrames) this.#begin(...(line.startsWith('Next ') ? (['Caused by', 'outer'] as const) : []));
      this.#titled(header);
    } else if (pending !== null) this.#claim(frame, pending);
    if (this.#ended) this.#begin();
    this.#pending = null;
    this.#part.rows.push(shownFrame(frame, line, this.stated));
  }

  /**
   * Adds the line above to the frame if it names the frame's function; otherwise it stays a
   * separate line.
   */
  #claim(frame: Frame, pending: string): void {
    const numbered = /^\d{1,4}: +(.+)$/.exec(pending)?.[1];
    const named = numbered ?? pending;
    if (frame.function !== null && (named.startsWith(frame.function) || named.endsWith(` - ${frame.function}`))) return;
    if (frame.function === null && numbered !== undefined) frame.function = numbered;
    else this.#flush();
  }

  #text(raw: string, whole: string): void {
    this.#flush();
    const line = this.#python ? whole.replace(BARS, '') : whole;
    const member = this.#python ? MEMBER.exec(line) : null;
    if (member !== null) {
      if (member[1] !== undefined) this.#begin(`Member ${member[1]} of the group`, 'member', raw.indexOf('--'));
      return;
    }
    const relation = RELATIONS.find(([pattern]) => pattern.test(line))?.[1];
    if (relation !== undefined) {
      this.#begin(relation, 'outer', this.#python ? (BARS.exec(raw)?.[0].lastIndexOf('|') ?? -1) + 1 : 0);
      return;
    }
    if (SILENT.test(line)) return;
    if (END_OF_INNER.test(line) && this.#reopened()) return;
    const last = this.#part.rows.at(-1);
    if (
      this.#python &&
      last?.kind === 'frame' &&
      SOURCE.test(raw.replace(FRAMED, '')) &&
      last.source.length < MAX_SOURCE
    ) {
      last.source.push(raw);
      return;
    }
    const named = NAMED.find(([pattern]) => pattern.test(line));
    if (named !== undefined) {
      const [pattern, words, joins] = named;
      if (pattern === INNER) this.#outside.push(this.#part);
      this.#begin(words, joins, raw.length - raw.trimStart().length);
      this.#titled(line.replace(pattern, ''));
    } else if (this.#python && this.#hasFrames) this.#exception(line);
    else if (this.#hasFrames && HEADING.test(line)) {
      this.#begin();
      this.#titled(line);
    } else this.#pending = line;
  }

  #exception(line: string): void {
    const text = line.replace(/^[|+\s-]+/, '');
    if (text === '') return;
    this.#titled(text);
    this.#ended = true;
  }

  #titled(text: string): void {
    this.#part.title = this.#part.title === '' ? text : `${this.#part.title}\n${text}`;
  }

  #flush(): void {
    const text = this.#pending;
    this.#pending = null;
    if (text === null) return;
    if (this.#hasFrames) this.#part.rows.push({ kind: 'note', text });
    else this.#titled(text);
  }

  get #hasFrames(): boolean {
    return this.#part.rows.length > 0;
  }

  #begin(relation: string | null = null, joins: Joins | null = null, level = 0): void {
    this.#close();
    this.#part = { relation, joins, level, title: '', rows: [] };
    this.#ended = false;
  }

  #close(): void {
    if ((this.#part.title === '' && this.#part.rows.length === 0) || this.#listed.has(this.#part)) return;
    this.#parts.push(this.#part);
    this.#listed.add(this.#part);
  }

  #reopened(): boolean {
    const outside = this.#outside.pop();
    if (outside === undefined) return false;
    this.#close();
    this.#part = outside;
    return true;
  }
}

/** Node ends the last frame before an error's properties with a brace: `at f (a.js:1:2) {`. */
function braced(line: string): Frame | null {
  const frame = line.startsWith('at ') && line.endsWith(' {') ? parseFrames(line.slice(0, -2))[0] : undefined;
  return frame === undefined ? null : { ...frame, crash: false };
}

/**
 * Returns the header in a frame's line: PHP's `X: text in a.php:3`, Ruby's `a.rb:3:in 'f': text
 * (X)`.
 */
function headerOf(line: string): string | null {
  if (line.startsWith('at ')) return null;
  const php = !line.includes(' in ')
    ? null
    : /^(?!#|at )(?:Next |PHP )?(.+) in \S+\.\w+(?::\d+| on line \d+)$/.exec(line);
  if (php?.[1] !== undefined) return php[1];
  if (!line.includes(':in ')) return null;
  return /:in ['`][^']{0,300}': (.+)$/.exec(line)?.[1] ?? null;
}

/** Engine code: `at Array.map (<anonymous>)`, `at async Promise.all (index 0)`. */
const NATIVE = /^at .* \((?:<anonymous>|native|index \d+)\)$/;
const PLACE = /^["']?(?:, line (\d+)|[:(](\d+)(?:[:,](\d+))?)/;

/** Returns the library, as reported or detected from the path; null for application code. */
function librariesOf({ file, function: name, line_no }: Frame, line: string, owners: FrameOwners): string | null {
  const owner = owners.of(file, line_no);
  if (owner?.own === true) return null;
  return NATIVE.test(line) ? 'built-in' : (libraryOf(file, name) ?? owner?.name ?? null);
}

function shownFrame(frame: Frame, line: string, { owners, values }: Stated): ShownFrame {
  const { file, function: name, line_no, crash } = frame;
  const path = file ?? '';
  const cut = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1;
  const base = path.slice(cut);
  const whole = path !== '' && line.includes(path);
  const at = line.lastIndexOf(whole ? path : base) + (whole ? path.length : base.length);
  const [, python, number, column] = PLACE.exec(line.slice(at)) ?? [];
  const found = python ?? number ?? (line_no === null ? null : String(line_no));
  return {
    kind: 'frame',
    name,
    // Java's folder derives from the class, which the function name already shows.
    folder: whole ? path.slice(0, cut) : '',
    file: base,
    at: found === null ? '' : `:${found}${column === undefined ? '' : `:${column}`}`,
    mark: crash,
    library: crash ? null : librariesOf(frame, line, owners),
    source: [],
    value: values.of(file, line_no, crash),
  };
}
