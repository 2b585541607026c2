/**
 * Colors come from classes, because the CSP forbids styles (docs/decisions/008). Axis labels are
 * outside of the picture, which would stretch them.
 */
import { scaleLinear } from 'd3-scale';
import { area, line } from 'd3-shape';
import { renderAttributes, escapeHtml, Html, toNumber, toText, splitArguments, type Helper } from './html.js';
import { listTimeTicks, type TimeTick } from './time-axis.js';
import { getReaderClock, getTimeFormats } from './reader-clock.js';
import { renderDownSpans, toDownSpans } from './series-downs.js';
import { formatDuration, type TimeOptions } from './time.js';

const CHART_WIDTH = 720;
const CHART_HEIGHT = 150;
const TICK_COUNT = 4;
const MAX_GAP_BUCKETS = 3;

interface SeriesPoint {
  at: number;
  avg: number;
  min: number;
  max: number;
}

/** Shared scales, as in charts.ts; each chart sets their domains. */
const X_SCALE = scaleLinear().range([0, CHART_WIDTH]).clamp(true);
const Y_SCALE = scaleLinear().range([CHART_HEIGHT, 0]).clamp(true);
const NICE_SCALE = scaleLinear();
const RANGE_AREA = area<SeriesPoint | null>()
  .defined((point) => point !== null)
  .x((point) => X_SCALE(point?.at ?? 0))
  .y0((point) => Y_SCALE(point?.min ?? 0))
  .y1((point) => Y_SCALE(point?.max ?? 0))
  .digits(2);
const AVERAGE_LINE = line<SeriesPoint | null>()
  .defined((point) => point !== null)
  .x((point) => X_SCALE(point?.at ?? 0))
  .y((point) => Y_SCALE(point?.avg ?? 0))
  .digits(2);

function toPoints(value: unknown): SeriesPoint[] {
  const all = Array.isArray(value) ? (value as Record<string, unknown>[]) : [];
  return all.flatMap((point) => {
    const at = Date.parse(toText(point['t']));
    const avg = toNumber(point['avg']);
    if (Number.isNaN(at) || avg === null) return [];
    return [{ at, avg, min: toNumber(point['min']) ?? avg, max: toNumber(point['max']) ?? avg }];
  });
}

function insertGaps(points: readonly SeriesPoint[], longest: number): (SeriesPoint | null)[] {
  return points.flatMap((point, i) => {
    const before = points[i - 1];
    return before !== undefined && point.at - before.at > longest ? [null, point] : [point];
  });
}

/** Relative tolerance for floating-point noise. */
const FLAT_TOLERANCE = 1e-9;
const MIN_EXTENT = 1e-290;

function getExtent(levels: readonly number[]): [low: number, high: number] {
  const low = levels.reduce((a, b) => Math.min(a, b), Infinity);
  const high = levels.reduce((a, b) => Math.max(a, b), -Infinity);
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (high - low > Math.max(size * FLAT_TOLERANCE, MIN_EXTENT)) return [low, high];
  const margin = size > MIN_EXTENT ? size / 10 : 1;
  return [low - margin, high + margin];
}

/** Not below zero unless the data is, and at most 100% for a ratio. */
function getDomain(points: readonly SeriesPoint[], band: readonly number[], unit: string): [low: number, high: number] {
  const levels = points.flatMap(({ min, max }) => [min, max]);
  const positive = levels.every((level) => level >= 0);
  const [low, high] = getExtent([...levels, ...band.map((level) => (positive ? Math.max(level, 0) : level))]);
  const share = unit === '%' && positive && levels.every((level) => level <= 100);
  const span = [positive ? Math.max(low, 0) : low, share ? Math.min(high, 100) : high];
  const [from = 0, to = 1] = NICE_SCALE.domain(span).nice(TICK_COUNT).domain();
  return [positive ? Math.max(from, 0) : from, share ? Math.min(to, 100) : to];
}

function formatReadout(points: readonly SeriesPoint[], bucket: number): string {
  const first = points[0]?.at ?? 0;
  const short = (value: number): string => String(Number(value.toPrecision(6)));
  return points
    .map(({ at, avg, min, max }) => `${Math.round((at - first) / bucket)},${[avg, min, max].map(short).join(',')}`)
    .join(' ');
}

