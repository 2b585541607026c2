/** Home: the share of sessions that did not crash (contract 80). */
import { View, type Clock, type PanelSpec } from '../../kernel/contract/index.js';
import { formatShare, toShareChange } from '../../lib/figures/count-change.js';
import { DAY_MS } from '../../lib/time.js';
import type { ReleaseHealthService } from './service.js';

const HOURS = 24;

export const buildReleaseHealthPanels = (
  figures: Pick<ReleaseHealthService, 'getCrashFreeShare'>,
  clock: Pick<Clock, 'now'>,
): PanelSpec[] => [
  {
    id: 'releasehealth.crash_free',
    kind: 'stat',
    order: 40,
    load: async (_session, project) => {
      const now = clock.now();
      const [share, before] = await Promise.all([
        figures.getCrashFreeShare(project ?? null, now, HOURS),
        figures.getCrashFreeShare(project ?? null, now - DAY_MS, HOURS),
      ]);
      return new View('panel-crash-free', {
        value: share === null ? null : formatShare(share),
        change: share === null ? null : toShareChange(share, before),
        href: project ? `/release-health?project=${encodeURIComponent(project)}` : '/release-health',
      });
    },
  },
];
