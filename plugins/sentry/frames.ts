/** One frame of an SDK's stack. Every SDK leaves out different fields (contract 21, Sentry SDK intake). Pure. */
import { isSystemFunction, isSystemImage } from '../../lib/text/system-images.js';
import { line, record, records, text, type Loose } from './values.js';

export interface StackFrame {
  /** `filename`, else `abs_path`, else `module`, else the file of its `package`; null for code that has no place. */
  place: string | null;
  absPath: string | null;
  /** File name without its module. */
  file: string | null;
  module: string | null;
  function: string | null;
  line: number | null;
  column: number | null;
  /** The source text of its line. */
  code: string | null;
  /** Whether it is the application's own; null where the SDK says so of no frame. */
  inApp: boolean | null;
  given: Loose;
}

/** Deeper stacks are recursion. The frames nearest to the crash are kept. */
const MOST_FRAMES = 250;
/** Names that SDKs write in place of a file. */
const NOWHERE = new Set(['<anonymous>', '<unknown>', '<native>', 'native', '[native code]', '[internal]', 'unknown']);
const MAX_LINE = 2_147_483_647;

const place = (value: unknown): string | null => {
  const given = line(value);
  return given === null || NOWHERE.has(given.trim()) ? null : given.trim();
};

const position = (value: unknown): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_LINE ? value : null;

/** Every package has a file of this name, and the SDK leaves the folder out where the package is at the top. */
const PACKAGE_FILE = '__init__.py';
const PYTHON_MODULE = /^\w{1,100}(?:\.\w{1,100}){0,20}$/;

/** `shop/__init__.py` of the module `shop`. */
const namedByModule = (file: string | null, module: string | null): string | null =>
  file !== null && file.endsWith(PACKAGE_FILE) && PYTHON_MODULE.test(module ?? '')
    ? `${(module ?? '').replaceAll('.', '/')}/${PACKAGE_FILE}`
    : file;

/** `libshop.so` of `/data/app/lib/arm64/libshop.so`: the path is another on each machine. */
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

/** The frames of `{frames: […]}`, the crash frame first (SDKs send it last). */
export function framesOf(stacktrace: unknown): StackFrame[] {
  const given = record(stacktrace)?.['frames'];
  if (!Array.isArray(given)) return [];
  const frames = records(given.slice(-MOST_FRAMES)).map(frameOf).reverse();
  // Python's SDK says nothing of the standard library, beside frames that it takes for the application's.
  if (frames.some(({ inApp }) => inApp === true)) for (const frame of frames) frame.inApp ??= false;
  return frames;
}

/**
 * The frame that the application itself names: the innermost of its own, else the innermost (contract 21, Sentry SDK
 * intake). One without a place says nothing: `JSON.parse` of an engine is called from everywhere.
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

/** Whether a frame belongs to the operating system, a runtime, a driver or a crash handler, or says nothing at all. */
function isOfSystem({ file, absPath, module, function: name, given }: StackFrame): boolean {
  const image = line(given['package']);
  if (image !== null && isSystemImage(image)) return true;
  if (name !== null && isSystemFunction(name)) return true;
  return image === null && name === null && file === null && absPath === null && module === null;
}

const TOP = 3;

/** The first three functions together, where all frames are the system's: one alone is the same for every crash. */
function topOf(frames: readonly StackFrame[]): StackFrame | null {
  const [first] = frames;
  const names = frames.flatMap(({ function: name }) => name ?? []).slice(0, TOP);
  if (first === undefined || names.length === 0) return first ?? null;
  return { ...first, place: first.place ?? SYSTEM, function: names.join(' | ') };
}

/** The place of a frame of which only the function is known. */
const SYSTEM = 'system';
