/**
 * Release health (contract 21, release health): counts sessions by version, environment and hour,
 * to show crash rates and stop rollouts that crash more than the previous version. Nothing else
 * depends on this folder.
 */
import { definePlugin, extend } from '../../kernel/contract.js';
import { HOUR_MS } from '../../lib/time.js';
import { PROJECT_BELONGINGS, PROJECTS } from '../../ports/domain/projects.js';
import { PUBLISHED_VERSIONS } from '../../ports/domain/releases.js';
import { RELEASE_HEALTH, SESSION_INTAKE } from '../../ports/domain/release-health.js';
import { healthConfig, type ReleaseHealthConfig } from './config.js';
import { HourCounts } from './counting/hour-counts.js';
import { HourIntake, SKETCH_KEY } from './counting/intake.js';
import { FIND_PUBLISHED, SeriesBook } from './counting/series-book.js';
import { SessionOutcomes } from './counting/session-outcomes.js';
import { Figures } from './figures.js';
import { COLLECTIONS, type HourDoc } from './model.js';
import { CONFIG, HealthCleaning } from './cleaning.js';
import { pages, panels, type HealthPageDeps } from './pages.js';
import { routes } from './routes.js';

export default definePlugin<ReleaseHealthConfig>({
  id: 'releasehealth',
  version: '1.0.0',
  api: 1,
  title: 'Release health',
  needs: [PROJECTS.name],
  uses: [PUBLISHED_VERSIONS.name],
  provides: [SESSION_INTAKE.name, RELEASE_HEALTH.name],
  extends: [PROJECT_BELONGINGS.point],
  config: healthConfig,
  collections: COLLECTIONS,
  from: import.meta.url,
  setup(ctx) {
    ctx.bind(CONFIG, ctx.config);
    ctx.bind(FIND_PUBLISHED, () => ctx.find(PUBLISHED_VERSIONS));
    ctx.bind(SKETCH_KEY, ctx.ports.cipher.derive('releasehealth.sketches'));
    const { intake, figures, cleaning } = ctx.services({
      book: SeriesBook,
      hours: HourCounts,
      outcomes: SessionOutcomes,
      intake: HourIntake,
      figures: Figures,
      cleaning: HealthCleaning,
    });
    const latest = async (): Promise<string | null> =>
      (await ctx.collection<HourDoc>('hours').find({ sort: [['hour', 'desc']], limit: 1 })).items[0]?.project ?? null;
    const shown: HealthPageDeps = { figures, projects: ctx.resolve(PROJECTS), latest };
    return {
      pages: pages(shown),
      panels: panels(shown),
      routes: routes(figures, ctx.resolve(PROJECTS)),
      services: { [SESSION_INTAKE.name]: intake, [RELEASE_HEALTH.name]: figures },
      extensions: [extend(PROJECT_BELONGINGS, { clear: (slug) => cleaning.forget(slug) })],
      jobs: [
        {
          name: 'clean',
          everyMs: HOUR_MS,
          timeoutMs: HOUR_MS,
          removesByAge: true,
          run: ({ signal }) => cleaning.run(signal),
        },
      ],
    };
  },
});
