/**
 * Rewrites frames whose source maps were not loaded in time (contract 21, source maps). Every step
 * is repeatable. Rewritten texts are truncated as in reports; the occurrence store scrubs them.
 */
import { inject, injectable, token } from '../../kernel/contract.js';
import { cutText } from '../../lib/text/cut-text.js';
import { isoOf } from '../../lib/time.js';
import {
  VENDOR_PATH,
  type FrameRewriter,
  type RewrittenFrames,
  type ScriptFrame,
  LATE_OCCURRENCES,
  type LateFrame,
  type LateOccurrence,
  type LateOccurrences,
  type RewrittenOccurrence,
} from '../../ports/domain/frames.js';
import type { SourcePosition } from '../../ports/source-maps/reader.js';
import type { Logger } from '../../ports/logger.js';
import type { Json } from '../../ports/store.js';
import { cutHead, cutObject, cutStack } from './limits/cut.js';
import { LIMITS } from './report.js';
import { FIND_REWRITER, RAW, formatSourceLines } from './minified.js';
import { findFramesOfScripts, replaceFrames, type TextFrame } from './trace-lines.js';

const BATCH_SIZE = 20;
const MAX_FRAMES_WITH_SOURCE = 6;
const DEFAULT_DELAY_MS = 30_000;

export const LATE_FRAME_LOG = token<Pick<Logger, 'warn'>>('errorstream.late_frame_log');

type JsonObject = { [key: string]: Json | undefined };

/** Context frame that was not rewritten yet. */
interface RawFrame extends ScriptFrame {
  kept: JsonObject;
}

interface StoredFrames {
  stack: readonly LateFrame[];
  text: readonly TextFrame[];
  raw: readonly RawFrame[];
}

@injectable()
export class LateFrameJob {
  constructor(
    @inject(LATE_OCCURRENCES) private readonly occurrences: LateOccurrences,
    @inject(FIND_REWRITER) private readonly rewriter: () => FrameRewriter | undefined,
    @inject(LATE_FRAME_LOG) private readonly log: Pick<Logger, 'warn'>,
  ) {}

  /**
   * Runs until nothing is due. Occurrences of a project whose maps are still late wait for their
   * next attempt.
   */
  async run(signal: AbortSignal, now: number): Promise<void> {
    const rewriter = this.rewriter();
    if (rewriter === undefined) return;
    const nextAttempts = new Map<string, string>();
    for (;;) {
      const due = await this.occurrences.due(BATCH_SIZE);
      if (due.length === 0) return;
      for (const occurrence of due) {
        if (signal.aborted) return;
        const next = nextAttempts.get(occurrence.project);
        if (next !== undefined) await this.occurrences.defer(occurrence, next);
        else if (!(await this.#tryRewrite(rewriter, occurrence))) {
          const attempt = await this.occurrences.postpone(occurrence);
          nextAttempts.set(occurrence.project, attempt ?? isoOf(now + DEFAULT_DELAY_MS));
        }
      }
    }
  }

  /** Damaged occurrences must not block the others. */
  async #tryRewrite(rewriter: FrameRewriter, occurrence: LateOccurrence): Promise<boolean> {
    try {
      return await this.#rewrite(rewriter, occurrence);
    } catch (err) {
      const { id, project } = occurrence;
      this.log.warn({ err, occurrence: id, project }, 'late frames not rewritten');
      await this.occurrences.postpone(occurrence);
      return true;
    }
  }

  async #rewrite(rewriter: FrameRewriter, occurrence: LateOccurrence): Promise<boolean> {
    const { late, project, stack_trace: trace, context } = occurrence;
    const names = new Map(late.scripts.map(({ shown, file }) => [shown, file]));
    const frames: StoredFrames = {
      stack: late.stack,
      text: findFramesOfScripts(trace ?? '', names),
      raw: rawFramesIn(context),
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
    await this.occurrences.rewrite(occurrence, rewrittenBy(found, frames, occurrence));
    return true;
  }
}