const createSeriesChart =
  ({ timezone }: TimeOptions): Helper =>
  (...args) => {
    const { values, hash, root } = splitArguments(args);
    const points = toPoints(values[0]);
    if (points.length === 0) return new Html('');
    const clock = getReaderClock(root, timezone);
    const mean = toNumber(hash['mean']);
    const stddev = toNumber(hash['stddev']) ?? 0;
    const unit = toText(hash['unit']);
    const [from, to] = [Date.parse(toText(hash['from'])), Date.parse(toText(hash['to']))];
    const bucket = (toNumber(hash['bucket']) ?? 60) * 1000;
    const x = X_SCALE.domain([from, to]);
    const y = Y_SCALE.domain(getDomain(points, mean === null ? [] : [mean - stddev, mean + stddev], unit));
    const drawn = insertGaps(points, bucket * MAX_GAP_BUCKETS);
    const ticks = y.ticks(TICK_COUNT);
    const times = addZone(
      listTimeTicks(from, to, clock.timezone, clock.hours),
      (at) => getTimeFormats(clock).minute(at).zone,
    );
    const downs = toDownSpans(hash['downs'], [from, to]);
    const describeDown = (span: { from: number; to: number }): string =>
      `Down for ${formatDuration((span.to - span.from) / 1000)}`;
    const parts = [
      ...renderDownSpans(downs, x, CHART_HEIGHT, describeDown),
      ...renderBand(mean, stddev, y),
      ...ticks.map((tick) => `<path class="series-grid" d="M0 ${two(y(tick))}H${CHART_WIDTH}"/>`),
      ...times.map(({ at }) => `<path class="series-hour" d="M${two(x(at))} 0V${CHART_HEIGHT}"/>`),
      `<path class="series-range" d="${RANGE_AREA(drawn) ?? ''}"/>`,
      `<path class="series-line" d="${AVERAGE_LINE(drawn) ?? ''}"/>`,
      ...listIsolatedPoints(drawn).map((point) => buildDotPath(x(point.at), y(point.avg))),
    ];
    const set = renderAttributes({
      class: 'series',
      viewBox: `0 0 ${CHART_WIDTH} ${CHART_HEIGHT}`,
      width: CHART_WIDTH,
      height: CHART_HEIGHT,
      role: 'img',
      'aria-label': [toText(hash['label']), ...downs.map(describeDown)].filter(Boolean).join('. ') || undefined,
      preserveAspectRatio: 'none',
    });
    const plot = renderAttributes({
      class: 'series-plot',
      'data-points': formatReadout(points, bucket),
      'data-first': points[0]?.at,
      'data-bucket': bucket,
      'data-from': from,
      'data-to': to,
      'data-unit': unit || undefined,
      'data-zone': clock.timezone,
      'data-hours': clock.hours,
    });
    const picture = `<svg${set}>${parts.join('')}</svg>${renderTimeAxis(times, (at) => (x(at) / CHART_WIDTH) * 100)}`;
    return new Html(`<div class="series-chart">${renderLabels(ticks, y, unit)}<div${plot}>${picture}</div></div>`);
  };

/** The first time of the axis carries the zone for all. */
export const addZone = (ticks: readonly TimeTick[], zoneAt: (at: number) => string): TimeTick[] =>
  ticks.map((tick, i) => (i === 0 ? { ...tick, label: `${tick.label} ${zoneAt(tick.at)}` } : tick));

/** Times below the picture, positioned in percent so that they are not stretched. */
export function renderTimeAxis(times: readonly TimeTick[], place: (at: number) => number): string {
  const texts = times.map(({ at, label }, i) => {
    const percent = place(at);
    const anchor = percent < 4 ? 'start' : percent > 96 ? 'end' : 'middle';
    // Narrow charts show every second label.
    const kind = i % 2 === 1 ? ' class="series-between"' : '';
    return `<text${kind} x="${two(percent)}%" y="14" text-anchor="${anchor}">${escapeHtml(label)}</text>`;
  });
  return `<svg class="series-times" height="18" aria-hidden="true">${texts.join('')}</svg>`;
}

const two = (n: number): number => Math.round(n * 100) / 100;

function renderBand(mean: number | null, stddev: number, y: (value: number) => number): string[] {
  if (mean === null) return [];
  const high = two(y(mean + stddev));
  const set = renderAttributes({
    class: 'series-band',
    x: 0,
    y: high,
    width: CHART_WIDTH,
    height: two(y(mean - stddev) - high),
  });
  return [`<rect${set}/>`, `<path class="series-mean" d="M0 ${two(y(mean))}H${CHART_WIDTH}"/>`];
}

/** Lists points with a gap on both sides: a line needs two. */
const listIsolatedPoints = (drawn: readonly (SeriesPoint | null)[]): SeriesPoint[] =>
  drawn.filter((point, i): point is SeriesPoint => point !== null && (drawn[i - 1] ?? drawn[i + 1] ?? null) === null);

/** A short dash, because a circle would be stretched with the picture. */
const buildDotPath = (x: number, y: number): string =>
  `<path class="series-line series-dot" d="M${two(Math.min(Math.max(x - 1, 0), CHART_WIDTH - 2))} ${two(y)}h2"/>`;

export function renderLabels(
  ticks: readonly number[],
  y: ReturnType<typeof scaleLinear<number>>,
  unit: string,
): string {
  const greatest = Math.max(...ticks.map(Math.abs));
  const shown =
    greatest >= 10_000 ? y.tickFormat(TICK_COUNT, '~s') : y.tickFormat(TICK_COUNT, greatest < 0.001 ? '~e' : undefined);
  const texts = ticks.map((tick) => `${shown(tick)}${tick === ticks.at(-1) && unit !== '' ? ` ${unit}` : ''}`);
  const longest = Math.max(...texts.map((text) => text.length));
  const items = ticks.map((tick, i) => {
    return `<text x="100%" y="${two((y(tick) / CHART_HEIGHT) * 100)}%" text-anchor="end" dominant-baseline="central">${escapeHtml(texts[i])}</text>`;
  });
  return `<svg class="series-labels" width="${Math.ceil(longest * 6.4)}" aria-hidden="true">${items.join('')}</svg>`;
}

export const createSeriesHelpers = (options: TimeOptions): Record<string, Helper> => ({
  'series-chart': createSeriesChart(options),
});
