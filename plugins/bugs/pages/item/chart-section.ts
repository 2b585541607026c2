import { DAY_MS, HOUR_MS, toIsoString } from '../../../../lib/time.js';
import type { PublishedVersion } from '../../builds/published-builds.js';
import type { ItemSectionInput } from './section.js';
import { buildEventsUrl, getChartRange, getEventsPage, type ChartRange } from './events-url.js';

interface RangeShape {
  label: string;
  from: string;
  unit: number;
  length: number;
}

const RANGES: Readonly<Record<ChartRange, RangeShape>> = {
  '24h': { label: '24 h', from: '24 h ago', unit: HOUR_MS, length: 24 },
  '7d': { label: '7 d', from: '7 days ago', unit: DAY_MS, length: 7 },
  '30d': { label: '30 d', from: '30 days ago', unit: DAY_MS, length: 30 },
};

const PUBLISH_AGE_MS = 30 * DAY_MS;
/** Suggested as the version of a fix. */
const MAX_VERSION_SUGGESTIONS = 10;

interface PublishMark {
  at: number;
  label: string;
}

export async function buildChartSection(about: ItemSectionInput): Promise<object> {
  const {
    page: { services, deps },
    request,
    item,
    doc,
  } = about;
  const range = getChartRange(request);
  const { unit, length, from } = RANGES[range];
  const counts = range === '24h' ? services.board.listHourlyCounts(doc, length) : services.board.listDailyCounts(doc);
  const now = deps.clock.now();
  const publishes = await services.timeline.listRecentPublishes(item.project, PUBLISH_AGE_MS);
  const here = getEventsPage(about);
  const first = (Math.floor(now / unit) - length + 1) * unit;
  const bars = counts.slice(-length).map((count, i) => {
    const begin = toIsoString(first + i * unit).slice(0, unit === HOUR_MS ? 13 : 10);
    const chosen = here.where.at?.includes(begin) === true;
    const where = { ...here.where, at: chosen ? [] : [begin] };
    return { count, chosen, href: count > 0 ? buildEventsUrl(here, where) : null };
  });
  return {
    versions: publishes.slice(0, MAX_VERSION_SUGGESTIONS).map(({ version }) => version),
    chart: {
      bars,
      hourly: range === '24h',
      length,
      from,
      to: range === '24h' ? 'now' : 'today',
      label: `Events per ${range === '24h' ? 'hour' : 'day'}`,
      marks: buildPublishMarks(publishes, now, { unit, length }),
    },
    ranges: Object.entries(RANGES).map(([name, { label }]) => ({
      label,
      active: name === range,
      href: buildEventsUrl({ ...here, range: name as ChartRange }, here.where, '#events'),
    })),
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
