/**
 * Source maps that were not loaded in time (contract 21, source maps). Every step is repeatable.
 * Rewritten texts are truncated as in reports; the occurrence store scrubs them.
 */
import { inject, injectable, token } from '../../kernel/contract/index.js';
import { cutText } from '../../lib/text/cut-text.js';
import { toIsoString } from '../../lib/time.js';
import {
  VENDOR_PATH_PATTERN,
  type FrameRewriter,
  type RewrittenFrames,
  type ScriptFrame,
  UNMAPPED_OCCURRENCES,
  type UnmappedFrame,
  type UnmappedOccurrence,
  type UnmappedOccurrences,
  type RewrittenOccurrence,
} from '../../ports/domain/frame-rewriting.js';
import type { SourcePosition } from '../../ports/source-map-reader.js';
import type { Logger } from '../../ports/logger.js';
import type { Json } from '../../ports/store/index.js';
import { truncateHead, truncateObject, truncateStackTrace } from './truncate.js';
import { REPORT_LIMITS } from './report-converter.js';
import { FRAME_REWRITER_RESOLVER, MAX_RAW_TRACE_LENGTH, formatSourceLines } from './minified-traces.js';
import { findFramesOfScripts, replaceFrames, type TextFrame } from './text-frames.js';

const BATCH_SIZE = 20;
const MAX_FRAMES_WITH_SOURCE = 6;
const DEFAULT_DELAY_MS = 30_000;

export const UNMAPPED_FRAME_LOG = token<Pick<Logger, 'warn'>>('errorstream.late_frame_log');

type JsonObject = { [key: string]: Json | undefined };

interface RawFrame extends ScriptFrame {
  kept: JsonObject;
}

interface StoredFrames {
  stack: readonly UnmappedFrame[];
  text: readonly TextFrame[];
  raw: readonly RawFrame[];
}

@injectable()
export class UnmappedFrameJob {
  constructor(
    @inject(UNMAPPED_OCCURRENCES) private readonly occurrences: UnmappedOccurrences,
    @inject(FRAME_REWRITER_RESOLVER) private readonly rewriter: () => FrameRewriter | undefined,
    @inject(UNMAPPED_FRAME_LOG) private readonly log: Pick<Logger, 'warn'>,
  ) {}

  /**
   * Runs until nothing is due; occurrences whose maps are still late wait for their next attempt.
   */
  async run(signal: AbortSignal, now: number): Promise<void> {
    const rewriter = this.rewriter();
    if (rewriter === undefined) return;
    const nextAttempts = new Map<string, string>();
    for (;;) {
      const due = await this.occurrences.listDue(BATCH_SIZE);
      if (due.length === 0) return;
      for (const occurrence of due) {
        if (signal.aborted) return;
        const next = nextAttempts.get(occurrence.project);
        if (next !== undefined) await this.occurrences.defer(occurrence, next);
        else if (!(await this.#tryRewrite(rewriter, occurrence))) {
          const attempt = await this.occurrences.postpone(occurrence);
          nextAttempts.set(occurrence.project, attempt ?? toIsoString(now + DEFAULT_DELAY_MS));
        }
      }
    }
  }

  /** Damaged occurrences must not block the others. */
  async #tryRewrite(rewriter: FrameRewriter, occurrence: UnmappedOccurrence): Promise<boolean> {
    try {
      return await this.#rewrite(rewriter, occurrence);
    } catch (err) {
      const { id, project } = occurrence;
      this.log.warn({ err, occurrence: id, project }, 'frames could not be mapped later');
      await this.occurrences.postpone(occurrence);
      return true;
    }
  }

  async #rewrite(rewriter: FrameRewriter, occurrence: UnmappedOccurrence): Promise<boolean> {
    const { late, project, stack_trace: trace, context } = occurrence;
    const names = new Map(late.scripts.map(({ shown, file }) => [shown, file]));
    const frames: StoredFrames = {
      stack: late.stack,
      text: findFramesOfScripts(trace ?? '', names),
      raw: findRawFrames(context),
    };
    const debugIds = new Map(
      late.scripts.flatMap(({ file, debug_id }) => (debug_id === null ? [] : [[file, debug_id]])),
    );
    const all = [...frames.stack, ...frames.text, ...frames.raw];
    let found: RewrittenFrames | null = null;
    for (const release of late.releases) {
      const answer = await rewriter.rewrite({ project, release, dist: late.dist, debugIds, frames: all });
      if (answer === null) continue;
      if (answer.late.length > 0) return false;
      found = answer;
      if (answer.frames.some((position) => position !== null)) break;
    }
    await this.occurrences.rewrite(occurrence, buildRewrittenOccurrence(found, frames, occurrence));
    return true;
  }
}

