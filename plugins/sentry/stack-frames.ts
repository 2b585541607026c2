import { isSystemFunction, isSystemImage } from '../../lib/text/system-images.js';
import { toLine, toRecord, toRecords, toText, type UntypedRecord } from './untyped-values.js';

export interface StackFrame {
  /** Or `abs_path`, `module`, or the file of its `package`; null without a place. */
  place: string | null;
  absPath: string | null;
  file: string | null;
  module: string | null;
  function: string | null;
  line: number | null;
  column: number | null;
  code: string | null;
  /** Null if not reported. */
  inApp: boolean | null;
  given: UntypedRecord;
}

/** Deeper stacks are recursion; keeps the innermost frames. */
const MAX_FRAMES = 250;
/** Instead of a file. */
const PLACEHOLDER_PLACES = new Set([
  '<anonymous>',
  '<unknown>',
  '<native>',
  'native',
  '[native code]',
  '[internal]',
  'unknown',
]);
const MAX_LINE_NUMBER = 2_147_483_647;

const toPlace = (value: unknown): string | null => {
  const given = toLine(value);
  return given === null || PLACEHOLDER_PLACES.has(given.trim()) ? null : given.trim();
};

const toPosition = (value: unknown): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_LINE_NUMBER ? value : null;

/** In every package; the SDK omits the folder of top-level ones. */
const PACKAGE_FILE = '__init__.py';
const PYTHON_MODULE_PATTERN = /^\w{1,100}(?:\.\w{1,100}){0,20}$/;

const addPackageFolder = (file: string | null, module: string | null): string | null =>
  file !== null && file.endsWith(PACKAGE_FILE) && PYTHON_MODULE_PATTERN.test(module ?? '')
    ? `${(module ?? '').replaceAll('.', '/')}/${PACKAGE_FILE}`
    : file;

/** `libshop.so`; its path differs between machines. */
const getLastSegment = (path: string | null): string | null =>
  path === null ? null : toText(path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1));

function toStackFrame(given: UntypedRecord): StackFrame {
  const module = toLine(given['module']);
  const file = addPackageFolder(toPlace(given['filename']), module);
  const absPath = toPlace(given['abs_path']);
  const { in_app: inApp } = given;
  return {
    place: file ?? absPath ?? module ?? getLastSegment(toPlace(given['package'])),
    absPath,
    file,
    module,
    function: toLine(given['function']) ?? toLine(given['raw_function']),
    line: toPosition(given['lineno']),
    column: toPosition(given['colno']),
    code: toText(given['context_line']),
    inApp: typeof inApp === 'boolean' ? inApp : null,
    given,
  };
}

/** Lists the crash frame first (SDKs send it last). */
export function parseFrames(stacktrace: unknown): StackFrame[] {
  const given = toRecord(stacktrace)?.['frames'];
  if (!Array.isArray(given)) return [];
  const frames = toRecords(given.slice(-MAX_FRAMES)).map(toStackFrame).reverse();
  // Python's SDK leaves standard library frames unmarked.
  if (frames.some(({ inApp }) => inApp === true)) for (const frame of frames) frame.inApp ??= false;
  return frames;
}

/**
 * Returns the innermost application frame, or innermost frame (contract 21, Sentry SDK intake).
 * Those without a place are ignored, because engine code such as `JSON.parse` is called from
 * everywhere.
 */
export function findOwnFrame(frames: readonly StackFrame[]): StackFrame | null {
  const named = frames.filter((frame) => frame.place !== null);
  const stated = named.find(({ inApp }) => inApp === true);
  if (stated !== undefined || !isNative(frames)) return stated ?? named[0] ?? frames[0] ?? null;
  return named.find((frame) => !isSystemFrame(frame)) ?? combineTopFrames(frames);
}

const NATIVE_PLATFORMS = new Set(['native', 'cocoa', 'objc', 'swift', 'c', 'cpp']);

const isNative = (frames: readonly StackFrame[]): boolean =>
  frames.some(
    ({ given }) =>
      'instruction_addr' in given ||
      toText(given['package']) !== null ||
      NATIVE_PLATFORMS.has(String(given['platform'])),
  );

/** Operating system, runtime, driver, crash handler, or no information. */
function isSystemFrame({ file, absPath, module, function: name, given }: StackFrame): boolean {
  const image = toLine(given['package']);
  if (image !== null && isSystemImage(image)) return true;
  if (name !== null && isSystemFunction(name)) return true;
  return image === null && name === null && file === null && absPath === null && module === null;
}

const TOP_FRAME_COUNT = 3;

/** Joins three, because a single system frame is the same for every crash. */
function combineTopFrames(frames: readonly StackFrame[]): StackFrame | null {
  const [first] = frames;
  const names = frames.flatMap(({ function: name }) => name ?? []).slice(0, TOP_FRAME_COUNT);
  if (first === undefined || names.length === 0) return first ?? null;
  return { ...first, place: first.place ?? SYSTEM_PLACE, function: names.join(' | ') };
}

const SYSTEM_PLACE = 'system';
