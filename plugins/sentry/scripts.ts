/**
 * Script frames within an event and their source maps (contract 21, Beyond the specification: what
 * JavaScript and releases need). Frames are rewritten before the event is read, so that grouping,
 * trace and context agree; the raw frame is preserved.
 */
import {
  VENDOR_PATH,
  type FrameQuestion,
  type LateFrames,
  type MissingMap,
  type RewrittenFrames,
} from '../../ports/domain/frames.js';
import type { SourcePosition } from '../../ports/source-maps/reader.js';
import { parseGuid } from '../../lib/text/guid.js';
import { line, list, record, records, type Loose } from './values.js';

const MOST_FRAMES = 500;
const MOST_IMAGES = 500;
const LONGEST_ADDRESS = 1_000;

/** Frame with line and column, as script engines report them. */
interface Found {
  given: Record<string, unknown>;
  file: string;
  line: number;
  column: number;
}

const counted = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value < 2 ** 31;

function foundIn(stacktrace: unknown): Found[] {
  return records(record(stacktrace)?.['frames']).flatMap((given) => {
    const { lineno, colno } = given;
    const file = line(given['abs_path']) ?? line(given['filename']);
    if (!counted(lineno) || !counted(colno) || file === null || file.length > LONGEST_ADDRESS) return [];
    return [{ given, file, line: lineno, column: colno }];
  });
}

function framesIn(event: Loose): Found[] {
  const holders = [...records(event['exception']), event, ...records(event['threads'])];
  return holders.flatMap((holder) => foundIn(holder['stacktrace'])).slice(-MOST_FRAMES);
}

export const statesDebugIds = (event: Loose): boolean => record(event['debug_meta']) !== null;

function debugIdsIn(event: Loose): Map<string, string> {
  const ids = new Map<string, string>();
  for (const image of list(record(event['debug_meta'])?.['images']).slice(0, MOST_IMAGES)) {
    const about = record(image);
    const file = line(about?.['code_file']);
    const id = parseGuid(line(about?.['debug_id']) ?? '');
    if (about?.['type'] === 'sourcemap' && file !== null && id !== null) ids.set(file, id);
  }
  return ids;
}

export interface ScriptFrames {
  question: FrameQuestion;
  apply(answer: RewrittenFrames): AppliedFrames;
}

export interface AppliedFrames {
  missing: MissingMap[];
  /** State for a later attempt; null when none is due. */
  late: Omit<LateFrames, 'stack'> | null;
}

/** Returns null when no frame of the event can have a map. */
export function scriptFramesOf(event: Loose, project: string): ScriptFrames | null {
  const found = framesIn(event);
  if (found.length === 0) return null;
  const debugIds = debugIdsIn(event);
  return {
    question: {
      project,
      release: line(event['release']),
      dist: line(event['dist']),
      debugIds,
      frames: found.map(({ file, line: at, column }) => ({ file, line: at, column })),
    },
    apply: ({ frames, missing, late }) => {
      frames.forEach((position, i) => {
        const frame = found[i];
        if (frame === undefined) return;
        if (position !== null) rewrite(frame, position);
        // A later attempt finds line and column in the stored frame.
        else if (late.includes(frame.file)) frame.given['raw'] = rawOf(frame);
      });
      if (late.length === 0) return { missing, late: null };
      const scripts = late.map((file) => ({
        file,
        shown: shownBy(found.find((frame) => frame.file === file)?.given, file),
        debug_id: debugIds.get(file) ?? null,
      }));
      return { missing, late: { releases: [line(event['release'])], dist: line(event['dist']), scripts } };
    },
  };
}

const shownBy = (given: Loose | undefined, file: string): string => line(given?.['filename'])?.trim() ?? file;

const rawOf = ({ given, file, line: at, column }: Found): Loose => ({
  filename: file,
  lineno: at,
  colno: column,
  function: line(given['function']),
});

function rewrite(frame: Found, position: SourcePosition): void {
  const { given } = frame;
  const raw = rawOf(frame);
  const { source } = position;
  delete given['raw_function'];
  Object.assign(given, {
    raw,
    filename: position.file,
    abs_path: position.file,
    lineno: position.line,
    colno: position.column,
    function: position.function,
    // SDKs mark everything that a page loads as application code.
    in_app: given['in_app'] !== false && !VENDOR_PATH.test(position.file),
    ...(source !== null && { pre_context: source.before, context_line: source.line, post_context: source.after }),
  });
}
