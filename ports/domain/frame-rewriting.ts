/**
 * Maps frames of minified scripts to their sources (contract 21, Beyond the specification: what
 * JavaScript and releases need).
 */
import type { SourcePosition } from '../source-map-reader.js';
import type { Json } from '../store/index.js';
import { token } from '../token.js';

/** A frame as reported by the engine; line and column start at 1. */
export interface ScriptFrame {
  file: string;
  line: number;
  column: number;
}

export interface FrameRewriteRequest {
  project: string;
  release: string | null;
  dist: string | null;
  /** Debug ids by script URL. */
  debugIds: ReadonlyMap<string, string>;
  frames: readonly ScriptFrame[];
}

/** A script whose source map is unusable or late. */
export interface MissingMap {
  file: string;
  /** Null when the map has no debug id or was not read in time. */
  debug_id: string | null;
  problem: string;
  /** Upload command, without secrets. */
  command: string;
}

export interface RewrittenFrames {
  /** One result per frame, in order; null: unchanged. */
  frames: (SourcePosition | null)[];
  missing: MissingMap[];
  /** Scripts whose maps could not be read yet. */
  late: string[];
}

export interface FrameRewriter {
  /**
   * Returns from memory whether the project has no source maps. Uploads count in other processes
   * within five seconds.
   */
  hasNoMaps(project: string): boolean;
  /**
   * Synchronously null when there is nothing to rewrite. Never rejects, so that every error is
   * recorded.
   */
  rewrite(question: FrameRewriteRequest): Promise<RewrittenFrames> | null;
}

export const FRAME_REWRITER = token<FrameRewriter>('sourcemaps.frames');

/** SDKs classify bundled library source as application code. */
export const VENDOR_PATH_PATTERN = /(?:^|\/)(?:node_modules|bower_components)\//;

/** A script whose frames are rewritten later (contract 21, source maps). */
export interface UnmappedScript {
  file: string;
  shown: string;
  debug_id: string | null;
}

/** A frame with the reporter's classification. */
export interface UnmappedFrame extends ScriptFrame {
  in_app: boolean | null;
}

/** Input for a later attempt. */
export interface UnmappedFrames {
  /** Names under which the maps may have been uploaded. */
  releases: readonly (string | null)[];
  dist: string | null;
  scripts: readonly UnmappedScript[];
  /** The crash frame first. */
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
  place?: { file_path: string; line_no: number; function_name: string | null } | undefined;
}

export interface UnmappedOccurrences {
  listDue(limit: number): Promise<UnmappedOccurrence[]>;
  /** Regroups the error by the rewritten frames. Idempotent; deleted occurrences are skipped. */
  rewrite(occurrence: UnmappedOccurrence, rewritten: RewrittenOccurrence): Promise<void>;
  /**
   * Retries with growing delay, for up to a day.
   * @returns its time, RFC 3339; null when it gave up
   */
  postpone(occurrence: UnmappedOccurrence): Promise<string | null>;
  /**
   * Does not count an attempt.
   * @param until RFC 3339
   */
  defer(occurrence: UnmappedOccurrence, until: string): Promise<void>;
}

export const UNMAPPED_OCCURRENCES = token<UnmappedOccurrences>('bugs.late_occurrences');
