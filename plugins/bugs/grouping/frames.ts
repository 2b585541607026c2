/**
 * A stack trace as frames, in the text's order, with the frame marked where the error comes from (contract 21, first
 * frame). Pure, linear, capped. The user interface marks the same frame that the grouping uses.
 *
 * A report need not name a language. Each line shows its own (forms.ts), and the first frame of the text decides which
 * language's rule finds the crash. Rejected: skipping frames of libraries (the specification says first).
 */
import { findRustMachinery } from '../../../lib/text/rust-frames.js';
import { findInnerError } from '../../../lib/text/wrapped-errors.js';
import type { Form, LineKind } from './form.js';
import { parseFrameLine, parseGenericFrame } from './forms.js';
import { findCrashFrame } from './native-crashes.js';
import { parsePythonFrame } from './scripts.js';

/** One frame of a stack trace. */
export interface Frame {
  /** Index of its line in the text, split at line feeds, from 0. */
  line: number;
  file: string | null;
  function: string | null;
  line_no: number | null;
  /** The first frame in the sense of contract 21: the error comes from here. At most one. */
  crash: boolean;
  /** Of a native frame without a source: the file is its image. */
  image?: string;
}

/** Characters of a stack trace that are read (contract 21, intake). */
const MAX_LENGTH = 65_536;
const MAX_LINE_LENGTH = 2048;
/** Lines that are read: a real trace of 64 Ki characters has fewer. */
const MAX_LINES = 2000;

/** All frames of the first 64 Ki characters; none for a text that is no stack trace. */
export function parseFrames(stack: string): Frame[] {
  const text = stack.slice(0, MAX_LENGTH);
  const found = read(text, parseFrameLine);
  const frames = found.length > 0 ? found : read(text, parseGenericFrame);
  const crash = crashOf(frames, text, carriedFrom(text));
  return frames.map((form) => ({
    line: form.line,
    file: form.file,
    function: form.function,
    line_no: form.line_no,
    crash: form === crash,
  }));
}

/** The frame that the error comes from, or null. */
export function findFirstFrame(stack: string): Pick<Frame, 'file' | 'function' | 'line_no' | 'image'> | null {
  const text = stack.slice(0, MAX_LENGTH);
  const from = carriedFrom(text);
  const found = read(text, parseFrameLine, from);
  return crashOf(found.length > 0 ? found : read(text, parseGenericFrame, from), text, from);
}

/** The line from which the frames of the error stand that the trace's wrappers carry; 0: it has none. */
const carriedFrom = (text: string): number => findInnerError(text)?.line ?? 0;

/** Languages whose crash is the first frame with a file, whatever follows. */
const DECIDED: ReadonlySet<LineKind> = new Set<LineKind>(['v8', 'java', 'dotnet', 'browser', 'generic']);

/** @param decidedFrom the line from which a frame that decides ends the reading */
function read(text: string, form: (line: string) => Form | null, decidedFrom = Infinity): Form[] {
  const frames: Form[] = [];
  let pendingFunction: string | null = null;
  let start = 0;
  for (let line = 0; start <= text.length && line < MAX_LINES; line++) {
    const end = text.indexOf('\n', start);
    const stop = end < 0 ? text.length : end;
    const content = text.slice(start, Math.min(stop, start + MAX_LINE_LENGTH)).trim();
    start = stop + 1;
    if (content === '') continue;
    const seen = frames[0]?.kind === 'python' ? parsePythonFrame(content) : form(content);
    if (seen === null) pendingFunction = content;
    else {
      seen.line = line;
      if (seen.kind === 'go') seen.function = goFunction(pendingFunction);
      if (seen.kind === 'v8' && seen.function === null) asRust(seen, pendingFunction);
      pendingFunction = null;
      frames.push(seen);
      if (line >= decidedFrom && DECIDED.has(seen.kind) && decides(seen) && frames[0]?.kind === seen.kind) break;
    }
  }
  return frames;
}

