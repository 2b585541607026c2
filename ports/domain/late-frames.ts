/**
 * Occurrences whose frames a source map could not rewrite in time (contract 21, source maps): counted and stored as
 * they came, and rewritten later by a job of the plugin that reads traces.
 */
import type { Json } from '../store.js';
import { token } from '../token.js';
import type { ScriptFrame } from './frames.js';

export interface LateScript {
  /** The address by which its map is found. */
  file: string;
  /** As the stored stack trace names it. */
  shown: string;
  debug_id: string | null;
}

/** A frame of the exception, with what the reporter says of it. */
export interface LateFrame extends ScriptFrame {
  /** Null: the reporter says so of no frame. */
  in_app: boolean | null;
}

/** What a later attempt must know besides the stored occurrence. */
export interface LateFrames {
  /** Names under which the maps may have been uploaded. */
  releases: readonly (string | null)[];
  dist: string | null;
  scripts: readonly LateScript[];
  /** Frames that may name the place of the error, the crash frame first. */
  stack: readonly LateFrame[];
}

export interface LateOccurrence {
  id: string;
  occurrence_id: string;
  project: string;
  late: LateFrames;
  stack_trace: string | null;
  context: Json;
}

/** The same occurrence after an attempt. */
export interface RewrittenOccurrence {
  stack_trace: string | null;
  context: Json;
  /** Undefined: the place stays as it is. */
  place?: { file_path: string; line_no: number; function_name: string | null } | undefined;
}

export interface LateOccurrences {
  /** Those that are due, the oldest first. */
  due(limit: number): Promise<LateOccurrence[]>;
  /**
   * Stores the rewritten frames and groups the occurrence's error by them from now on. A repeat changes nothing; an
   * occurrence that is no longer stored is skipped.
   */
  rewrite(occurrence: LateOccurrence, rewritten: RewrittenOccurrence): Promise<void>;
  /**
   * Tries again later, less and less often, and gives up after some attempts.
   * @param attempted false: it was not tried
   */
  postpone(occurrence: LateOccurrence, attempted: boolean): Promise<void>;
}

export const LATE_OCCURRENCES = token<LateOccurrences>('bugs.late_occurrences');
