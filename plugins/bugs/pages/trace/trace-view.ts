/**
 * Lines that are not frames become titles, notes or source lines. Input is limited as in grouping.
 */
import { parseFrames, type Frame } from '../../grouping/stack-trace.js';
import { collapseFrames, type FrameRow } from './collapsed-frames.js';
import { FrameOwnerIndex } from './frame-owners.js';
import { FrameValueIndex } from './frame-values.js';
import { detectLibrary } from './frame-libraries.js';
import { nestParts, type PartRelation, type TraceNode, type TracePart } from './exception-nesting.js';

export interface TraceView {
  parts: TracePart[];
  tree: TraceNode[];
  raw: string;
  mark: number | null;
}

export interface ReportedTraceData {
  file: string | null;
  line: number | null;
  owners: FrameOwnerIndex;
  values: FrameValueIndex;
}

const EMPTY_TRACE_DATA: ReportedTraceData = {
  file: null,
  line: null,
  owners: new FrameOwnerIndex(null),
  values: new FrameValueIndex(null),
};

export const buildRawTrace = (raw: string): TraceView => ({ parts: [], tree: [], raw, mark: null });

export function buildTrace(stack: string | null, stated: ReportedTraceData = EMPTY_TRACE_DATA): TraceView | null {
  if (stack === null || stack.trim() === '') return null;
  const text = normalizeLineEnds(stack);
  const frames = markFrame(parseFrames(text), stated);
  const mark = frames.find(({ crash }) => crash)?.line ?? null;
  if (frames.length === 0) return { ...buildRawTrace(stack), mark };
  const parts = new TraceParser(text.split('\n'), frames, stated).parse();
  for (const part of parts) part.rows = collapseFrames(part.rows);
  return { parts, tree: nestParts(parts), raw: stack, mark };
}

const normalizeLineEnds = (text: string): string => text.replace(/\r\n?/g, '\n');

/** Marks the reported file's frame, otherwise the first. */
function markFrame(frames: Frame[], { file, line }: ReportedTraceData): Frame[] {
  const named = file === null ? undefined : frames.find((frame) => isAt(frame, file, line));
  if (named !== undefined) for (const frame of frames) frame.crash = frame === named;
  return frames;
}

const isAt = (frame: Frame, file: string, line: number | null): boolean =>
  frame.file !== null &&
  (frame.line_no ?? 0) === (line ?? 0) &&
  (frame.file === file || frame.file.endsWith(`/${file}`) || file.endsWith(`/${frame.file}`));

