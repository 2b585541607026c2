/**
 * Stack traces of minified scripts in reports of the application's own handler (contract 21, Beyond the specification:
 * what JavaScript and releases need). A text states no debug ids, so its maps are found by version and address. Frames
 * of a known map are rewritten in the text, before the error is grouped; the trace as it came is kept in the context.
 */
import { inject, injectable, token } from '../../kernel/contract.js';
import type { ErrorReport } from '../../ports/domain/errors.js';
import type { FrameRewriter, LateFrames, RewrittenFrames } from '../../ports/domain/frames.js';
import type { SourcePosition } from '../../ports/source-maps/reader.js';
import type { Json } from '../../ports/store.js';
import type { ErrorBody } from './body.js';
import { findScriptFrames, replaceFrames, type TextFrame } from './trace-lines.js';

/** Who rewrites frames; undefined where nobody does. */
export const FIND_REWRITER = token<() => FrameRewriter | undefined>('errorstream.frames');

/** A report of an application or of a plugin. */
type TracedBody = ErrorBody & Pick<ErrorReport, 'function' | 'late'>;

/** Characters of the raw trace that are kept. */
export const RAW = 8_192;

@injectable()
export class MinifiedTraces {
  constructor(@inject(FIND_REWRITER) private readonly rewriter: () => FrameRewriter | undefined) {}

  /** Null, at once: the report stays as it is. Never rejects. */
  readable<Body extends TracedBody>(body: Body): Promise<Body> | null {
    const trace = body.stack_trace ?? '';
    const rewriter = trace === '' ? undefined : this.rewriter();
    if (rewriter === undefined || rewriter.hasNone(body.project)) return null;
    const frames = findScriptFrames(trace);
    return frames.length === 0 ? null : this.#rewritten(rewriter, body, trace, frames);
  }

  async #rewritten<Body extends TracedBody>(
    rewriter: FrameRewriter,
    body: Body,
    trace: string,
    frames: readonly TextFrame[],
  ): Promise<Body> {
    const releases = releasesOf(body);
    let late: RewrittenFrames | null = null;
    for (const release of releases) {
      const { project } = body;
      const found = await rewriter.rewrite({ project, release, dist: null, debugIds: new Map(), frames });
      if (found === null) continue;
      const isRewritten = found.frames.some((position) => position !== null);
      const made = isRewritten ? { ...body, ...fieldsOf(body, trace, frames, found.frames) } : body;
      if (found.late.length > 0) late ??= found;
      if (isRewritten) return found.late.length === 0 ? made : { ...made, ...lateOf(made, releases, frames, found) };
    }
    return late === null ? body : { ...body, ...lateOf(body, releases, frames, late) };
  }
}

/** A build uploads its maps under its version, or as `shop@1.4.2`. */
function releasesOf({ project, app_version, build, release }: TracedBody): string[] {
  const version = [app_version, build, release].find((text) => typeof text === 'string' && text.trim() !== '');
  if (!version) return [];
  return version.includes('@') ? [version] : [version, `${project}@${version}`];
}

function fieldsOf(
  body: TracedBody,
  trace: string,
  frames: readonly TextFrame[],
  positions: readonly (SourcePosition | null)[],
): Partial<TracedBody> {
  const given = body.file ?? body.file_path ?? null;
  // The caller's own file decides the group: where it is a script's address, its frame's source takes its place.
  const at = given === null || given === '' ? 0 : frames.findIndex(({ file }) => file === given);
  const shown = positions[at] ?? null;
  const { context } = body;
  return {
    stack_trace: replaceFrames(trace, frames, positions),
    context: {
      ...context,
      raw_stack_trace: trace.slice(0, RAW),
      ...(shown !== null && context?.['source'] === undefined && formatSourceLines(shown)),
    },
    ...(shown !== null && { file: shown.file, file_path: null, line: shown.line, line_no: null }),
    // The function that the reporter states is the minified one.
    ...(shown !== null && body.function && { function: shown.function }),
  };
}

/** What a later attempt must know, and why the frames are the script's until then. */
function lateOf(
  { file, file_path, context }: TracedBody,
  releases: readonly string[],
  frames: readonly TextFrame[],
  { late, missing }: RewrittenFrames,
): Pick<TracedBody, 'late' | 'context'> {
  const given = file ?? file_path ?? '';
  const first = given === '' ? frames[0] : frames.find((frame) => frame.file === given);
  const stack: LateFrames['stack'] =
    first === undefined ? [] : [{ file: first.file, line: first.line, column: first.column, in_app: null }];
  const scripts = late.map((name) => ({ file: name, shown: name, debug_id: null }));
  return {
    late: { releases, dist: null, scripts, stack },
    context: { ...context, missing_source_maps: missing.map((map) => ({ ...map })) },
  };
}

/** Lines of source by their numbers, as the intake of SDKs has them. */
export function formatSourceLines({ line, source }: SourcePosition): { source?: Json } {
  if (source === null) return {};
  const first = line - source.before.length;
  const lines = [...source.before, source.line, ...source.after];
  return { source: Object.fromEntries(lines.map((text, i) => [String(first + i), text])) };
}
