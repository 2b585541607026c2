/**
 * An error waits at most some seconds for its maps and is never lost (contract 21, Beyond the
 * specification: what JavaScript and releases need).
 */
import { inject, injectable, PORT, type AppSettings, type Clock, type Logger } from '../../kernel/contract/index.js';
import { BoundedMap } from '../../lib/bounded-map.js';
import type {
  FrameRewriteRequest,
  FrameRewriter,
  MissingMap,
  RewrittenFrames,
  ScriptFrame,
} from '../../ports/domain/frame-rewriting.js';
import {
  SourceMapRejected,
  type PackedUpload,
  type SourceMaps,
  type SourcePosition,
} from '../../ports/source-map-reader.js';
import { ArtifactResolver, type MapPair } from './artifact-resolver.js';
import { BundleService } from './bundles.js';
import type { Artifact } from './model.js';

const MAX_WAIT_MS = 20_000;
/** Cached positions, each with eleven source lines. */
const MAX_CACHED_POSITIONS = 4_000;
const MAX_SCRIPTS = 20;
const MAX_MISSING_MAPS = 5;
const DATE_LENGTH = 10;

interface CachedPosition {
  position: SourcePosition | null;
}

@injectable()
export class SourceMapFrameRewriter implements FrameRewriter {
  readonly #places = new BoundedMap<CachedPosition>({ most: MAX_CACHED_POSITIONS });
  readonly #usedDays = new BoundedMap<string>({ most: 1_000 });