/** Lines between Python exceptions, which relate the one above to the one below. */
const RELATIONS: readonly [pattern: RegExp, relation: string][] = [
  [/^During handling of the above exception/, 'While handling'],
  [/^The above exception was the (?:direct )?cause/, 'Caused by'],
];
/** .NET prints an exception's frames below those of its cause. */
const INNER_EXCEPTION_PATTERN = /^---> ?/;
const RELATION_PREFIXES: readonly [pattern: RegExp, relation: string, joins: PartRelation][] = [
  [/^Caused by:?\s*/i, 'Caused by', 'cause'],
  [/^Suppressed:\s*/, 'Suppressed', 'member'],
  [/^\[cause\]:\s*/, 'Caused by', 'cause'],
  [INNER_EXCEPTION_PATTERN, 'Caused by', 'cause'],
  [/^Member of the group:\s*/, 'Member of the group', 'member'],
  [/^Wrapped by:\s*/, 'Wrapped by', 'wrapper'],
];
const END_OF_INNER_PATTERN = /^--- End of inner exception stack trace ---$/;
const IGNORED_LINE_PATTERN =
  /^(?:\+ Exception Group )?(?:Traceback \(most recent call last\):|Stack trace:|stack backtrace:|(?:#\d+ )?\{main\}|[{}\]],?)$/;
/** Before each member of an exception group, numbered, and after the last. */
const GROUP_MEMBER_PATTERN = /^\+(?:-\+)?-{4,40}(?: (\d{1,4}|\.\.\.) -{4,40})?$/;
const BARS_PATTERN = /^[|\s]+/;
/** Group bars and the indentation of source. */
const GROUP_BAR_PATTERN = /^[|\s]*\|/;
const SOURCE_PATTERN = /^\s{4}/;
const HEADING_PATTERN = /^(?:goroutine \d+ |[\w.$\\:]*(?:Error|Exception|Warning|Panic|Failure)\b)/;
const MAX_SOURCE_LINES = 6;
const MAX_LINE_LENGTH = 2048;

class TraceParser {
  readonly #parts: TracePart[] = [];
  readonly #byLine: Map<number, Frame>;
  readonly #python: boolean;
  #part: TracePart = { relation: null, joins: null, level: 0, title: '', rows: [] };
  /** Their frames follow later (.NET). */
  readonly #outerParts: TracePart[] = [];
  readonly #listed = new Set<TracePart>();
  /** May name the function of the frame below (Go, Rust). */
  #pending: string | null = null;
  #ended = false;

  constructor(
    private readonly lines: readonly string[],
    frames: readonly Frame[],
    private readonly stated: ReportedTraceData,
  ) {
    this.#byLine = new Map(frames.map((frame) => [frame.line, frame]));
    this.#python = lines[frames[0]?.line ?? 0]?.includes('File "') === true;
  }

  parse(): TracePart[] {
    for (const [i, whole] of this.lines.entries()) {
      const raw = whole.length > MAX_LINE_LENGTH ? `${whole.slice(0, MAX_LINE_LENGTH)}…` : whole;
      const line = raw.trim();
      if (line === '') continue;
      const frame = this.#byLine.get(i) ?? parseBracedFrame(line);
      if (frame) this.#addFrame(frame, raw);
      else this.#addText(raw, line);
    }
    this.#flush();
    this.#closePart();
    return this.#parts;
  }

  #addFrame(frame: Frame, raw: string): void {
    const pending = this.#pending;
    const line = raw.trim();
    const header = parseHeader(line);
    if (header !== null) {
      this.#flush();
      if (this.#hasFrames) this.#beginPart(...(line.startsWith('Next ') ? (['Caused by', 'outer'] as const) : []));
      this.#setTitle(header);
    } else if (pending !== null) this.#claimPending(frame, pending);
    if (this.#ended) this.#beginPart();
    this.#pending = null;
    this.#part.rows.push(toFrameRow(frame, line, this.stated));
  }

  /** If the line above names the frame's function. */
  #claimPending(frame: Frame, pending: string): void {
    const numbered = /^\d{1,4}: +(.+)$/.exec(pending)?.[1];
    const named = numbered ?? pending;
    if (frame.function !== null && (named.startsWith(frame.function) || named.endsWith(` - ${frame.function}`))) return;
    if (frame.function === null && numbered !== undefined) frame.function = numbered;
    else this.#flush();
  }

  #addText(raw: string, whole: string): void {
    this.#flush();
    const line = this.#python ? whole.replace(BARS_PATTERN, '') : whole;
    const member = this.#python ? GROUP_MEMBER_PATTERN.exec(line) : null;
    if (member !== null) {
      if (member[1] !== undefined) this.#beginPart(`Member ${member[1]} of the group`, 'member', raw.indexOf('--'));
      return;
    }
    const relation = RELATIONS.find(([pattern]) => pattern.test(line))?.[1];
    if (relation !== undefined) {
      this.#beginPart(relation, 'outer', this.#python ? (BARS_PATTERN.exec(raw)?.[0].lastIndexOf('|') ?? -1) + 1 : 0);
      return;
    }
    if (IGNORED_LINE_PATTERN.test(line)) return;
    if (END_OF_INNER_PATTERN.test(line) && this.#reopenOuter()) return;
    const last = this.#part.rows.at(-1);
    if (
      this.#python &&
      last?.kind === 'frame' &&
      SOURCE_PATTERN.test(raw.replace(GROUP_BAR_PATTERN, '')) &&
      last.source.length < MAX_SOURCE_LINES
    ) {
      last.source.push(raw);
      return;
    }
    const named = RELATION_PREFIXES.find(([pattern]) => pattern.test(line));
    if (named !== undefined) {
      const [pattern, words, joins] = named;
      if (pattern === INNER_EXCEPTION_PATTERN) this.#outerParts.push(this.#part);
      this.#beginPart(words, joins, raw.length - raw.trimStart().length);
      this.#setTitle(line.replace(pattern, ''));
    } else if (this.#python && this.#hasFrames) this.#addException(line);
    else if (this.#hasFrames && HEADING_PATTERN.test(line)) {
      this.#beginPart();
      this.#setTitle(line);
    } else this.#pending = line;
  }

  #addException(line: string): void {
    const text = line.replace(/^[|+\s-]+/, '');
    if (text === '') return;
    this.#setTitle(text);
    this.#ended = true;
  }

  #setTitle(text: string): void {
    this.#part.title = this.#part.title === '' ? text : `${this.#part.title}\n${text}`;
  }

  #flush(): void {
    const text = this.#pending;
    this.#pending = null;
    if (text === null) return;
    if (this.#hasFrames) this.#part.rows.push({ kind: 'note', text });
    else this.#setTitle(text);
  }

  get #hasFrames(): boolean {
    return this.#part.rows.length > 0;
  }

  #beginPart(relation: string | null = null, joins: PartRelation | null = null, level = 0): void {
    this.#closePart();
    this.#part = { relation, joins, level, title: '', rows: [] };
    this.#ended = false;
  }

  #closePart(): void {
    if ((this.#part.title === '' && this.#part.rows.length === 0) || this.#listed.has(this.#part)) return;
    this.#parts.push(this.#part);
    this.#listed.add(this.#part);
  }

  #reopenOuter(): boolean {
    const outside = this.#outerParts.pop();
    if (outside === undefined) return false;
    this.#closePart();
    this.#part = outside;
    return true;
  }
}