function rewrittenBy(
  found: RewrittenFrames | null,
  { stack, text, raw }: StoredFrames,
  { stack_trace, context }: LateOccurrence,
): RewrittenOccurrence {
  const positions = found?.frames ?? [];
  const inText = positions.slice(stack.length, stack.length + text.length);
  const inContext = positions.slice(stack.length + text.length);
  const own = ownPosition(stack, positions);
  const frames = framesOf(context);
  const rest: JsonObject = { ...objectOf(context) };
  delete rest['missing_source_maps'];
  if (found !== null && found.missing.length > 0)
    rest['missing_source_maps'] = found.missing.map((map) => ({ ...map }));
  if (frames !== null) {
    let withSource = MAX_FRAMES_WITH_SOURCE;
    rest['frames'] = frames.map((frame) => {
      const rewritten = rewrittenFrame(frame, raw, inContext);
      const fields = objectOf(rewritten);
      if (rewritten === frame || fields === null) return frame;
      if (fields['in_app'] === true && withSource-- > 0) return rewritten;
      const { source: _, ...others } = fields;
      return others;
    });
  }
  if (frames === null && inText.some((position) => position !== null))
    rest['raw_stack_trace'] ??= (stack_trace ?? '').slice(0, RAW);
  if (own !== null) Object.assign(rest, formatSourceLines(own));
  return {
    stack_trace: stack_trace === null ? null : cutStack(replaceFrames(stack_trace, text, inText), LIMITS.stack_trace),
    context: Object.keys(rest).length === 0 ? null : cutObject(rest as { [key: string]: Json }, LIMITS.context),
    place:
      own === null
        ? undefined
        : {
            file_path: cutHead(own.file, LIMITS.path),
            line_no: own.line,
            function_name: own.function === null ? null : cutText(own.function, LIMITS.short),
          },
  };
}

function ownPosition(
  stack: readonly LateFrame[],
  positions: readonly (SourcePosition | null)[],
): SourcePosition | null {
  const isOwn = ({ in_app }: LateFrame, i: number): boolean => {
    const position = positions[i] ?? null;
    return position === null ? in_app === true : in_app !== false && !VENDOR_PATH.test(position.file);
  };
  const at = stack.findIndex(isOwn);
  return positions[at < 0 ? 0 : at] ?? null;
}

function rewrittenFrame(frame: Json, raw: readonly RawFrame[], positions: readonly (SourcePosition | null)[]): Json {
  const at = raw.findIndex(({ kept }) => kept === frame);
  const position = positions[at] ?? null;
  const kept = raw[at]?.kept;
  if (position === null || kept === undefined) return frame;
  const { function: _, locals, ...others } = kept;
  return {
    ...others,
    filename: position.file,
    abs_path: position.file,
    lineno: position.line,
    ...(position.function !== null && { function: position.function }),
    in_app: kept['in_app'] !== false && !VENDOR_PATH.test(position.file),
    ...formatSourceLines(position),
    ...(locals !== undefined && { locals }),
  };
}

function rawFramesIn(context: Json): RawFrame[] {
  return (framesOf(context) ?? []).flatMap((frame) => {
    const kept = objectOf(frame);
    const raw = objectOf(kept?.['raw'] ?? null);
    if (kept === null || raw === null) return [];
    const { filename: file, lineno: line, colno: column } = raw;
    const isScript = typeof file === 'string' && typeof line === 'number' && typeof column === 'number';
    // Rewritten frames have the place of their source.
    return isScript && kept['lineno'] === line ? [{ kept, file, line, column }] : [];
  });
}

function framesOf(context: Json): Json[] | null {
  const frames = objectOf(context)?.['frames'];
  return Array.isArray(frames) ? frames : null;
}

const objectOf = (value: Json): JsonObject | null =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null;
