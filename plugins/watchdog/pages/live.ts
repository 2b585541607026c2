/** When pages of monitors would show something else. */
import type { LiveTopic } from '../../../ports/domain/live.js';
import type { Deps } from '../deps.js';

/** States by their numbers and the newest event of the timeline. */
async function statesMark({ monitors, timeline }: Deps): Promise<string> {
  const [states, suppressed, newest] = await Promise.all([
    monitors.groupCount('state'),
    monitors.count({ suppressed_by: { gt: '' } }),
    timeline.find({ sort: [['at', 'desc']], limit: 1 }),
  ]);
  return JSON.stringify([states, suppressed, newest.items[0]?.id]);
}

/** Every heartbeat moves the time at which its monitor is looked at next; the latest of them changes with most. */
async function heartbeatsMark({ monitors }: Deps): Promise<string> {
  const page = await monitors.find({ sort: [['next_check_at', 'desc']], limit: 1 });
  return page.items[0]?.next_check_at ?? '';
}

/** What the page of one monitor shows: its state, its last heartbeat, the newest of its timeline. */
async function monitorMark({ monitors, timeline }: Deps, source: string): Promise<string> {
  const [found, newest] = await Promise.all([
    monitors.find({ filter: { source }, limit: 1 }),
    timeline.find({ filter: { source }, sort: [['at', 'desc']], limit: 1 }),
  ]);
  const { state, alarm, suppressed_by, last_heartbeat_at, updated_at } = found.items[0] ?? {};
  return JSON.stringify([state, alarm, suppressed_by, last_heartbeat_at, updated_at, newest.items[0]?.id]);
}

/** `monitors` for pages that show states, `heartbeats` for those that show values and times too; `monitor` for one, by its source. */
export const monitorTopics = (deps: Deps): LiveTopic[] => [
  { name: 'monitors', mark: () => statesMark(deps) },
  { name: 'heartbeats', mark: () => heartbeatsMark(deps) },
  { name: 'monitor', mark: (source) => monitorMark(deps, source) },
];