/** Before an error's properties: `at f (a.js:1:2) {`. */
function parseBracedFrame(line: string): Frame | null {
  const frame = line.startsWith('at ') && line.endsWith(' {') ? parseFrames(line.slice(0, -2))[0] : undefined;
  return frame === undefined ? null : { ...frame, crash: false };
}

/** PHP's `X: text in a.php:3`, Ruby's `a.rb:3:in 'f': text (X)`. */
function parseHeader(line: string): string | null {
  if (line.startsWith('at ')) return null;
  const php = !line.includes(' in ')
    ? null
    : /^(?!#|at )(?:Next |PHP )?(.+) in \S+\.\w+(?::\d+| on line \d+)$/.exec(line);
  if (php?.[1] !== undefined) return php[1];
  if (!line.includes(':in ')) return null;
  return /:in ['`][^']{0,300}': (.+)$/.exec(line)?.[1] ?? null;
}

/** Engine code: `at Array.map (<anonymous>)`, `at async Promise.all (index 0)`. */
const NATIVE_FRAME_PATTERN = /^at .* \((?:<anonymous>|native|index \d+)\)$/;
const PLACE_PATTERN = /^["']?(?:, line (\d+)|[:(](\d+)(?:[:,](\d+))?)/;

/** Prefers the reported library; null for application code. */
function findLibrary({ file, function: name, line_no }: Frame, line: string, owners: FrameOwnerIndex): string | null {
  const owner = owners.find(file, line_no);
  if (owner?.own === true) return null;
  return NATIVE_FRAME_PATTERN.test(line) ? 'built-in' : (detectLibrary(file, name) ?? owner?.name ?? null);
}

function toFrameRow(frame: Frame, line: string, { owners, values }: ReportedTraceData): FrameRow {
  const { file, function: name, line_no, crash } = frame;
  const path = file ?? '';
  const cut = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1;
  const base = path.slice(cut);
  const whole = path !== '' && line.includes(path);
  const at = line.lastIndexOf(whole ? path : base) + (whole ? path.length : base.length);
  const [, python, number, column] = PLACE_PATTERN.exec(line.slice(at)) ?? [];
  const found = python ?? number ?? (line_no === null ? null : String(line_no));
  return {
    kind: 'frame',
    name,
    // Java's folder derives from the class, which the function shows.
    folder: whole ? path.slice(0, cut) : '',
    file: base,
    at: found === null ? '' : `:${found}${column === undefined ? '' : `:${column}`}`,
    mark: crash,
    library: crash ? null : findLibrary(frame, line, owners),
    source: [],
    value: values.find(file, line_no, crash),
  };
}
