import { createHash } from 'node:crypto';
import { inject, injectable, token } from '../../kernel/contract.js';
import { requireProject, ServiceError } from '../../kernel/errors.js';
import { PROJECTS, type ProjectDirectory } from '../../ports/domain/projects.js';
import type { TokenPrincipal } from '../../ports/http.js';
import { MapRefused, type BundledFile, type UploadedBytes } from '../../ports/source-maps/reader.js';
import { Bundles, type BundlePlan } from './bundles.js';
import type { SourceMapConfig } from './config.js';
import { Frames } from './frames.js';
import { Inbox, spaceOf, type SentPiece } from './inbox.js';
import { PIECE_BYTES } from './model.js';

export const CONFIG = token<SourceMapConfig>('sourcemaps.config');

export interface AssembleAnswer {
  state: 'not_found' | 'assembling' | 'ok' | 'error';
  missingChunks: string[];
  detail: string | null;
}

export interface AssembleRequest {
  checksum: string;
  chunks: string[];
  projects: string[];
  version: string | null;
  dist: string | null;
}

export interface MapUploader {
  principal: TokenPrincipal;
  reauthorize(this: void): Promise<void>;
}

export interface ReleaseFile {
  sha1: string;
  name: string;
  dist: string | null;
  size: number;
}

export interface SingleFile {
  hints?: readonly string[];
  project: string | null;
  release: string;
  dist: string | null;
  url: string;
  mapUrl: string | null;
  bytes: Buffer;
}

const NO_PROJECT =
  'No project is named: take a token of one project, or name it by `--project`, by `--org <project>` or in the release, as in `shop@1.4.2`.';

