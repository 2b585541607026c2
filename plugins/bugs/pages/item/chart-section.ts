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

/** Replaced by the script with the beginnings of the columns (assets/brush.js). */
const BRUSH_FROM = 'BRUSH_FROM';
const BRUSH_TO = 'BRUSH_TO';
const DAY_LENGTH = '2026-11-29'.length;
const NO_RANGE = { at: [], from: [], to: [] };

/** Of days and hours, in either notation. */
const isWithin = (begin: string, since: string | undefined, until: string | undefined): boolean =>
  (since !== undefined || until !== undefined) &&
  (since === undefined || begin >= since.slice(0, begin.length)) &&
  (until === undefined || begin.slice(0, until.length) <= until);

const listQueryFields = (url: string): { name: string; value: string }[] =>
  [...new URLSearchParams(url.split('?')[1] ?? '')].map(([name, value]) => ({ name, value }));

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
  const [since] = here.where.from ?? [];
  const [until] = here.where.to ?? [];
  const bars = counts.slice(-length).map((count, i) => {
    const begin = toIsoString(first + i * unit).slice(0, unit === HOUR_MS ? 13 : 10);
    const isAlone = here.where.at?.includes(begin) === true;
    const where = { ...here.where, ...NO_RANGE, at: isAlone ? [] : [begin] };
    const chosen = isAlone || isWithin(begin, since, until);
    return { begin, count, chosen, href: count > 0 ? buildEventsUrl(here, where) : null };
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
      brush: buildEventsUrl(here, { ...here.where, at: [], from: [BRUSH_FROM], to: [BRUSH_TO] }),
    },
    custom_range: {
      from: since?.slice(0, DAY_LENGTH) ?? '',
      to: until?.slice(0, DAY_LENGTH) ?? '',
      first: toIsoString(now - PUBLISH_AGE_MS).slice(0, DAY_LENGTH),
      last: toIsoString(now).slice(0, DAY_LENGTH),
      fields: listQueryFields(buildEventsUrl(here, { ...here.where, ...NO_RANGE }, '')),
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