function buildRewrittenOccurrence(
  found: RewrittenFrames | null,
  { stack, text, raw }: StoredFrames,
  { stack_trace, context }: UnmappedOccurrence,
): RewrittenOccurrence {
  const positions = found?.frames ?? [];
  const inText = positions.slice(stack.length, stack.length + text.length);
  const inContext = positions.slice(stack.length + text.length);
  const own = findOwnPosition(stack, positions);
  const frames = getFrames(context);
  const rest: JsonObject = { ...toObject(context) };
  delete rest['missing_source_maps'];
  if (found !== null && found.missing.length > 0)
    rest['missing_source_maps'] = found.missing.map((map) => ({ ...map }));
  if (frames !== null) {
    let withSource = MAX_FRAMES_WITH_SOURCE;
    rest['frames'] = frames.map((frame) => {
      const rewritten = rewriteFrame(frame, raw, inContext);
      const fields = toObject(rewritten);
      if (rewritten === frame || fields === null) return frame;
      if (fields['in_app'] === true && withSource-- > 0) return rewritten;
      const { source: _, ...others } = fields;
      return others;
    });
  }
  if (frames === null && inText.some((position) => position !== null))
    rest['raw_stack_trace'] ??= (stack_trace ?? '').slice(0, MAX_RAW_TRACE_LENGTH);
  if (own !== null) Object.assign(rest, formatSourceLines(own));
  return {
    stack_trace:
      stack_trace === null
        ? null
        : truncateStackTrace(replaceFrames(stack_trace, text, inText), REPORT_LIMITS.stack_trace),
    context:
      Object.keys(rest).length === 0 ? null : truncateObject(rest as { [key: string]: Json }, REPORT_LIMITS.context),
    place:
      own === null
        ? undefined
        : {
            file_path: truncateHead(own.file, REPORT_LIMITS.path),
            line_no: own.line,
            function_name: own.function === null ? null : cutText(own.function, REPORT_LIMITS.short),
          },
  };
}

function findOwnPosition(
  stack: readonly UnmappedFrame[],
  positions: readonly (SourcePosition | null)[],
): SourcePosition | null {
  const isOwn = ({ in_app }: UnmappedFrame, i: number): boolean => {
    const position = positions[i] ?? null;
    return position === null ? in_app === true : in_app !== false && !VENDOR_PATH_PATTERN.test(position.file);
  };
  const at = stack.findIndex(isOwn);
  return positions[at < 0 ? 0 : at] ?? null;
}

function rewriteFrame(frame: Json, raw: readonly RawFrame[], positions: readonly (SourcePosition | null)[]): Json {
  const at = raw.findIndex(({ kept: candidate }) => candidate === frame);
  const position = positions[at] ?? null;
  const storedFrame = raw[at]?.kept;
  if (position === null || storedFrame === undefined) return frame;
  const { function: _, locals, ...others } = storedFrame;
  return {
    ...others,
    filename: position.file,
    abs_path: position.file,
    lineno: position.line,
    ...(position.function !== null && { function: position.function }),
    in_app: storedFrame['in_app'] !== false && !VENDOR_PATH_PATTERN.test(position.file),
    ...formatSourceLines(position),
    ...(locals !== undefined && { locals }),
  };
}

function findRawFrames(context: Json): RawFrame[] {
  return (getFrames(context) ?? []).flatMap((frame) => {
    const storedFrame = toObject(frame);
    const raw = toObject(storedFrame?.['raw'] ?? null);
    if (storedFrame === null || raw === null) return [];
    const { filename: file, lineno: line, colno: column } = raw;
    const isScript = typeof file === 'string' && typeof line === 'number' && typeof column === 'number';
    // Rewritten frames have another place.
    return isScript && storedFrame['lineno'] === line ? [{ kept: storedFrame, file, line, column }] : [];
  });
}

function getFrames(context: Json): Json[] | null {
  const frames = toObject(context)?.['frames'];
  return Array.isArray(frames) ? frames : null;
}

const toObject = (value: Json): JsonObject | null =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null;
