/** A project's page: the share of sessions that did not crash, by day (contract 80). */
import type { Clock } from '../../kernel/contract/index.js';
import { ReadCache } from '../../lib/caching/read-cache.js';
import { DAY_MS } from '../../lib/time.js';
import type { ProjectCurve, ProjectPartProvider } from '../../ports/domain/projects.js';
import type { ReleaseHealthService, SessionDay } from './service.js';

const DAYS = 30;
const MAX_CACHED_PROJECTS = 500;
/** Only today changes, and slowly. */
const MAX_AGE_MS = 60_000;
const MAX_WAIT_MS = 20;

export function createHealthPart(
  figures: Pick<ReleaseHealthService, 'listDays'>,
  clock: Pick<Clock, 'now' | 'monotonic'>,
): ProjectPartProvider {
  const cache = new ReadCache<SessionDay[]>({
    max: MAX_CACHED_PROJECTS,
    ttlMs: MAX_AGE_MS,
    now: () => clock.monotonic(),
  });
  return {
    id: 'health',
    order: 30,
    loadPart: async ({ slug }) => {
      const days = (await cache.getWithin(MAX_WAIT_MS, slug, () => figures.listDays(slug, DAYS))) ?? [];
      return {
        heading: 'Crash-free sessions',
        all: { label: 'View release health', href: `/release-health?project=${encodeURIComponent(slug)}` },
        figures: [],
        lines: [],
        empty: null,
        ...(days.length > 1 && { curve: toCurve(days) }),
      };
    },
  };
}

function toCurve(days: readonly SessionDay[]): ProjectCurve {
  const points = days.map(({ day, started, crashed }) => ({
    t: `${day}T00:00:00.000Z`,
    avg: Math.max(0, 100 * (1 - crashed / started)),
  }));
  const [from = '', to = ''] = [points[0]?.t, points.at(-1)?.t];
  return { title: 'Crash-free sessions per day', points, from, to, bucket: DAY_MS / 1000 };
}