const LONGEST_COMMENT = 1_024;
const MAP_COMMENT = /\/[/*][#@] ?sourceMappingURL=([^\s'"*]{1,900})/g;

@injectable()
export class MapUploads {
  constructor(
    @inject(Bundles) private readonly bundles: Bundles,
    @inject(Inbox) private readonly inbox: Inbox,
    @inject(Frames) private readonly frames: Frames,
    @inject(PROJECTS) private readonly projects: ProjectDirectory,
    @inject(CONFIG) private readonly config: SourceMapConfig,
  ) {}

  async keep({ principal: { project } }: MapUploader, pieces: readonly SentPiece[]): Promise<void> {
    await this.inbox.put(spaceOf(project), pieces);
  }

  /**
   * Assembles a bundle for each named project, by default for the token's own.
   * @throws ServiceError insufficient_scope, unknown_project, validation_failed
   */
  async assemble({ principal, reauthorize }: MapUploader, asked: AssembleRequest): Promise<AssembleAnswer> {
    const projects = await this.#projects(principal, asked.projects);
    const { checksum, version: release, dist, chunks } = asked;
    const found = await Promise.all(
      projects.map((project) => this.bundles.known(Bundles.idOf({ project, checksum, release, dist }))),
    );
    if (found.every((bundle) => bundle?.state === 'ready')) {
      for (const [i, project] of projects.entries()) await this.#retry(project, found[i]?.id);
      return answer('ok');
    }
    const space = spaceOf(principal.project);
    const missingChunks = await this.inbox.missing(space, chunks);
    if (missingChunks.length > 0) return { state: 'not_found', missingChunks, detail: null };
    const last = await this.#size(space, chunks.at(-1) ?? '');
    const size = (chunks.length - 1) * PIECE_BYTES + last;
    for (const [i, project] of projects.entries()) {
      if (found[i]?.state === 'ready') continue;
      const made = await this.#make({
        project,
        checksum,
        release,
        dist,
        size,
        by: principal.name,
        reauthorize,
        piece: (n) => this.#piece(space, chunks[n] ?? '', n === chunks.length - 1 ? last : PIECE_BYTES),
        files: async (bytes) => {
          if ((await sha1Of(bytes)) !== checksum) throw new MapRefused('is not the content of its checksum');
          return this.bundles.maps.unpack(project, bytes);
        },
      });
      if (made !== 'ok') return answer(made === 'assembling' ? made : 'error', made === 'assembling' ? null : made);
    }
    await this.inbox.forget(space, chunks);
    return answer('ok');
  }

  /**
   * Stores a single release file, as older tools send it.
   * @throws ServiceError unknown_project, payload_too_large
   */
  async file({ principal, reauthorize }: MapUploader, given: SingleFile): Promise<{ sha1: string }> {
    const { release, dist, url, bytes } = given;
    const [project = ''] = await this.#projects(principal, given.project === null ? [] : [given.project], given.hints);
    const sha1 = createHash('sha1').update(bytes).digest('hex');
    const whole = { offset: 0, length: bytes.length, packed: bytes.length, size: bytes.length, form: 'plain' } as const;
    const isMap = /\.map(?:[?#]|$)/i.test(url);
    const file: BundledFile = {
      ...whole,
      kind: isMap ? 'map' : 'script',
      url,
      debugId: null,
      mapUrl: isMap ? null : (given.mapUrl ?? namedMap(bytes)),
    };
    // The same bytes may have several addresses.
    const about = { project, checksum: createHash('sha1').update(`${sha1}\n${url}`).digest('hex'), release, dist };
    const made = await this.#make({
      ...about,
      size: bytes.length,
      by: principal.name,
      reauthorize,
      piece: async (n) => bytes.subarray(n * PIECE_BYTES, (n + 1) * PIECE_BYTES),
      files: async () => [file],
    });
    if (made === 'assembling') await this.#retry(project, Bundles.idOf(about));
    else if (made !== 'ok') throw new ServiceError('payload_too_large', `The file ${made}.`);
    return { sha1 };
  }

  /**
   * Returns the slugs of the requested projects.
   * @param hints possible project names, used when neither call nor token names one
   * @throws ServiceError insufficient_scope, unknown_project, validation_failed
   */
  projectsOf({ principal }: MapUploader, named: readonly string[], hints: readonly string[] = []): Promise<string[]> {
    return this.#projects(principal, named, hints);
  }

  async findProject(hints: readonly string[]): Promise<string | null> {
    for (const hint of hints) {
      const found = await this.projects.get(hint);
      if (found !== null) return found.slug;
    }
    return null;
  }

  /**
   * Returns the files of a release by name.
   * @throws ServiceError insufficient_scope, unknown_project, validation_failed
   */
  async filesOf(
    { principal }: MapUploader,
    named: readonly string[],
    release: string,
    hints: readonly string[] = [],
  ): Promise<ReleaseFile[]> {
    const projects = await this.#projects(principal, named, hints);
    const found = await Promise.all(projects.map((project) => this.bundles.filesOf(project, release)));
    return found.flat().toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  async forget(project: string): Promise<void> {
    await this.inbox.clear(spaceOf(project));
    await this.bundles.forget(project);
    this.frames.changed(project);
  }

  /** Retries a repeated upload, because another version of this service may have rejected it. */
  async #retry(project: string, bundle: string | undefined): Promise<void> {
    if (bundle === undefined) return;
    await this.bundles.retry(bundle);
    this.frames.changed(project);
  }

  async #make(plan: BundlePlan): Promise<string> {
    const most = this.config.sourcemap_bytes;
    if (plan.size > most) return `is larger than all that a project may keep (errors.sourcemap_bytes, ${most} bytes)`;
    try {
      if (!(await this.bundles.make(plan))) return 'assembling';
    } catch (error) {
      if (error instanceof MapRefused) return error.why;
      throw error;
    }
    await this.bundles.fit(plan.project, most);
    this.frames.changed(plan.project);
    return 'ok';
  }

  async #projects(
    { project }: TokenPrincipal,
    named: readonly string[],
    hints: readonly string[] = [],
  ): Promise<string[]> {
    const bound = project === null ? await this.findProject(named.length > 0 ? [] : hints) : project;
    const slugs = [...new Set(named.length === 0 && bound !== null ? [bound] : named)];
    if (slugs.length === 0)
      throw new ServiceError('validation_failed', NO_PROJECT, {
        fields: { projects: 'must name a project where the token is bound to none' },
      });
    for (const slug of slugs) requireProject(project, slug);
    for (const slug of slugs) await this.projects.accepting(slug, 'reports');
    return slugs;
  }

  async #size(space: string, name: string): Promise<number> {
    return (await this.inbox.data(space, name))?.length ?? 0;
  }

  /** @throws MapRefused for a chunk of another size, because offsets derive from chunk numbers */
  async #piece(space: string, name: string, size: number): Promise<Uint8Array> {
    const data = await this.inbox.data(space, name);
    if (data === null) throw new MapRefused('has lost a piece on its way; send it again');
    if (data.length !== size) throw new MapRefused(`has a piece of another size than ${PIECE_BYTES}`);
    return data;
  }
}

async function sha1Of(upload: UploadedBytes): Promise<string> {
  const hash = createHash('sha1');
  for (let from = 0; from < upload.size; from += PIECE_BYTES) hash.update(await upload.read(from, from + PIECE_BYTES));
  return hash.digest('hex');
}

const answer = (state: AssembleAnswer['state'], why: string | null = null): AssembleAnswer => ({
  state,
  missingChunks: [],
  detail: why === null ? null : `The bundle ${why}.`,
});

function namedMap(script: Buffer): string | null {
  const end = script.toString('latin1', Math.max(0, script.length - LONGEST_COMMENT));
  return [...end.matchAll(MAP_COMMENT)].at(-1)?.[1] ?? null;
}
