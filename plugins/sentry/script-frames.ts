/**
 * Rewritten before the event is read, so that grouping, trace and context agree; the raw frame is
 * preserved (contract 21, Beyond the specification: what JavaScript and releases need).
 */
import {
  VENDOR_PATH_PATTERN,
  type FrameRewriteRequest,
  type UnmappedFrames,
  type MissingMap,
  type RewrittenFrames,
} from '../../ports/domain/frame-rewriting.js';
import type { SourcePosition } from '../../ports/source-map-reader.js';
import { parseGuid } from '../../lib/text/guid.js';
import { toLine, toList, toRecord, toRecords, type UntypedRecord } from './untyped-values.js';

const MAX_FRAMES = 500;
const MAX_IMAGES = 500;
const MAX_ADDRESS_LENGTH = 1_000;

interface ScriptLocation {
  given: Record<string, unknown>;
  file: string;
  line: number;
  column: number;
}

const isPosition = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value < 2 ** 31;

function findInStacktrace(stacktrace: unknown): ScriptLocation[] {
  return toRecords(toRecord(stacktrace)?.['frames']).flatMap((given) => {
    const { lineno, colno } = given;
    const file = toLine(given['abs_path']) ?? toLine(given['filename']);
    if (!isPosition(lineno) || !isPosition(colno) || file === null || file.length > MAX_ADDRESS_LENGTH) return [];
    return [{ given, file, line: lineno, column: colno }];
  });
}

function findScriptLocations(event: UntypedRecord): ScriptLocation[] {
  const holders = [...toRecords(event['exception']), event, ...toRecords(event['threads'])];
  return holders.flatMap((holder) => findInStacktrace(holder['stacktrace'])).slice(-MAX_FRAMES);
}

export const hasDebugIds = (event: UntypedRecord): boolean => toRecord(event['debug_meta']) !== null;

function findDebugIds(event: UntypedRecord): Map<string, string> {
  const ids = new Map<string, string>();
  for (const image of toList(toRecord(event['debug_meta'])?.['images']).slice(0, MAX_IMAGES)) {
    const about = toRecord(image);
    const file = toLine(about?.['code_file']);
    const id = parseGuid(toLine(about?.['debug_id']) ?? '');
    if (about?.['type'] === 'sourcemap' && file !== null && id !== null) ids.set(file, id);
  }
  return ids;
}

export interface ScriptFrames {
  question: FrameRewriteRequest;
  apply(answer: RewrittenFrames): AppliedFrames;
}

export interface AppliedFrames {
  missing: MissingMap[];
  /** Null when no later attempt is due. */
  late: Omit<UnmappedFrames, 'stack'> | null;
}

/** Returns null when no frame can have a map. */
export function findScriptFrames(event: UntypedRecord, project: string): ScriptFrames | null {
  const found = findScriptLocations(event);
  if (found.length === 0) return null;
  const debugIds = findDebugIds(event);
  return {
    question: {
      project,
      release: toLine(event['release']),
      dist: toLine(event['dist']),
      debugIds,
      frames: found.map(({ file, line: at, column }) => ({ file, line: at, column })),
    },
    apply: ({ frames, missing, late }) => {
      frames.forEach((position, i) => {
        const frame = found[i];
        if (frame === undefined) return;
        if (position !== null) rewriteFrame(frame, position);
        // For a later attempt.
        else if (late.includes(frame.file)) frame.given['raw'] = toRawFrame(frame);
      });
      if (late.length === 0) return { missing, late: null };
      const scripts = late.map((file) => ({
        file,
        shown: getScriptName(found.find((frame) => frame.file === file)?.given, file),
        debug_id: debugIds.get(file) ?? null,
      }));
      return { missing, late: { releases: [toLine(event['release'])], dist: toLine(event['dist']), scripts } };
    },
  };
}

const getScriptName = (given: UntypedRecord | undefined, file: string): string =>
  toLine(given?.['filename'])?.trim() ?? file;

const toRawFrame = ({ given, file, line: at, column }: ScriptLocation): UntypedRecord => ({
  filename: file,
  lineno: at,
  colno: column,
  function: toLine(given['function']),
});

function rewriteFrame(frame: ScriptLocation, position: SourcePosition): void {
  const { given } = frame;
  const raw = toRawFrame(frame);
  const { source } = position;
  delete given['raw_function'];
  Object.assign(given, {
    raw,
    filename: position.file,
    abs_path: position.file,
    lineno: position.line,
    colno: position.column,
    function: position.function,
    // SDKs mark everything that a page loads.
    in_app: given['in_app'] !== false && !VENDOR_PATH_PATTERN.test(position.file),
    ...(source !== null && { pre_context: source.before, context_line: source.line, post_context: source.after }),
  });
}
