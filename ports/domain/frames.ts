/**
 * The way from a minified script's frames back to the sources (contract 21, Beyond the specification: what JavaScript
 * and releases need): asked by an intake before an error is grouped, answered by the plugin that keeps source maps.
 */
import type { SourcePosition } from '../source-maps/reader.js';
import type { Json } from '../store.js';
import { token } from '../token.js';

/** A frame as the engine gave it. Line and column count from 1. */
export interface ScriptFrame {
  /** The script's address: `https://shop.example/assets/index.js`. */
  file: string;
  line: number;
  column: number;
}

export interface FrameQuestion {
  project: string;
  /** As the SDK names it: `shop@1.4.2`. */
  release: string | null;
  dist: string | null;
  /** Debug ids by the addresses of their scripts. */
  debugIds: ReadonlyMap<string, string>;
  frames: readonly ScriptFrame[];
}

/** A script whose map is not there, cannot be used, or was not read in time. */
export interface MissingMap {
  file: string;
  /** Null: the script states none, and its map was not read in time. */
  debug_id: string | null;
  /** A sentence for people. */
  problem: string;
  /** Uploads it; without a secret. */
  command: string;
}

export interface RewrittenFrames {
  /** One for each frame, in their order; null: it stays as it is. */
  frames: (SourcePosition | null)[];
  missing: MissingMap[];
  /** Scripts whose maps were not read for reasons of the moment: the same question may be answered later. */
  late: string[];
}

export interface FrameRewriter {
  /**
   * From memory: the project is known to have no maps, so a report in which no script states a debug id need not be
   * asked about. An upload counts at once in its process, in another one within five seconds.
   */
  hasNone(project: string): boolean;
  /** Null, at once: nothing of this project is rewritten. Never rejects: an error is recorded whatever its maps are. */
  rewrite(question: FrameQuestion): Promise<RewrittenFrames> | null;
}

export const FRAME_REWRITER = token<FrameRewriter>('sourcemaps.frames');

/** A source of a bundled library: an SDK takes all that a page loads for the application's. */
export const VENDOR_PATH = /(?:^|\/)(?:node_modules|bower_components)\//;

/** A script whose frames could not be rewritten in time: they are rewritten later (contract 21, source maps). */
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
   * Schedules the next attempt after a failed one, with a growing delay. Gives up after some attempts and after a day.
   * @returns when the next attempt is due, RFC 3339; null when it gave up
   */
  postpone(occurrence: LateOccurrence): Promise<string | null>;
  /** Schedules the next attempt without counting one. @param until RFC 3339 */
  defer(occurrence: LateOccurrence, until: string): Promise<void>;
}

export const LATE_OCCURRENCES = token<LateOccurrences>('bugs.late_occurrences');