const decides = ({ kind, file, function: name }: Form): boolean =>
  file !== null || (kind === 'dotnet' && name !== null);

/** Go names the function on the line before: `main.(*T).run(0xc000…)`. */
function goFunction(line: string | null): string | null {
  if (line === null) return null;
  const open = line.lastIndexOf('(');
  return open > 0 ? line.slice(0, open) : line;
}

/** Rust numbers its frames, the name first and the place on the next line: `   3: shop::price`. */
const RUST_NAME = /^\d{1,5}: (?:0x[0-9a-f]{1,16} - )?(\S.{0,300})$/;

function asRust(frame: Form, line: string | null): void {
  const name = line === null ? null : RUST_NAME.exec(line);
  if (name === null) return;
  frame.kind = 'rust';
  frame.function = name[1] ?? null;
}

type Rule = (frames: readonly Form[], text: string) => Form | null;

/** Languages whose crash is not simply the first frame with a file. */
const RULES: Partial<Record<LineKind, Rule>> = {
  python: pythonCrash,
  go: goCrash,
  php: phpCrash,
  'php-header': phpCrash,
  ruby: (frames, text) =>
    text.includes('Traceback (most recent call last)') ? (frames.at(-1) ?? null) : withFile(frames),
  dotnet: (frames) => frames[0] ?? null,
  rust: rustCrash,
  native: findCrashFrame,
};

function crashOf(all: readonly Form[], text: string, from: number): Form | null {
  const carried = from === 0 ? [] : all.filter(({ line }) => line > from);
  const frames = carried.length > 0 ? carried : all;
  const first = frames[0];
  return first === undefined ? null : (RULES[first.kind] ?? withFile)(frames, text);
}

/** The first frame with a file: `at JSON.parse (<anonymous>)` names no place. */
function withFile(frames: readonly Form[]): Form | null {
  return frames.find(({ file }) => file !== null) ?? null;
}

/** The panic's own place where its text is there; else the first frame behind Rust's panic machinery. */
function rustCrash(frames: readonly Form[], text: string): Form | null {
  if (text.includes('panicked at ')) return withFile(frames);
  return withFile(frames.slice(findRustMachinery(frames)));
}

/** The reported exception: PHP writes previous ones first, and `Next` before the reported one. */
function phpCrash(frames: readonly Form[]): Form | null {
  return frames.findLast(({ next }) => next) ?? withFile(frames);
}

/**
 * The innermost frame, which Python writes last, also in chained exceptions; a group's own frames end where its members
 * begin.
 */
function pythonCrash(frames: readonly Form[], text: string): Form | null {
  const python = frames.filter(({ kind }) => kind === 'python');
  if (text.includes('(most recent call first)')) return python[0] ?? null;
  const group = text.indexOf('+-+--');
  const own = group < 0 ? python : python.filter(({ line }) => line < lineAt(text, group));
  return own.at(-1) ?? python.at(-1) ?? null;
}

function lineAt(text: string, index: number): number {
  let line = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < index; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

const RUNTIME_FILE = /(?:^|\/src\/)runtime\//;
const RUNTIME_FUNCTION = /^(?:runtime|runtime\/debug)\.|^panic$/;

/** The first frame after `panic(` outside the runtime; without a panic, the first outside the runtime. */
function goCrash(frames: readonly Form[], text: string): Form | null {
  const go = frames.filter(({ kind }) => kind === 'go');
  const panicked = text.startsWith('panic(') ? 0 : text.indexOf('\npanic(');
  const after = panicked < 0 ? go : go.filter(({ line }) => line > lineAt(text, panicked + 1));
  const own = ({ file, function: name }: Form): boolean =>
    !RUNTIME_FILE.test(file ?? '') && !RUNTIME_FUNCTION.test(name ?? '');
  return after.find(own) ?? go.find(own) ?? go[0] ?? null;
}
