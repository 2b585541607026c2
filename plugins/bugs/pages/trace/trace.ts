/**
 * A stack trace as the page shows it: one part per exception of a chain, frames with the first one marked (the frame
 * that the grouping uses), runs of library frames folded. No line is lost: what is no frame is a title, a note, or the
 * source that belongs to a frame; and the page also has the raw text. Pure, linear, capped as the grouping's reader is.
 */
import { parseFrames, type Frame } from '../../grouping/frames.js';
import { folded, type ShownFrame } from './folds.js';
import { FrameOwners } from './frame-owners.js';
import { FrameValues } from './frame-values.js';
import { libraryOf } from './libraries.js';
import { nested, type Joins, type TraceNode, type TracePart } from './nesting.js';

export interface Trace {
  /** In the text's order; none for a text without frames, which is shown as it came. */
  parts: TracePart[];
  /** The parts as they nest. */
  tree: TraceNode[];
  raw: string;
  /** Line of the first frame in the raw text, from 0, with line ends as the page shows them. */
  mark: number | null;
}

/** Statements of the report about its trace, beside the text. */
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

/** A trace that is shown as its text alone. */
export const rawTrace = (raw: string): Trace => ({ parts: [], tree: [], raw, mark: null });

/** The trace; null for an empty text. */
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

/**
 * The frame that the report's own file names, which the grouping prefers, where the text has it; else the first frame.
 */
function marked(frames: Frame[], { file, line }: Stated): Frame[] {
  const named = file === null ? undefined : frames.find((frame) => isAt(frame, file, line));
  if (named !== undefined) for (const frame of frames) frame.crash = frame === named;
  return frames;
}

const isAt = (frame: Frame, file: string, line: number | null): boolean =>
  frame.file !== null &&
  (frame.line_no ?? 0) === (line ?? 0) &&
  (frame.file === file || frame.file.endsWith(`/${file}`) || file.endsWith(`/${frame.file}`));

/** Lines of Python between two exceptions: what the one above is to the one below, in which it is shown. */
const RELATIONS: readonly [pattern: RegExp, relation: string][] = [
  [/^During handling of the above exception/, 'While handling'],
  [/^The above exception was the (?:direct )?cause/, 'Caused by'],
];
/** .NET prints the frames of an exception below those of what caused it. */
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
/** Lines that only announce parts of the page. */
const SILENT =
  /^(?:\+ Exception Group )?(?:Traceback \(most recent call last\):|Stack trace:|stack backtrace:|(?:#\d+ )?\{main\}|[{}\]],?)$/;
/** Python's line before each member of an exception group, with its number, and at the end without. */
const MEMBER = /^\+(?:-\+)?-{4,40}(?: (\d{1,4}|\.\.\.) -{4,40})?$/;
const BARS = /^[|\s]+/;
/** The bars of a group before a line, and the indent of source below its frame. */
const FRAMED = /^[|\s]*\|/;
const SOURCE = /^\s{4}/;
const HEADING = /^(?:goroutine \d+ |[\w.$\\:]*(?:Error|Exception|Warning|Panic|Failure)\b)/;
const MAX_SOURCE = 6;
/** Characters of a line; the raw text has the rest. */
const MAX_LINE_LENGTH = 2048;

class Reader {
  readonly #parts: TracePart[] = [];
  readonly #byLine: Map<number, Frame>;
  readonly #python: boolean;
  #part: TracePart = { relation: null, joins: null, level: 0, title: '', rows: [] };
  /** Exceptions of .NET whose frames are still to come. */
  readonly #outside: TracePart[] = [];
  readonly #listed = new Set<TracePart>();
  /** A line that may name the function of the frame below it (Go, Rust). */
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

  /** Gives the line above to the frame when it names the frame's function; else it is a line of its own. */
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

  /** Takes the exception's line, which Python writes below its frames. */
  #exception(line: string): void {
    const text = line.replace(/^[|+\s-]+/, '');
    if (text === '') return;
    this.#titled(text);
    this.#ended = true;
  }

  #titled(text: string): void {
    this.#part.title = this.#part.title === '' ? text : `${this.#part.title}\n${text}`;
  }

  /** Takes lines that no frame claimed: the exception above the frames, or a note among them. */
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

  /** Goes back to the exception around the one whose frames have ended. */
  #reopened(): boolean {
    const outside = this.#outside.pop();
    if (outside === undefined) return false;
    this.#close();
    this.#part = outside;
    return true;
  }
}

/** Node ends the last frame before the properties of an error with a brace: `at f (a.js:1:2) {`. */
function braced(line: string): Frame | null {
  const frame = line.startsWith('at ') && line.endsWith(' {') ? parseFrames(line.slice(0, -2))[0] : undefined;
  return frame === undefined ? null : { ...frame, crash: false };
}

/** The header in a frame's line: PHP's `X: text in a.php:3`, Ruby's `a.rb:3:in 'f': text (X)`. */
function headerOf(line: string): string | null {
  if (line.startsWith('at ')) return null;
  const php = !line.includes(' in ')
    ? null
    : /^(?!#|at )(?:Next |PHP )?(.+) in \S+\.\w+(?::\d+| on line \d+)$/.exec(line);
  if (php?.[1] !== undefined) return php[1];
  if (!line.includes(':in ')) return null;
  return /:in ['`][^']{0,300}': (.+)$/.exec(line)?.[1] ?? null;
}

/** Code of the engine itself: `at Array.map (<anonymous>)`, `at async Promise.all (index 0)`. */
const NATIVE = /^at .* \((?:<anonymous>|native|index \d+)\)$/;
const PLACE = /^["']?(?:, line (\d+)|[:(](\d+)(?:[:,](\d+))?)/;

/** The library, as the report states it or as the frame's place suggests; null for the application's own code. */
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
    // Java's folder is made from the class, which the function's name already shows.
    folder: whole ? path.slice(0, cut) : '',
    file: base,
    at: found === null ? '' : `:${found}${column === undefined ? '' : `:${column}`}`,
    mark: crash,
    library: crash ? null : librariesOf(frame, line, owners),
    source: [],
    value: values.of(file, line_no, crash),
  };
}