  constructor(
    @inject(ArtifactResolver) private readonly artifacts: ArtifactResolver,
    @inject(BundleService) private readonly bundles: BundleService,
    @inject(PORT.sourceMaps) private readonly maps: SourceMaps,
    @inject(PORT.app) private readonly app: AppSettings,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.log) private readonly log: Logger,
  ) {}

  clearCaches(project: string): void {
    this.artifacts.clearCache();
    this.log.debug({ project }, 'source maps have changed');
  }

  /** If unknown, the store is queried in the background for later reports. */
  hasNoMaps(project: string): boolean {
    const some = this.artifacts.hasMapsCached(project);
    if (some === undefined)
      this.artifacts
        .hasMaps(project)
        .catch((err: unknown) => this.log.debug({ err, project }, 'could not check whether a project has source maps'));
    return some === false;
  }

  rewrite(question: FrameRewriteRequest): Promise<RewrittenFrames> | null {
    const { project, debugIds, frames } = question;
    if (frames.length === 0) return null;
    if (debugIds.size === 0 && this.hasNoMaps(project)) return null;
    const rewritten = this.#rewriteFrames(question).catch((err: unknown) => {
      this.log.error({ err, project }, 'the frames of an error could not be mapped');
      return this.#buildLateResult(question);
    });
    return this.#withTimeout(rewritten, () => {
      this.log.warn({ project }, 'the source maps of an error were not read in time: its frames will be mapped later');
      return this.#buildLateResult(question);
    });
  }

  /** A late result is cached for the next error. */
  async #withTimeout<T>(work: Promise<T>, late: () => T): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<T>((resolve) => {
      timer = setTimeout(() => resolve(late()), MAX_WAIT_MS);
    });
    return Promise.race([work, limit]).finally(() => clearTimeout(timer));
  }

  async #rewriteFrames(question: FrameRewriteRequest): Promise<RewrittenFrames> {
    const { project, frames, debugIds } = question;
    const positions: (SourcePosition | null)[] = frames.map(() => null);
    const missing: MissingMap[] = [];
    const late: string[] = [];
    const some = await this.artifacts.hasMaps(project);
    for (const [file, indexes] of groupByFile(frames)) {
      const debugId = debugIds.get(file) ?? null;
      const miss = (why: string): void => {
        if (missing.length < MAX_MISSING_MAPS) missing.push(this.#toMissingMap(project, file, debugId, why));
      };
      const pair = some ? await this.artifacts.find({ ...question, file, debugId }) : null;
      if (pair === null) {
        if (debugId !== null) miss('was not uploaded');
      } else if (pair.map.fault !== null) {
        if (debugId !== null) miss(pair.map.fault);
      } else {
        const rejection = await this.#locate(project, pair, frames, indexes, positions);
        if (rejection === null) continue;
        if (!rejection.lasting) late.push(file);
        if (debugId !== null || !rejection.lasting) miss(rejection.why);
      }
    }
    return { frames: positions, missing, late };
  }

  async #locate(
    project: string,
    pair: MapPair,
    frames: readonly ScriptFrame[],
    indexes: readonly number[],
    positions: (SourcePosition | null)[],
  ): Promise<SourceMapRejected | null> {
    const nameOf = ({ line, column }: ScriptFrame): string => `${pair.map.id}:${line}:${column}`;
    const unknown: ScriptFrame[] = [];
    for (const index of indexes) {
      const frame = frames[index];
      if (frame !== undefined && this.#places.get(nameOf(frame)) === undefined) unknown.push(frame);
    }
    if (unknown.length > 0) {
      try {
        const found = await this.#lookUp(project, pair, unknown);
        unknown.forEach((frame, i) => this.#places.set(nameOf(frame), { position: found[i] ?? null }));
      } catch (error) {
        if (!(error instanceof SourceMapRejected)) throw error;
        if (error.lasting) await this.artifacts.markFaulty(pair.map, error.why);
        return error;
      }
    }
    for (const index of indexes) {
      const frame = frames[index];
      if (frame !== undefined) positions[index] = this.#places.get(nameOf(frame))?.position ?? null;
    }
    await this.#recordUse(pair.map.bundle);
    return null;
  }

  #lookUp(
    owner: string,
    { map, script }: MapPair,
    positions: readonly ScriptFrame[],
  ): Promise<(SourcePosition | null)[]> {
    const load = async (): Promise<{ map: PackedUpload; script: PackedUpload | null }> => ({
      map: this.#toPackedUpload(map),
      script: script === null ? null : this.#toPackedUpload(script),
    });
    return this.maps.locate({
      owner,
      id: map.id,
      positions: positions.map(({ line, column }) => ({ line, column })),
      load,
    });
  }

  #toPackedUpload({ bundle, file }: Artifact): PackedUpload {
    return { file, bytes: this.bundles.readUpload({ id: bundle, size: file.offset + file.length }) };
  }

  #buildLateResult({ project, debugIds, frames }: FrameRewriteRequest): RewrittenFrames {
    const late = [...groupByFile(frames).keys()];
    const missing = late
      .slice(0, MAX_MISSING_MAPS)
      .map((file) => this.#toMissingMap(project, file, debugIds.get(file) ?? null, 'was not read in time'));
    return { frames: frames.map(() => null), missing, late };
  }

  async #recordUse(bundle: string): Promise<void> {
    const now = this.clock.iso();
    const day = now.slice(0, DATE_LENGTH);
    if (this.#usedDays.get(bundle) === day) return;
    this.#usedDays.set(bundle, day);
    await this.bundles.recordUse(bundle, now);
  }

  #toMissingMap(project: string, file: string, debug_id: string | null, clause: string): MissingMap {
    const url = this.app.base_url;
    const problem = `The source map ${debug_id === null ? `of ${file}` : `with the debug id ${debug_id}`} ${clause}.`;
    const command = `sentry-cli --url ${url} sourcemaps upload --org aos --project ${project} ./dist`;
    return { file, debug_id, problem, command };
  }
}

function groupByFile(frames: readonly ScriptFrame[]): Map<string, number[]> {
  const files = new Map<string, number[]>();
  frames.forEach(({ file }, i) => {
    const indexes = files.get(file);
    if (indexes !== undefined) indexes.push(i);
    else if (files.size < MAX_SCRIPTS) files.set(file, [i]);
  });
  return files;
}
