/**
 * Rewrites frames of minified scripts (contract 21, Beyond the specification: what JavaScript and
 * releases need). An error waits at most some seconds for its maps and is never lost.
 */
import { inject, injectable, PORT, type AppSettings, type Clock, type Logger } from '../../kernel/contract.js';
import { BoundedMap } from '../../lib/bounded-map.js';
import type {
  FrameQuestion,
  FrameRewriter,
  MissingMap,
  RewrittenFrames,
  ScriptFrame,
} from '../../ports/domain/frames.js';
import { MapRefused, type PackedUpload, type SourceMaps, type SourcePosition } from '../../ports/source-maps/reader.js';
import { Artifacts, type MapPair } from './artifacts.js';
import { Bundles } from './bundles.js';
import type { Artifact } from './model.js';

const LONGEST_MS = 20_000;
/** Cached positions, each with eleven source lines. */
const MOST_PLACES = 4_000;
const MOST_SCRIPTS = 20;
const MOST_MISSING = 5;
const DAY = 10;

interface Place {
  position: SourcePosition | null;
}

@injectable()
export class Frames implements FrameRewriter {
  readonly #places = new BoundedMap<Place>({ most: MOST_PLACES });
  readonly #used = new BoundedMap<string>({ most: 1_000 });

  constructor(
    @inject(Artifacts) private readonly artifacts: Artifacts,
    @inject(Bundles) private readonly bundles: Bundles,
    @inject(PORT.sourceMaps) private readonly maps: SourceMaps,
    @inject(PORT.app) private readonly app: AppSettings,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.log) private readonly log: Logger,
  ) {}

  changed(project: string): void {
    this.artifacts.forget();
    this.log.debug({ project }, 'source maps have changed');
  }

  /** If unknown, the store is queried in the background for later reports. */
  hasNone(project: string): boolean {
    const some = this.artifacts.hasSomeNow(project);
    if (some === undefined)
      this.artifacts
        .hasSome(project)
        .catch((err: unknown) => this.log.debug({ err, project }, 'it is not known whether a project has source maps'));
    return some === false;
  }

  rewrite(question: FrameQuestion): Promise<RewrittenFrames> | null {
    const { project, debugIds, frames } = question;
    if (frames.length === 0) return null;
    if (debugIds.size === 0 && this.hasNone(project)) return null;
    const rewritten = this.#rewritten(question).catch((err: unknown) => {
      this.log.error({ err, project }, 'the frames of an error could not be rewritten');
      return this.#late(question);
    });
    return this.#inTime(rewritten, () => {
      this.log.warn({ project }, 'the source maps of an error were not read in time: its frames are rewritten later');
      return this.#late(question);
    });
  }

  /** A late result is cached for the next error. */
  async #inTime<T>(work: Promise<T>, late: () => T): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<T>((resolve) => {
      timer = setTimeout(() => resolve(late()), LONGEST_MS);
    });
    return Promise.race([work, limit]).finally(() => clearTimeout(timer));
  }

  async #rewritten(question: FrameQuestion): Promise<RewrittenFrames> {
    const { project, frames, debugIds } = question;
    const positions: (SourcePosition | null)[] = frames.map(() => null);
    const missing: MissingMap[] = [];
    const late: string[] = [];
    const some = await this.artifacts.hasSome(project);
    for (const [file, indexes] of byFile(frames)) {
      const debugId = debugIds.get(file) ?? null;
      const miss = (why: string): void => {
        if (missing.length < MOST_MISSING) missing.push(this.#missing(project, file, debugId, why));
      };
      const pair = some ? await this.artifacts.find({ ...question, file, debugId }) : null;
      if (pair === null) {
        if (debugId !== null) miss('was not uploaded');
      } else if (pair.map.fault !== null) {
        if (debugId !== null) miss(pair.map.fault);
      } else {
        const refused = await this.#locate(project, pair, frames, indexes, positions);
        if (refused === null) continue;
        if (!refused.lasting) late.push(file);
        if (debugId !== null || !refused.lasting) miss(refused.why);
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
  ): Promise<MapRefused | null> {
    const nameOf = ({ line, column }: ScriptFrame): string => `${pair.map.id}:${line}:${column}`;
    const unknown: ScriptFrame[] = [];
    for (const index of indexes) {
      const frame = frames[index];
      if (frame !== undefined && this.#places.get(nameOf(frame)) === undefined) unknown.push(frame);
    }
    if (unknown.length > 0) {
      try {
        const found = await this.#ask(project, pair, unknown);
        unknown.forEach((frame, i) => this.#places.set(nameOf(frame), { position: found[i] ?? null }));
      } catch (error) {
        if (!(error instanceof MapRefused)) throw error;
        if (error.lasting) await this.artifacts.faulty(pair.map, error.why);
        return error;
      }
    }
    for (const index of indexes) {
      const frame = frames[index];
      if (frame !== undefined) positions[index] = this.#places.get(nameOf(frame))?.position ?? null;
    }
    await this.#note(pair.map.bundle);
    return null;
  }

  #ask(owner: string, { map, script }: MapPair, positions: readonly ScriptFrame[]): Promise<(SourcePosition | null)[]> {
    const load = async (): Promise<{ map: PackedUpload; script: PackedUpload | null }> => ({
      map: this.#uploaded(map),
      script: script === null ? null : this.#uploaded(script),
    });
    return this.maps.locate({
      owner,
      id: map.id,
      positions: positions.map(({ line, column }) => ({ line, column })),
      load,
    });
  }

  #uploaded({ bundle, file }: Artifact): PackedUpload {
    return { file, bytes: this.bundles.bytesOf({ id: bundle, size: file.offset + file.length }) };
  }

  #late({ project, debugIds, frames }: FrameQuestion): RewrittenFrames {
    const late = [...byFile(frames).keys()];
    const missing = late
      .slice(0, MOST_MISSING)
      .map((file) => this.#missing(project, file, debugIds.get(file) ?? null, 'was not read in time'));
    return { frames: frames.map(() => null), missing, late };
  }

  async #note(bundle: string): Promise<void> {
    const now = this.clock.iso();
    const day = now.slice(0, DAY);
    if (this.#used.get(bundle) === day) return;
    this.#used.set(bundle, day);
    await this.bundles.used(bundle, now);
  }

  #missing(project: string, file: string, debug_id: string | null, clause: string): MissingMap {
    const url = this.app.base_url;
    const problem = `The source map ${debug_id === null ? `of ${file}` : `with the debug id ${debug_id}`} ${clause}.`;
    const command = `sentry-cli --url ${url} sourcemaps upload --org aos --project ${project} ./dist`;
    return { file, debug_id, problem, command };
  }
}

function byFile(frames: readonly ScriptFrame[]): Map<string, number[]> {
  const files = new Map<string, number[]>();
  frames.forEach(({ file }, i) => {
    const indexes = files.get(file);
    if (indexes !== undefined) indexes.push(i);
    else if (files.size < MOST_SCRIPTS) files.set(file, [i]);
  });
  return files;
}
