/** A topic's text changes when its pages would change. */
import type { LiveTopic } from '../../../ports/domain/live-topics.js';
import type { WatchdogDeps } from '../deps.js';
import type { WatchdogServices } from '../services.js';

async function readStatesVersion({ monitors, timeline }: WatchdogDeps): Promise<string> {
  const [states, suppressed, newest] = await Promise.all([
    monitors.groupCount('state'),
    monitors.count({ suppressed_by: { gt: '' } }),
    timeline.find({ sort: [['at', 'desc']], limit: 1 }),
  ]);
  return JSON.stringify([states, suppressed, newest.items[0]?.id]);
}

/**
 * Heartbeats of this process by a counter, others by the first and last `next_check_at`. An index
 * on the last heartbeat would slow down every write.
 */
async function readHeartbeatsVersion(
  { monitors }: WatchdogDeps,
  { acceptedCount: heartbeatCount }: Pick<WatchdogServices['intake'], 'acceptedCount'>,
): Promise<string> {
  const ends = await Promise.all(
    (['asc', 'desc'] as const).map((order) =>
      monitors.find({ filter: { next_check_at: { gt: '' } }, sort: [['next_check_at', order]], limit: 1 }),
    ),
  );
  return JSON.stringify([heartbeatCount, ...ends.map(({ items }) => items[0]?.next_check_at)]);
}

async function readMonitorVersion({ monitors, timeline }: WatchdogDeps, source: string): Promise<string> {
  const [found, newest] = await Promise.all([
    monitors.find({ filter: { source }, limit: 1 }),
    timeline.find({ filter: { source }, sort: [['at', 'desc']], limit: 1 }),
  ]);
  const { state, alarm, suppressed_by, last_heartbeat_at, updated_at } = found.items[0] ?? {};
  return JSON.stringify([state, alarm, suppressed_by, last_heartbeat_at, updated_at, newest.items[0]?.id]);
}

export const buildMonitorTopics = (deps: WatchdogDeps, { intake }: Pick<WatchdogServices, 'intake'>): LiveTopic[] => [
  { name: 'monitors', getRevision: () => readStatesVersion(deps) },
  { name: 'heartbeats', getRevision: () => readHeartbeatsVersion(deps, intake) },
  { name: 'monitor', getRevision: (source) => readMonitorVersion(deps, source) },
];
