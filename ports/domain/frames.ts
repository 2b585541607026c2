/**
 * The way from a minified script's frames back to the sources (contract 21, Beyond the specification: what JavaScript
 * and releases need): asked by an intake before an error is grouped, answered by the plugin that keeps source maps.
 */
import type { SourcePosition } from '../source-maps/reader.js';
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
