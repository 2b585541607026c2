/**
 * From an application's own handler (contract 21, Beyond the specification: what JavaScript and
 * releases need). Text has no debug ids, so maps are found by version and address.
 */
import { inject, injectable, token } from '../../kernel/contract/index.js';
import type { ErrorReport } from '../../ports/domain/errors.js';
import type { FrameRewriter, UnmappedFrames, RewrittenFrames } from '../../ports/domain/frame-rewriting.js';
import type { SourcePosition } from '../../ports/source-map-reader.js';
import type { Json } from '../../ports/store/index.js';
import type { ErrorBody } from './report-body.js';
import { findScriptFrames, replaceFrames, type TextFrame } from './text-frames.js';

/** Undefined if no plugin provides one. */
export const FRAME_REWRITER_RESOLVER = token<() => FrameRewriter | undefined>('errorstream.frames');

type TracedBody = ErrorBody & Pick<ErrorReport, 'function' | 'late'>;

export const MAX_RAW_TRACE_LENGTH = 8_192;

@injectable()
export class MinifiedTraceRewriter {
  constructor(@inject(FRAME_REWRITER_RESOLVER) private readonly rewriter: () => FrameRewriter | undefined) {}

  /** Null synchronously when unchanged. Never rejects. */
  rewrite<Body extends TracedBody>(body: Body): Promise<Body> | null {
    const trace = body.stack_trace ?? '';
    const rewriter = trace === '' ? undefined : this.rewriter();
    if (rewriter === undefined || rewriter.hasNoMaps(body.project)) return null;
    const frames = findScriptFrames(trace);
    return frames.length === 0 ? null : this.#rewriteTrace(rewriter, body, trace, frames);
  }

  async #rewriteTrace<Body extends TracedBody>(
    rewriter: FrameRewriter,
    body: Body,
    trace: string,
    frames: readonly TextFrame[],
  ): Promise<Body> {
    const releases = listReleaseNames(body);
    let late: RewrittenFrames | null = null;
    for (const release of releases) {
      const { project } = body;
      const found = await rewriter.rewrite({ project, release, dist: null, debugIds: new Map(), frames });
      if (found === null) continue;
      const isRewritten = found.frames.some((position) => position !== null);
      const made = isRewritten ? { ...body, ...buildRewrittenFields(body, trace, frames, found.frames) } : body;
      if (found.late.length > 0) late ??= found;
      if (isRewritten)
        return found.late.length === 0 ? made : { ...made, ...buildLateFields(made, releases, frames, found) };
    }
    return late === null ? body : { ...body, ...buildLateFields(body, releases, frames, late) };
  }
}

/** Builds upload maps under either name. */
function listReleaseNames({ project, app_version, build, release }: TracedBody): string[] {
  const version = [app_version, build, release].find((text) => typeof text === 'string' && text.trim() !== '');
  if (!version) return [];
  return version.includes('@') ? [version] : [version, `${project}@${version}`];
}

function buildRewrittenFields(
  body: TracedBody,
  trace: string,
  frames: readonly TextFrame[],
  positions: readonly (SourcePosition | null)[],
): Partial<TracedBody> {
  const given = body.file ?? body.file_path ?? null;
  // The reported file determines the group.
  const at = given === null || given === '' ? 0 : frames.findIndex(({ file }) => file === given);
  const shown = positions[at] ?? null;
  const { context } = body;
  return {
    stack_trace: replaceFrames(trace, frames, positions),
    context: {
      ...context,
      raw_stack_trace: trace.slice(0, MAX_RAW_TRACE_LENGTH),
      ...(shown !== null && context?.['source'] === undefined && formatSourceLines(shown)),
    },
    ...(shown !== null && { file: shown.file, file_path: null, line: shown.line, line_no: null }),
    ...(shown !== null && body.function && { function: shown.function }),
  };
}

/** Builds state for a later attempt. */
function buildLateFields(
  { file, file_path, context }: TracedBody,
  releases: readonly string[],
  frames: readonly TextFrame[],
  { late, missing }: RewrittenFrames,
): Pick<TracedBody, 'late' | 'context'> {
  const given = file ?? file_path ?? '';
  const first = given === '' ? frames[0] : frames.find((frame) => frame.file === given);
  const stack: UnmappedFrames['stack'] =
    first === undefined ? [] : [{ file: first.file, line: first.line, column: first.column, in_app: null }];
  const scripts = late.map((name) => ({ file: name, shown: name, debug_id: null }));
  return {
    late: { releases, dist: null, scripts, stack },
    context: { ...context, missing_source_maps: missing.map((map) => ({ ...map })) },
  };
}

export function formatSourceLines({ line, source }: SourcePosition): { source?: Json } {
  if (source === null) return {};
  const first = line - source.before.length;
  const lines = [...source.before, source.line, ...source.after];
  return { source: Object.fromEntries(lines.map((text, i) => [String(first + i), text])) };
}
