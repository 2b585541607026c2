/**
 * The frames of scripts within an event, and what source maps say of them (contract 21, Beyond the specification: what
 * JavaScript and releases need). A frame of a known map is rewritten where it stands, before the event is read, so that
 * grouping, trace and context agree; the raw one stays beside it.
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

/** Of one event. A chain of ten causes has fewer that matter. */
const MOST_FRAMES = 500;
const MOST_IMAGES = 500;
const LONGEST_ADDRESS = 1_000;

/** A frame with line and column: the engines of scripts give both. */
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

/** The frames nearest to the crash: SDKs send them last. */
function framesIn(event: Loose): Found[] {
  const holders = [...records(event['exception']), event, ...records(event['threads'])];
  return holders.flatMap((holder) => foundIn(holder['stacktrace'])).slice(-MOST_FRAMES);
}

/** Whether the event may name the debug ids of its scripts. */
export const statesDebugIds = (event: Loose): boolean => record(event['debug_meta']) !== null;

/** Debug ids by the addresses of scripts. */
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
  /** Writes the answer into the event. */
  apply(answer: RewrittenFrames): AppliedFrames;
}

/** What source maps did not say of an event. */
export interface AppliedFrames {
  missing: MissingMap[];
  /** State for a later attempt. Null when no attempt is due. */
  late: Omit<LateFrames, 'stack'> | null;
}

/** Null: the event has no frame that a map could speak of. */
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

/** The script as traces name it. */
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
    // An SDK takes all that a page loads for the application's.
    in_app: given['in_app'] !== false && !VENDOR_PATH.test(position.file),
    ...(source !== null && { pre_context: source.before, context_line: source.line, post_context: source.after }),
  });
}
