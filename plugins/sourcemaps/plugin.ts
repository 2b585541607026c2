/**
 * Source maps (contract 21, Beyond the specification: what JavaScript and releases need): accepts
 * uploads of unmodified `sentry-cli` and bundler plugins. Without this plugin frames stay
 * unchanged.
 */
import { definePlugin, extend, type Collection } from '../../kernel/contract.js';
import { each } from '../../lib/paging.js';
import { FRAME_REWRITER } from '../../ports/domain/frames.js';
import { PROJECT_BELONGINGS, PROJECTS } from '../../ports/domain/projects.js';
import { BUILD_HISTORY, PUBLISHED_VERSIONS } from '../../ports/domain/releases.js';
import { Bundles } from './bundles.js';
import { sourceMapConfig, type SourceMapConfig } from './config.js';
import { Frames } from './frames.js';
import { COLLECTIONS, type Artifact, type BundlePiece, type Chunk } from './model.js';
import { Retention } from './retention.js';
import { routes } from './routes.js';
import { CONFIG, MapUploads } from './uploads.js';

const CLEAN_MS = 3_600_000;
const AT_ONCE = 500;
const PIECES_AT_ONCE = 20;

async function tryAgain(artifacts: Collection<Artifact>): Promise<void> {
  while ((await artifacts.changeMany({ fault: { ne: null } }, { set: { fault: null } }, AT_ONCE)) === AT_ONCE);
}

/** Rows of earlier versions hold base64 in the document. */
async function storeAsBytes(pieces: Collection<Chunk | BundlePiece>): Promise<void> {
  for await (const piece of each(pieces, { limit: PIECES_AT_ONCE })) {
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
  extends: [PROJECT_BELONGINGS.point],
  tags: { 0: 'What `sentry-cli` and the bundler plugins upload: source maps.' },
  config: sourceMapConfig,
  migrations: [
    // Earlier rejections may have been caused by a busy machine.
    { number: 1, name: 'try-maps-again', run: (ctx) => tryAgain(ctx.collection('artifacts')) },
    {
      number: 2,
      name: 'store-maps-as-bytes',
      run: async (ctx) => {
        for (const name of ['chunks', 'pieces']) await storeAsBytes(ctx.collection(name));
      },
    },
  ],
  collections: COLLECTIONS,
  setup(ctx) {
    ctx.bind(CONFIG, ctx.config);
    const { uploads, frames, retention } = ctx.services({
      uploads: MapUploads,
      frames: Frames,
      bundles: Bundles,
      retention: Retention,
    });
    return {
      routes: routes(uploads, {
        url: () => ctx.app.base_url,
        now: () => ctx.clock.iso(),
        history: () => ctx.find(BUILD_HISTORY),
        published: () => ctx.find(PUBLISHED_VERSIONS),
      }),
      services: { [FRAME_REWRITER.name]: frames },
      extensions: [extend(PROJECT_BELONGINGS, { clear: (slug) => uploads.forget(slug) })],
      jobs: [
        {
          name: 'clean',
          everyMs: CLEAN_MS,
          timeoutMs: CLEAN_MS,
          removesByAge: true,
          run: ({ signal }) => retention.run(signal),
        },
      ],
    };
  },
});
