import { DAY_MS, HOUR_MS } from '../../../../lib/time.js';
import type { PublishedVersion } from '../../builds/published-builds.js';
import type { ItemSectionInput } from './section.js';

const HOURS_PER_DAY = 24;
const CHART_DAYS = 30;
const MAX_NAMED_PUBLISHES = 5;

export interface PublishMark {
  at: number;
  label: string;
}

export async function buildFrequencySection({
  page: { services, deps },
  item,
  doc,
}: ItemSectionInput): Promise<object> {
  const hours = services.board.listHourlyCounts(doc, HOURS_PER_DAY);
  const days = services.board.listDailyCounts(doc);
  const publishes = await services.timeline.listRecentPublishes(item.project, CHART_DAYS * DAY_MS);
  const now = deps.clock.now();
  return {
    hours,
    days,
    top: Math.max(...hours, ...days),
    hour_marks: buildPublishMarks(publishes, now, { unit: HOUR_MS, length: HOURS_PER_DAY }),
    day_marks: buildPublishMarks(publishes, now, { unit: DAY_MS, length: CHART_DAYS }),
    publishes: publishes.slice(0, MAX_NAMED_PUBLISHES),
    more_publishes: Math.max(0, publishes.length - MAX_NAMED_PUBLISHES),
  };
}

export function buildPublishMarks(
  publishes: readonly PublishedVersion[],
  now: number,
  { unit, length }: { unit: number; length: number },
): PublishMark[] {
  const from = (Math.floor(now / unit) - length + 1) * unit;
  return publishes.flatMap(({ version, published_at }) => {
    const at = (Date.parse(published_at) - from) / (unit * length);
    return at < 0 || at > 1 ? [] : [{ at, label: version }];
  });
}
