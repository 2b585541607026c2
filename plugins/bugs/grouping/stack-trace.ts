/**
 * Marks the failing frame (contract 21, first frame). The first frame selects the rule of its
 * language. Library frames are not skipped, because the specification names the first frame.
 */
import { countRustMachineryFrames } from '../../../lib/text/rust-frames.js';
import { findInnerError } from '../../../lib/text/wrapped-errors.js';
import type { ParsedFrame, LineKind } from './parsed-frame.js';
import { parseFrameLine, parseGenericFrame } from './frame-parsers.js';
import { findCrashFrame } from './native-frames.js';
import { parsePythonFrame } from './script-frames.js';

export interface Frame {
  line: number;
  file: string | null;
  function: string | null;
  line_no: number | null;
  /** At most one. */
  crash: boolean;
  /** Native, without a source; `file` then names it. */
  image?: string;
}

/** In characters (contract 21, intake). */
const MAX_TRACE_LENGTH = 65_536;
const MAX_LINE_LENGTH = 2048;
const MAX_LINES = 2000;

export function parseFrames(stack: string): Frame[] {
  const text = stack.slice(0, MAX_TRACE_LENGTH);
  const found = readFrames(text, parseFrameLine);
  const frames = found.length > 0 ? found : readFrames(text, parseGenericFrame);
  const crash = findCrash(frames, text, findInnerErrorLine(text));
  return frames.map((form) => ({
    line: form.line,
    file: form.file,
    function: form.function,
    line_no: form.line_no,
    crash: form === crash,
  }));
}

export function findFirstFrame(stack: string): Pick<Frame, 'file' | 'function' | 'line_no' | 'image'> | null {
  const text = stack.slice(0, MAX_TRACE_LENGTH);
  const from = findInnerErrorLine(text);
  const found = readFrames(text, parseFrameLine, from);
  return findCrash(found.length > 0 ? found : readFrames(text, parseGenericFrame, from), text, from);
}

const findInnerErrorLine = (text: string): number => findInnerError(text)?.line ?? 0;

const FIRST_FRAME_KINDS: ReadonlySet<LineKind> = new Set<LineKind>(['v8', 'java', 'dotnet', 'browser', 'generic']);

/** @param decidedFrom the line from which a decisive frame ends the reading */
function readFrames(text: string, form: (line: string) => ParsedFrame | null, decidedFrom = Infinity): ParsedFrame[] {
  const frames: ParsedFrame[] = [];
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
      if (seen.kind === 'go') seen.function = parseGoFunction(pendingFunction);
      if (seen.kind === 'v8' && seen.function === null) completeRustFrame(seen, pendingFunction);
      pendingFunction = null;
      frames.push(seen);
      if (line >= decidedFrom && FIRST_FRAME_KINDS.has(seen.kind) && isDecisive(seen) && frames[0]?.kind === seen.kind)
        break;
    }
  }
  return frames;
}

const isDecisive = ({ kind, file, function: name }: ParsedFrame): boolean =>
  file !== null || (kind === 'dotnet' && name !== null);

/** On the previous line: `main.(*T).run(0xc000…)`. */
function parseGoFunction(line: string | null): string | null {
  if (line === null) return null;
  const open = line.lastIndexOf('(');
  return open > 0 ? line.slice(0, open) : line;
}

/** The place is on the next line: ` 3: shop::price`. */
const RUST_NAME = /^\d{1,5}: (?:0x[0-9a-f]{1,16} - )?(\S.{0,300})$/;

function completeRustFrame(frame: ParsedFrame, line: string | null): void {
  const name = line === null ? null : RUST_NAME.exec(line);
  if (name === null) return;
  frame.kind = 'rust';
  frame.function = name[1] ?? null;
}

type CrashRule = (frames: readonly ParsedFrame[], text: string) => ParsedFrame | null;

const CRASH_RULES: Partial<Record<LineKind, CrashRule>> = {
  python: findPythonCrash,
  go: findGoCrash,
  php: findPhpCrash,
  'php-header': findPhpCrash,
  ruby: (frames, text) =>
    text.includes('Traceback (most recent call last)') ? (frames.at(-1) ?? null) : findFrameWithFile(frames),
  dotnet: (frames) => frames[0] ?? null,
  rust: findRustCrash,
  native: findCrashFrame,
};

function findCrash(all: readonly ParsedFrame[], text: string, from: number): ParsedFrame | null {
  const carried = from === 0 ? [] : all.filter(({ line }) => line > from);
  const frames = carried.length > 0 ? carried : all;
  const first = frames[0];
  return first === undefined ? null : (CRASH_RULES[first.kind] ?? findFrameWithFile)(frames, text);
}

/** `at JSON.parse (<anonymous>)` names no file. */
function findFrameWithFile(frames: readonly ParsedFrame[]): ParsedFrame | null {
  return frames.find(({ file }) => file !== null) ?? null;
}

/** Prefers the panic message's place to the first frame after the panic machinery. */
function findRustCrash(frames: readonly ParsedFrame[], text: string): ParsedFrame | null {
  if (text.includes('panicked at ')) return findFrameWithFile(frames);
  return findFrameWithFile(frames.slice(countRustMachineryFrames(frames)));
}

/** Previous exceptions come first, and `Next` before the reported one. */
function findPhpCrash(frames: readonly ParsedFrame[]): ParsedFrame | null {
  return frames.findLast(({ next }) => next) ?? findFrameWithFile(frames);
}

/** Python writes the innermost frame last; a group's own frames end where its members start. */
function findPythonCrash(frames: readonly ParsedFrame[], text: string): ParsedFrame | null {
  const python = frames.filter(({ kind }) => kind === 'python');
  if (text.includes('(most recent call first)')) return python[0] ?? null;
  const group = text.indexOf('+-+--');
  const own = group < 0 ? python : python.filter(({ line }) => line < getLineNumber(text, group));
  return own.at(-1) ?? python.at(-1) ?? null;
}

function getLineNumber(text: string, index: number): number {
  let line = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < index; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

const RUNTIME_FILE = /(?:^|\/src\/)runtime\//;
const RUNTIME_FUNCTION = /^(?:runtime|runtime\/debug)\.|^panic$/;

/** Returns the first frame outside the runtime, after `panic(` if present. */
function findGoCrash(frames: readonly ParsedFrame[], text: string): ParsedFrame | null {
  const go = frames.filter(({ kind }) => kind === 'go');
  const panicked = text.startsWith('panic(') ? 0 : text.indexOf('\npanic(');
  const after = panicked < 0 ? go : go.filter(({ line }) => line > getLineNumber(text, panicked + 1));
  const own = ({ file, function: name }: ParsedFrame): boolean =>
    !RUNTIME_FILE.test(file ?? '') && !RUNTIME_FUNCTION.test(name ?? '');
  return after.find(own) ?? go.find(own) ?? go[0] ?? null;
}
