import { createHash } from 'node:crypto';
import { inject, injectable, token } from '../../kernel/contract/index.js';
import { requireProject, ServiceError } from '../../kernel/errors.js';
import { PROJECTS, type ProjectDirectory } from '../../ports/domain/projects.js';
import type { TokenPrincipal } from '../../ports/http/index.js';
import { SourceMapRejected, type BundledFile, type UploadedBytes } from '../../ports/source-map-reader.js';
import { BundleService, type BundlePlan } from './bundles.js';
import type { SourceMapConfig } from './config.js';
import { SourceMapFrameRewriter } from './frame-rewriter.js';
import { ChunkInbox, toSpace, type UploadedChunk } from './chunk-inbox.js';
import { CHUNK_BYTES } from './model.js';

export const SOURCE_MAP_CONFIG = token<SourceMapConfig>('sourcemaps.config');

export interface AssembleResponse {
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

export interface SingleFileUpload {
  hints?: readonly string[];
  project: string | null;
  release: string;
  dist: string | null;
  url: string;
  mapUrl: string | null;
  bytes: Buffer;
}

const NO_PROJECT_MESSAGE =
  'The project is missing: use a token of one project, or set it with `--project`, with `--org <project>` or in the release, as in `shop@1.4.2`.';

const MAX_COMMENT_LENGTH = 1_024;
const MAP_COMMENT_PATTERN = /\/[/*][#@] ?sourceMappingURL=([^\s'"*]{1,900})/g;

@injectable()
export class MapUploadService {
  constructor(
    @inject(BundleService) private readonly bundles: BundleService,
    @inject(ChunkInbox) private readonly inbox: ChunkInbox,
    @inject(SourceMapFrameRewriter) private readonly frames: SourceMapFrameRewriter,
    @inject(PROJECTS) private readonly projects: ProjectDirectory,
    @inject(SOURCE_MAP_CONFIG) private readonly config: SourceMapConfig,
  ) {}

  async storeChunks({ principal: { project } }: MapUploader, pieces: readonly UploadedChunk[]): Promise<void> {
    await this.inbox.put(toSpace(project), pieces);
  }

  /** @throws ServiceError insufficient_scope, unknown_project, validation_failed */
  async assemble({ principal, reauthorize }: MapUploader, request: AssembleRequest): Promise<AssembleResponse> {
    const projects = await this.#findProjects(principal, request.projects);
    const { checksum, version: release, dist, chunks } = request;
    const found = await Promise.all(
      projects.map((project) => this.bundles.find(BundleService.toBundleId({ project, checksum, release, dist }))),
    );
    if (found.every((bundle) => bundle?.state === 'ready')) {
      for (const [i, project] of projects.entries()) await this.#retry(project, found[i]?.id);
      return buildResponse('ok');
    }
    const space = toSpace(principal.project);
    const missingChunks = await this.inbox.listMissing(space, chunks);
    if (missingChunks.length > 0) return { state: 'not_found', missingChunks, detail: null };
    const last = await this.#getSize(space, chunks.at(-1) ?? '');
    const size = (chunks.length - 1) * CHUNK_BYTES + last;
    for (const [i, project] of projects.entries()) {
      if (found[i]?.state === 'ready') continue;
      const made = await this.#assembleBundle({
        project,
        checksum,
        release,
        dist,
        size,
        by: principal.name,
        reauthorize,
        readChunk: (n) => this.#getChunk(space, chunks[n] ?? '', n === chunks.length - 1 ? last : CHUNK_BYTES),
        listFiles: async (bytes) => {
          if ((await computeSha1(bytes)) !== checksum) throw new SourceMapRejected('does not match its checksum');
          return this.bundles.maps.unpack(project, bytes);
        },
      });
      if (made !== 'ok')
        return buildResponse(made === 'assembling' ? made : 'error', made === 'assembling' ? null : made);
    }
    await this.inbox.delete(space, chunks);
    return buildResponse('ok');
  }

  /** @throws ServiceError unknown_project, payload_too_large */
  async storeFile({ principal, reauthorize }: MapUploader, given: SingleFileUpload): Promise<{ sha1: string }> {
    const { release, dist, url, bytes } = given;
    const [project = ''] = await this.#findProjects(
      principal,
      given.project === null ? [] : [given.project],
      given.hints,
    );
    const sha1 = createHash('sha1').update(bytes).digest('hex');
    const whole = { offset: 0, length: bytes.length, packed: bytes.length, size: bytes.length, form: 'plain' } as const;
    const isMap = /\.map(?:[?#]|$)/i.test(url);
    const file: BundledFile = {
      ...whole,
      kind: isMap ? 'map' : 'script',
      url,
      debugId: null,
      mapUrl: isMap ? null : (given.mapUrl ?? findMapAddress(bytes)),
    };
    // The same bytes may have several addresses.
    const about = { project, checksum: createHash('sha1').update(`${sha1}\n${url}`).digest('hex'), release, dist };
    const made = await this.#assembleBundle({
      ...about,
      size: bytes.length,
      by: principal.name,
      reauthorize,
      readChunk: async (n) => bytes.subarray(n * CHUNK_BYTES, (n + 1) * CHUNK_BYTES),
      listFiles: async () => [file],
    });
    if (made === 'assembling') await this.#retry(project, BundleService.toBundleId(about));
    else if (made !== 'ok') throw new ServiceError('payload_too_large', `The file ${made}.`);
    return { sha1 };
  }

  /**
   * @param hints possible project names, used when neither call nor token names one
   * @throws ServiceError insufficient_scope, unknown_project, validation_failed
   */
  resolveProjects(
    { principal }: MapUploader,
    named: readonly string[],
    hints: readonly string[] = [],
  ): Promise<string[]> {
    return this.#findProjects(principal, named, hints);
  }

  async findProject(hints: readonly string[]): Promise<string | null> {
    for (const hint of hints) {
      const found = await this.projects.get(hint);
      if (found !== null) return found.slug;
    }
    return null;
  }

  /** @throws ServiceError insufficient_scope, unknown_project, validation_failed */
  async listFiles(
    { principal }: MapUploader,
    named: readonly string[],
    release: string,
    hints: readonly string[] = [],
  ): Promise<ReleaseFile[]> {
    const projects = await this.#findProjects(principal, named, hints);
    const found = await Promise.all(projects.map((project) => this.bundles.listFiles(project, release)));
    return found.flat().toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  async deleteProject(project: string): Promise<void> {
    await this.inbox.deleteAll(toSpace(project));
    await this.bundles.deleteProject(project);
    this.frames.clearCaches(project);
  }

  /** Another version of this service may have rejected it. */
  async #retry(project: string, bundle: string | undefined): Promise<void> {
    if (bundle === undefined) return;
    await this.bundles.retryFaulty(bundle);
    this.frames.clearCaches(project);
  }

  async #assembleBundle(plan: BundlePlan): Promise<string> {
    const most = this.config.sourcemap_bytes;
    if (plan.size > most) return `is larger than the limit of a project (errors.sourcemap_bytes, ${most} bytes)`;
    try {
      if (!(await this.bundles.assemble(plan))) return 'assembling';
    } catch (error) {
      if (error instanceof SourceMapRejected) return error.why;
      throw error;
    }
    await this.bundles.enforceLimit(plan.project, most);
    this.frames.clearCaches(plan.project);
    return 'ok';
  }

  async #findProjects(
    { project }: TokenPrincipal,
    named: readonly string[],
    hints: readonly string[] = [],
  ): Promise<string[]> {
    const bound = project === null ? await this.findProject(named.length > 0 ? [] : hints) : project;
    const slugs = [...new Set(named.length === 0 && bound !== null ? [bound] : named)];
    if (slugs.length === 0)
      throw new ServiceError('validation_failed', NO_PROJECT_MESSAGE, {
        fields: { projects: 'must contain a project if the token is not limited to one' },
      });
    for (const slug of slugs) requireProject(project, slug);
    for (const slug of slugs) await this.projects.requireAccepting(slug, 'reports');
    return slugs;
  }

  async #getSize(space: string, name: string): Promise<number> {
    return (await this.inbox.getData(space, name))?.length ?? 0;
  }

  /** @throws MapRefused for a chunk of another size, because offsets derive from chunk numbers */
  async #getChunk(space: string, name: string, size: number): Promise<Uint8Array> {
    const data = await this.inbox.getData(space, name);
    if (data === null) throw new SourceMapRejected('has lost a chunk in transit; send it again');
    if (data.length !== size) throw new SourceMapRejected(`has a chunk whose size is not ${CHUNK_BYTES}`);
    return data;
  }
}

async function computeSha1(upload: UploadedBytes): Promise<string> {
  const hash = createHash('sha1');
  for (let from = 0; from < upload.size; from += CHUNK_BYTES) hash.update(await upload.read(from, from + CHUNK_BYTES));
  return hash.digest('hex');
}

const buildResponse = (state: AssembleResponse['state'], why: string | null = null): AssembleResponse => ({
  state,
  missingChunks: [],
  detail: why === null ? null : `The bundle ${why}.`,
});

function findMapAddress(script: Buffer): string | null {
  const end = script.toString('latin1', Math.max(0, script.length - MAX_COMMENT_LENGTH));
  return [...end.matchAll(MAP_COMMENT_PATTERN)].at(-1)?.[1] ?? null;
}
