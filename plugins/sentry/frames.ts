import { isSystemFunction, isSystemImage } from '../../lib/text/system-images.js';
import { line, record, records, text, type Loose } from './values.js';

export interface StackFrame {
  /** `filename`, else `abs_path`, `module` or the file of its `package`; null without a place. */
  place: string | null;
  absPath: string | null;
  file: string | null;
  module: string | null;
  function: string | null;
  line: number | null;
  column: number | null;
  code: string | null;
  /** Whether it is application code; null if the SDK does not report it. */
  inApp: boolean | null;
  given: Loose;
}

/** Deeper stacks are recursion; the innermost frames are retained. */
const MOST_FRAMES = 250;
/** Placeholders that SDKs send instead of a file. */
const NOWHERE = new Set(['<anonymous>', '<unknown>', '<native>', 'native', '[native code]', '[internal]', 'unknown']);
const MAX_LINE = 2_147_483_647;

const place = (value: unknown): string | null => {
  const given = line(value);
  return given === null || NOWHERE.has(given.trim()) ? null : given.trim();
};

const position = (value: unknown): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_LINE ? value : null;

/** Every package has a file of this name, and the SDK omits the folder of top-level packages. */
const PACKAGE_FILE = '__init__.py';
const PYTHON_MODULE = /^\w{1,100}(?:\.\w{1,100}){0,20}$/;

const namedByModule = (file: string | null, module: string | null): string | null =>
  file !== null && file.endsWith(PACKAGE_FILE) && PYTHON_MODULE.test(module ?? '')
    ? `${(module ?? '').replaceAll('.', '/')}/${PACKAGE_FILE}`
    : file;

/** `libshop.so` of `/data/app/lib/arm64/libshop.so`: the path differs between machines. */
const lastSegment = (path: string | null): string | null =>
  path === null ? null : text(path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1));

function frameOf(given: Loose): StackFrame {
  const module = line(given['module']);
  const file = namedByModule(place(given['filename']), module);
  const absPath = place(given['abs_path']);
  const { in_app: inApp } = given;
  return {
    place: file ?? absPath ?? module ?? lastSegment(place(given['package'])),
    absPath,
    file,
    module,
    function: line(given['function']) ?? line(given['raw_function']),
    line: position(given['lineno']),
    column: position(given['colno']),
    code: text(given['context_line']),
    inApp: typeof inApp === 'boolean' ? inApp : null,
    given,
  };
}

/** Returns the frames of `{frames: […]}`, crash frame first (SDKs send it last). */
export function framesOf(stacktrace: unknown): StackFrame[] {
  const given = record(stacktrace)?.['frames'];
  if (!Array.isArray(given)) return [];
  const frames = records(given.slice(-MOST_FRAMES)).map(frameOf).reverse();
  // Python's SDK marks application frames and leaves standard library frames unmarked.
  if (frames.some(({ inApp }) => inApp === true)) for (const frame of frames) frame.inApp ??= false;
  return frames;
}

/**
 * Returns the innermost application frame, or the innermost frame (contract 21, Sentry SDK intake).
 * Frames without a place are ignored, because engine code such as `JSON.parse` is called from
 * everywhere.
 */
export function ownFrame(frames: readonly StackFrame[]): StackFrame | null {
  const named = frames.filter((frame) => frame.place !== null);
  const stated = named.find(({ inApp }) => inApp === true);
  if (stated !== undefined || !isNative(frames)) return stated ?? named[0] ?? frames[0] ?? null;
  return named.find((frame) => !isOfSystem(frame)) ?? topOf(frames);
}

const NATIVE = new Set(['native', 'cocoa', 'objc', 'swift', 'c', 'cpp']);

const isNative = (frames: readonly StackFrame[]): boolean =>
  frames.some(
    ({ given }) =>
      'instruction_addr' in given || text(given['package']) !== null || NATIVE.has(String(given['platform'])),
  );

/**
 * Checks whether a frame belongs to the operating system, a runtime, a driver or a crash handler,
 * or has no information.
 */
function isOfSystem({ file, absPath, module, function: name, given }: StackFrame): boolean {
  const image = line(given['package']);
  if (image !== null && isSystemImage(image)) return true;
  if (name !== null && isSystemFunction(name)) return true;
  return image === null && name === null && file === null && absPath === null && module === null;
}

const TOP = 3;

/**
 * Combines the first three functions when all frames are system code, because a single one is the
 * same for every crash.
 */
function topOf(frames: readonly StackFrame[]): StackFrame | null {
  const [first] = frames;
  const names = frames.flatMap(({ function: name }) => name ?? []).slice(0, TOP);
  if (first === undefined || names.length === 0) return first ?? null;
  return { ...first, place: first.place ?? SYSTEM, function: names.join(' | ') };
}

const SYSTEM = 'system';
