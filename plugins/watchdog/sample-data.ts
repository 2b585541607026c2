/** Monitors of the sample project (Get started). They are expected so rarely that none alerts. */
import { SAMPLE_PROJECT, type SampleDataProvider } from '../../ports/domain/dashboard.js';
import { collectAll } from '../../lib/paging.js';
import type { WatchdogDeps } from './deps.js';
import { parseHeartbeat } from './heartbeat/heartbeat.js';
import { toWatchdogCaller } from './model/caller.js';
import { MAX_INTERVAL_SECONDS } from './model/timing.js';
import type { WatchdogServices } from './services.js';

const MONITORS = [
  { source: 'sample-web', name: 'Sample: web shop', parent_source: null },
  { source: 'sample-database', name: 'Sample: database', parent_source: 'sample-web' },
  { source: 'sample-mail', name: 'Sample: mail queue', parent_source: 'sample-web' },
] as const;

export const createSampleMonitors = (
  { monitors, intake }: Pick<WatchdogServices, 'monitors' | 'intake'>,
  deps: Pick<WatchdogDeps, 'monitors'>,
): SampleDataProvider => ({
  order: 20,
  add: async (principal) => {
    const caller = toWatchdogCaller(principal);
    for (const fields of MONITORS) {
      const interval_seconds = MAX_INTERVAL_SECONDS;
      await monitors.create({ ...fields, interval_seconds, project: SAMPLE_PROJECT, tags: ['sample'] }, caller);
      const metrics = { response_ms: 40 + 15 * fields.source.length };
      await intake.recordHeartbeat(parseHeartbeat({ source: fields.source, app_version: '1.4.0', metrics }), caller);
    }
  },
  remove: async (principal) => {
    const caller = toWatchdogCaller(principal);
    const all = await collectAll(deps.monitors, { filter: { project: SAMPLE_PROJECT, deleted_at: null }, limit: 100 });
    for (const { source } of all) await monitors.remove(source, caller);
  },
});
