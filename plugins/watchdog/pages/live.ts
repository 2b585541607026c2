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

/** `monitors` for pages that show states, `heartbeats` for those that show values and times too. */
export const monitorTopics = (deps: Deps): LiveTopic[] => [
  { name: 'monitors', mark: () => statesMark(deps) },
  { name: 'heartbeats', mark: () => heartbeatsMark(deps) },
];
