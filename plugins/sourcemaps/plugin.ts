/**
 * Source maps (contract 21, Beyond the specification: what JavaScript and releases need): accepts
 * uploads of unmodified `sentry-cli` and bundler plugins.
 */
import { definePlugin, extend, type Collection } from '../../kernel/contract/index.js';
import { iterateItems } from '../../lib/paging.js';
import { FRAME_REWRITER } from '../../ports/domain/frame-rewriting.js';
import { PROJECT_CLEANUPS, PROJECTS } from '../../ports/domain/projects.js';
import { BUILD_HISTORY, PUBLISHED_VERSIONS } from '../../ports/domain/releases.js';
import { BundleService } from './bundles.js';
import { sourceMapConfigSchema, type SourceMapConfig } from './config.js';
import { SourceMapFrameRewriter } from './frame-rewriter.js';
import { COLLECTIONS, type Artifact, type BundleChunk, type Chunk } from './model.js';
import { MapRetentionJob } from './retention.js';
import { buildSourceMapRoutes } from './routes.js';
import { SOURCE_MAP_CONFIG, MapUploadService } from './uploads.js';

const CLEANUP_INTERVAL_MS = 3_600_000;
const ARTIFACT_BATCH_SIZE = 500;
const CHUNK_BATCH_SIZE = 20;

async function retryArtifacts(artifacts: Collection<Artifact>): Promise<void> {
  while (
    (await artifacts.changeMany({ fault: { ne: null } }, { set: { fault: null } }, ARTIFACT_BATCH_SIZE)) ===
    ARTIFACT_BATCH_SIZE
  );
}

/** Rows of earlier versions hold base64 in the document. */
async function convertToBytes(pieces: Collection<Chunk | BundleChunk>): Promise<void> {
  for await (const piece of iterateItems(pieces, { limit: CHUNK_BATCH_SIZE })) {
    const data: unknown = piece.data;
    if (typeof data === 'string') await pieces.bulk([{ put: { ...piece, data: Buffer.from(data, 'base64') } }]);
  }
}

export default definePlugin<SourceMapConfig>({
  id: 'sourcemaps',
  section: 'errors',
  version: '1.0.0',
  api: 1,
  title: 'Source maps',
  ports: ['sourceMaps'],
  needs: [PROJECTS.name],
  uses: [BUILD_HISTORY.name, PUBLISHED_VERSIONS.name],
  provides: [FRAME_REWRITER.name],
  extends: [PROJECT_CLEANUPS.point],
  tags: { 0: 'Source maps, uploaded by `sentry-cli` and the bundler plugins.' },
  config: sourceMapConfigSchema,
  migrations: [
    // Earlier rejections may have been caused by a busy machine.
    { number: 1, name: 'try-maps-again', run: (ctx) => retryArtifacts(ctx.collection('artifacts')) },
    {
      number: 2,
      name: 'store-maps-as-bytes',
      run: async (ctx) => {
        for (const name of ['chunks', 'pieces']) await convertToBytes(ctx.collection(name));
      },
    },
  ],
  collections: COLLECTIONS,
  setup(ctx) {
    ctx.bind(SOURCE_MAP_CONFIG, ctx.config);
    const { uploads, frames, retention } = ctx.services({
      uploads: MapUploadService,
      frames: SourceMapFrameRewriter,
      bundles: BundleService,
      retention: MapRetentionJob,
    });
    return {
      routes: buildSourceMapRoutes(uploads, {
        url: () => ctx.app.base_url,
        getNow: () => ctx.clock.iso(),
        getHistory: () => ctx.find(BUILD_HISTORY),
        getPublishedVersions: () => ctx.find(PUBLISHED_VERSIONS),
      }),
      services: { [FRAME_REWRITER.name]: frames },
      extensions: [extend(PROJECT_CLEANUPS, { clear: (slug) => uploads.deleteProject(slug) })],
      jobs: [
        {
          name: 'clean',
          everyMs: CLEANUP_INTERVAL_MS,
          timeoutMs: CLEANUP_INTERVAL_MS,
          removesByAge: true,
          run: ({ signal }) => retention.run(signal),
        },
      ],
    };
  },
});
