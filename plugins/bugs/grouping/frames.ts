/**
 * Parses a stack trace into frames, with the failing frame marked (contract 21, first frame). The
 * UI marks the frame that grouping uses. The first frame selects the language's rule that finds the
 * crash. Library frames are not skipped, because the specification names the first frame.
 */
import { findRustMachinery } from '../../../lib/text/rust-frames.js';
import { findInnerError } from '../../../lib/text/wrapped-errors.js';
import type { Form, LineKind } from './form.js';
import { parseFrameLine, parseGenericFrame } from './forms.js';
import { findCrashFrame } from './native-crashes.js';
import { parsePythonFrame } from './scripts.js';

export interface Frame {
  line: number;
  file: string | null;
  function: string | null;
  line_no: number | null;
  /** Contract 21's first frame: the error originates here. At most one. */
  crash: boolean;
  /** Image of a native frame without a source, which `file` then names. */
  image?: string;
}

/** Characters of a stack trace that are read (contract 21, intake). */
const MAX_LENGTH = 65_536;
const MAX_LINE_LENGTH = 2048;
const MAX_LINES = 2000;

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

export function findFirstFrame(stack: string): Pick<Frame, 'file' | 'function' | 'line_no' | 'image'> | null {
  const text = stack.slice(0, MAX_LENGTH);
  const from = carriedFrom(text);
  const found = read(text, parseFrameLine, from);
  return crashOf(found.length > 0 ? found : read(text, parseGenericFrame, from), text, from);
}

const carriedFrom = (text: string): number => findInnerError(text)?.line ?? 0;

const DECIDED: ReadonlySet<LineKind> = new Set<LineKind>(['v8', 'java', 'dotnet', 'browser', 'generic']);

/** @param decidedFrom the line from which a decisive frame ends the reading */
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

/** Go names the function on the previous line: `main.(*T).run(0xc000…)`. */
function goFunction(line: string | null): string | null {
  if (line === null) return null;
  const open = line.lastIndexOf('(');
  return open > 0 ? line.slice(0, open) : line;
}

/** Rust writes the name first and the place on the next line: ` 3: shop::price`. */
const RUST_NAME = /^\d{1,5}: (?:0x[0-9a-f]{1,16} - )?(\S.{0,300})$/;

function asRust(frame: Form, line: string | null): void {
  const name = line === null ? null : RUST_NAME.exec(line);
  if (name === null) return;
  frame.kind = 'rust';
  frame.function = name[1] ?? null;
}

type Rule = (frames: readonly Form[], text: string) => Form | null;

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

/** `at JSON.parse (<anonymous>)` names no file. */
function withFile(frames: readonly Form[]): Form | null {
  return frames.find(({ file }) => file !== null) ?? null;
}

/**
 * Returns the place of the panic message if present; otherwise the first frame after Rust's panic
 * machinery.
 */
function rustCrash(frames: readonly Form[], text: string): Form | null {
  if (text.includes('panicked at ')) return withFile(frames);
  return withFile(frames.slice(findRustMachinery(frames)));
}

/** PHP writes previous exceptions first, and `Next` before the reported one. */
function phpCrash(frames: readonly Form[]): Form | null {
  return frames.findLast(({ next }) => next) ?? withFile(frames);
}

/**
 * Returns the innermost frame, which Python writes last. A group's own frames end where its members
 * start.
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

/**
 * Returns the first frame after `panic(` outside the runtime; without a panic, the first outside
 * the runtime.
 */
function goCrash(frames: readonly Form[], text: string): Form | null {
  const go = frames.filter(({ kind }) => kind === 'go');
  const panicked = text.startsWith('panic(') ? 0 : text.indexOf('\npanic(');
  const after = panicked < 0 ? go : go.filter(({ line }) => line > lineAt(text, panicked + 1));
  const own = ({ file, function: name }: Form): boolean =>
    !RUNTIME_FILE.test(file ?? '') && !RUNTIME_FUNCTION.test(name ?? '');
  return after.find(own) ?? go.find(own) ?? go[0] ?? null;
}
