/**
 * Release health (contract 21, release health): counts sessions by version, environment and hour,
 * to show crash rates and stop rollouts that crash more than the previous version.
 */
import { definePlugin, extend } from '../../kernel/contract/index.js';
import { HOUR_MS } from '../../lib/time.js';
import { PROJECT_CLEANUPS, PROJECT_PARTS, PROJECTS } from '../../ports/domain/projects.js';
import { createHealthPart } from './project-part.js';
import { PUBLISHED_VERSIONS } from '../../ports/domain/releases.js';
import { RELEASE_HEALTH, SESSION_INTAKE } from '../../ports/domain/release-health.js';
import { healthConfigSchema, type ReleaseHealthConfig } from './config.js';
import { HourCountWriter } from './counting/hour-count-writer.js';
import { SessionIntakeService, SKETCH_KEY } from './counting/intake.js';
import { FIND_PUBLISHED, SeriesLimiter } from './counting/series-limiter.js';
import { SessionDeduplicator } from './counting/session-deduplicator.js';
import { ReleaseHealthService } from './service.js';
import { HEALTH_COLLECTIONS, type HourDoc } from './model.js';
import { CONFIG, HealthRetention } from './retention.js';
import { buildReleaseHealthPanels } from './dashboard-panels.js';
import { buildReleaseHealthPages, type HealthPageDeps } from './pages.js';
import { buildReleaseHealthRoutes } from './routes.js';

export default definePlugin<ReleaseHealthConfig>({
  id: 'releasehealth',
  version: '1.0.0',
  api: 1,
  title: 'Release health',
  needs: [PROJECTS.name],
  uses: [PUBLISHED_VERSIONS.name],
  provides: [SESSION_INTAKE.name, RELEASE_HEALTH.name],
  extends: [PROJECT_CLEANUPS.point, PROJECT_PARTS.point],
  config: healthConfigSchema,
  collections: HEALTH_COLLECTIONS,
  from: import.meta.url,
  setup(ctx) {
    ctx.bind(CONFIG, ctx.config);
    ctx.bind(FIND_PUBLISHED, () => ctx.find(PUBLISHED_VERSIONS));
    ctx.bind(SKETCH_KEY, ctx.ports.cipher.derive('releasehealth.sketches'));
    const { intake, figures, cleaning } = ctx.services({
      book: SeriesLimiter,
      hours: HourCountWriter,
      outcomes: SessionDeduplicator,
      intake: SessionIntakeService,
      figures: ReleaseHealthService,
      cleaning: HealthRetention,
    });
    const latest = async (): Promise<string | null> =>
      (await ctx.collection<HourDoc>('hours').find({ sort: [['hour', 'desc']], limit: 1 })).items[0]?.project ?? null;
    const shown: HealthPageDeps = { figures, projects: ctx.resolve(PROJECTS), latest };
    return {
      pages: buildReleaseHealthPages(shown),
      panels: buildReleaseHealthPanels(figures, ctx.clock),
      routes: buildReleaseHealthRoutes(figures, ctx.resolve(PROJECTS)),
      services: { [SESSION_INTAKE.name]: intake, [RELEASE_HEALTH.name]: figures },
      extensions: [
        extend(PROJECT_CLEANUPS, { clear: (slug) => cleaning.removeProject(slug) }),
        extend(PROJECT_PARTS, createHealthPart(figures, ctx.clock)),
      ],
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
