/** One frame of an SDK's stack. Every SDK leaves out different fields (contract 21, Sentry SDK intake). Pure. */
import { line, record, records, text, type Loose } from './values.js';

export interface StackFrame {
  /** `filename`, else `abs_path`, else `module`; null for native code, which has no place. */
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

function frameOf(given: Loose): StackFrame {
  const file = place(given['filename']);
  const absPath = place(given['abs_path']);
  const module = line(given['module']);
  return {
    place: file ?? absPath ?? module,
    absPath,
    file,
    module,
    function: line(given['function']) ?? line(given['raw_function']),
    line: position(given['lineno']),
    column: position(given['colno']),
    code: text(given['context_line']),
    given,
  };
}

/** The frames of `{frames: […]}`, the crash frame first (SDKs send it last). */
export function framesOf(stacktrace: unknown): StackFrame[] {
  const frames = record(stacktrace)?.['frames'];
  return Array.isArray(frames) ? records(frames.slice(-MOST_FRAMES)).map(frameOf).reverse() : [];
}
