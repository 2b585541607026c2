/**
 * Maps frames of minified scripts to their sources (contract 21, Beyond the specification: what
 * JavaScript and releases need). Intakes call it before grouping; the source map plugin implements
 * it.
 */
import type { SourcePosition } from '../source-maps/reader.js';
import type { Json } from '../store.js';
import { token } from '../token.js';

/** A frame as reported by the engine; line and column start at 1. */
export interface ScriptFrame {
  /** URL of the script: `https://shop.example/assets/index.js`. */
  file: string;
  line: number;
  column: number;
}

export interface FrameRewriteRequest {
  project: string;
  /** As the SDK names it: `shop@1.4.2`. */
  release: string | null;
  dist: string | null;
  /** Debug ids by script URL. */
  debugIds: ReadonlyMap<string, string>;
  frames: readonly ScriptFrame[];
}

/** A script whose source map is missing, unusable or was not read in time. */
export interface MissingMap {
  file: string;
  /** Null: none, and the map was not read in time. */
  debug_id: string | null;
  /** Sentence for users. */
  problem: string;
  /** Upload command, without secrets. */
  command: string;
}

export interface RewrittenFrames {
  /** One result per frame, in order; null: unchanged. */
  frames: (SourcePosition | null)[];
  missing: MissingMap[];
  /** Scripts whose maps could not be read at the moment; retry later. */
  late: string[];
}

export interface FrameRewriter {
  /**
   * Returns from memory whether the project has no source maps, so that reports without debug ids
   * skip rewriting. Uploads count immediately in their process, in others within five seconds.
   */
  hasNoMaps(project: string): boolean;
  /**
   * Rewrites frames; synchronously null when the project has none to rewrite. Never rejects, so
   * that every error is recorded.
   */
  rewrite(question: FrameRewriteRequest): Promise<RewrittenFrames> | null;
}

export const FRAME_REWRITER = token<FrameRewriter>('sourcemaps.frames');

/** Bundled library source; SDKs classify all scripts of a page as application code. */
export const VENDOR_PATH_PATTERN = /(?:^|\/)(?:node_modules|bower_components)\//;

/** A script whose frames are rewritten later (contract 21, source maps). */
export interface UnmappedScript {
  /** URL by which its map is found. */
  file: string;
  /** Name in the stored stack trace. */
  shown: string;
  debug_id: string | null;
}

/** A frame of the exception with the reporter's classification. */
export interface UnmappedFrame extends ScriptFrame {
  /** Null: not reported. */
  in_app: boolean | null;
}

/** Input for a later attempt, in addition to the stored occurrence. */
export interface UnmappedFrames {
  /** Release names under which the maps may have been uploaded. */
  releases: readonly (string | null)[];
  dist: string | null;
  scripts: readonly UnmappedScript[];
  /** Candidate locations of the error, the crash frame first. */
  stack: readonly UnmappedFrame[];
}

export interface UnmappedOccurrence {
  id: string;
  occurrence_id: string;
  project: string;
  late: UnmappedFrames;
  stack_trace: string | null;
  context: Json;
}

/** The occurrence after rewriting. */
export interface RewrittenOccurrence {
  stack_trace: string | null;
  context: Json;
  /** Undefined: unchanged. */
  place?: { file_path: string; line_no: number; function_name: string | null } | undefined;
}

export interface UnmappedOccurrences {
  /** Lists due occurrences, oldest first. */
  listDue(limit: number): Promise<UnmappedOccurrence[]>;
  /**
   * Stores the rewritten frames and regroups the error by them. Idempotent; deleted occurrences are
   * skipped.
   */
  rewrite(occurrence: UnmappedOccurrence, rewritten: RewrittenOccurrence): Promise<void>;
  /**
   * Schedules a retry with growing delay, for up to a day.
   * @returns its time, RFC 3339; null when it gave up
   */
  postpone(occurrence: UnmappedOccurrence): Promise<string | null>;
  /** Postpones the next attempt without counting one. @param until RFC 3339 */
  defer(occurrence: UnmappedOccurrence, until: string): Promise<void>;
}

export const UNMAPPED_OCCURRENCES = token<UnmappedOccurrences>('bugs.late_occurrences');
