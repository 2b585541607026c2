/**
 * Time series chart as inline SVG. Colors come from classes, because the CSP forbids styles
 * (docs/decisions/008). Axis labels are outside of the picture, which would stretch them.
 */
import { scaleLinear } from 'd3-scale';
import { area, line } from 'd3-shape';
import { attributes, escape, Html, numeric, plain, split, type Helper } from './html.js';
import { timeTicks, type TimeTick } from './time-axis.js';
import { clockOf, formatsOf } from './reader.js';
import type { TimeOptions } from './time.js';

const WIDTH = 720;
const HEIGHT = 150;
const TICKS = 4;
const HOLE = 3;

interface Point {
  at: number;
  avg: number;
  min: number;
  max: number;
}

/** Shared scales, as in charts.ts; each chart sets their domains. */
const ACROSS = scaleLinear().range([0, WIDTH]).clamp(true);
const UP = scaleLinear().range([HEIGHT, 0]).clamp(true);
const ROUND = scaleLinear();
const RANGE = area<Point | null>()
  .defined((point) => point !== null)
  .x((point) => ACROSS(point?.at ?? 0))
  .y0((point) => UP(point?.min ?? 0))
  .y1((point) => UP(point?.max ?? 0))
  .digits(2);
const AVERAGE = line<Point | null>()
  .defined((point) => point !== null)
  .x((point) => ACROSS(point?.at ?? 0))
  .y((point) => UP(point?.avg ?? 0))
  .digits(2);

function pointsOf(value: unknown): Point[] {
  const all = Array.isArray(value) ? (value as Record<string, unknown>[]) : [];
  return all.flatMap((point) => {
    const at = Date.parse(plain(point['t']));
    const avg = numeric(point['avg']);
    if (Number.isNaN(at) || avg === null) return [];
    return [{ at, avg, min: numeric(point['min']) ?? avg, max: numeric(point['max']) ?? avg }];
  });
}

function withHoles(points: readonly Point[], longest: number): (Point | null)[] {
  return points.flatMap((point, i) => {
    const before = points[i - 1];
    return before !== undefined && point.at - before.at > longest ? [null, point] : [point];
  });
}

/** Relative tolerance for floating-point noise. */
const FLAT = 1e-9;
const TINY = 1e-290;

function extent(levels: readonly number[]): [low: number, high: number] {
  const low = levels.reduce((a, b) => Math.min(a, b), Infinity);
  const high = levels.reduce((a, b) => Math.max(a, b), -Infinity);
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (high - low > Math.max(size * FLAT, TINY)) return [low, high];
  const room = size > TINY ? size / 10 : 1;
  return [low - room, high + room];
}

/**
 * Returns the axis domain: round numbers, not below zero unless the data is, and at most 100% for a
 * ratio.
 */
function domainOf(points: readonly Point[], band: readonly number[], unit: string): [low: number, high: number] {
  const levels = points.flatMap(({ min, max }) => [min, max]);
  const positive = levels.every((level) => level >= 0);
  const [low, high] = extent([...levels, ...band.map((level) => (positive ? Math.max(level, 0) : level))]);
  const share = unit === '%' && positive && levels.every((level) => level <= 100);
  const span = [positive ? Math.max(low, 0) : low, share ? Math.min(high, 100) : high];
  const [from = 0, to = 1] = ROUND.domain(span).nice(TICKS).domain();
  return [positive ? Math.max(from, 0) : from, share ? Math.min(to, 100) : to];
}

function readOut(points: readonly Point[], bucket: number): string {
  const first = points[0]?.at ?? 0;
  const short = (value: number): string => String(Number(value.toPrecision(6)));
  return points
    .map(({ at, avg, min, max }) => `${Math.round((at - first) / bucket)},${[avg, min, max].map(short).join(',')}`)
    .join(' ');
}

const seriesChart =
  ({ timezone }: TimeOptions): Helper =>
  (...args) => {
    const { values, hash, root } = split(args);
    const points = pointsOf(values[0]);
    if (points.length === 0) return new Html('');
    const clock = clockOf(root, timezone);
    const mean = numeric(hash['mean']);
    const stddev = numeric(hash['stddev']) ?? 0;
    const unit = plain(hash['unit']);
    const [from, to] = [Date.parse(plain(hash['from'])), Date.parse(plain(hash['to']))];
    const bucket = (numeric(hash['bucket']) ?? 60) * 1000;
    const x = ACROSS.domain([from, to]);
    const y = UP.domain(domainOf(points, mean === null ? [] : [mean - stddev, mean + stddev], unit));
    const drawn = withHoles(points, bucket * HOLE);
    const ticks = y.ticks(TICKS);
    const times = zoned(timeTicks(from, to, clock.timezone, clock.hours), (at) => formatsOf(clock).minute(at).zone);
    const parts = [
      ...bandOf(mean, stddev, y),
      ...ticks.map((tick) => `<path class="series-grid" d="M0 ${two(y(tick))}H${WIDTH}"/>`),
      ...times.map(({ at }) => `<path class="series-hour" d="M${two(x(at))} 0V${HEIGHT}"/>`),
      `<path class="series-range" d="${RANGE(drawn) ?? ''}"/>`,
      `<path class="series-line" d="${AVERAGE(drawn) ?? ''}"/>`,
      ...alone(drawn).map((point) => dot(x(point.at), y(point.avg))),
    ];
    const set = attributes({
      class: 'series',
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      width: WIDTH,
      height: HEIGHT,
      role: 'img',
      'aria-label': plain(hash['label']) || undefined,
      preserveAspectRatio: 'none',
    });
    const plot = attributes({
      class: 'series-plot',
      'data-points': readOut(points, bucket),
      'data-first': points[0]?.at,
      'data-bucket': bucket,
      'data-from': from,
      'data-to': to,
      'data-unit': unit || undefined,
      'data-zone': clock.timezone,
      'data-hours': clock.hours,
    });
    const picture = `<svg${set}>${parts.join('')}</svg>${axis(times, (at) => (x(at) / WIDTH) * 100)}`;
    return new Html(`<div class="series-chart">${labels(ticks, y, unit)}<div${plot}>${picture}</div></div>`);
  };

/** The first time of the axis carries the zone for all. */
const zoned = (ticks: readonly TimeTick[], zoneAt: (at: number) => string): TimeTick[] =>
  ticks.map((tick, i) => (i === 0 ? { ...tick, label: `${tick.label} ${zoneAt(tick.at)}` } : tick));

/** Times below the picture, positioned in percent so that they are not stretched. */
function axis(times: readonly TimeTick[], place: (at: number) => number): string {
  const texts = times.map(({ at, label }, i) => {
    const percent = place(at);
    const anchor = percent < 4 ? 'start' : percent > 96 ? 'end' : 'middle';
    // Narrow charts show every second label.
    const kind = i % 2 === 1 ? ' class="series-between"' : '';
    return `<text${kind} x="${two(percent)}%" y="14" text-anchor="${anchor}">${escape(label)}</text>`;
  });
  return `<svg class="series-times" height="18" aria-hidden="true">${texts.join('')}</svg>`;
}

const two = (n: number): number => Math.round(n * 100) / 100;

function bandOf(mean: number | null, stddev: number, y: (value: number) => number): string[] {
  if (mean === null) return [];
  const high = two(y(mean + stddev));
  const set = attributes({ class: 'series-band', x: 0, y: high, width: WIDTH, height: two(y(mean - stddev) - high) });
  return [`<rect${set}/>`, `<path class="series-mean" d="M0 ${two(y(mean))}H${WIDTH}"/>`];
}

/** Lists points with a gap on both sides: a line needs two. */
const alone = (drawn: readonly (Point | null)[]): Point[] =>
  drawn.filter((point, i): point is Point => point !== null && (drawn[i - 1] ?? drawn[i + 1] ?? null) === null);

/** A short dash, because a circle would be stretched with the picture. */
const dot = (x: number, y: number): string =>
  `<path class="series-line series-dot" d="M${two(Math.min(Math.max(x - 1, 0), WIDTH - 2))} ${two(y)}h2"/>`;

function labels(ticks: readonly number[], y: ReturnType<typeof scaleLinear<number>>, unit: string): string {
  const greatest = Math.max(...ticks.map(Math.abs));
  const shown =
    greatest >= 10_000 ? y.tickFormat(TICKS, '~s') : y.tickFormat(TICKS, greatest < 0.001 ? '~e' : undefined);
  const texts = ticks.map((tick) => `${shown(tick)}${tick === ticks.at(-1) && unit !== '' ? ` ${unit}` : ''}`);
  const longest = Math.max(...texts.map((text) => text.length));
  const items = ticks.map((tick, i) => {
    return `<text x="100%" y="${two((y(tick) / HEIGHT) * 100)}%" text-anchor="end" dominant-baseline="central">${escape(texts[i])}</text>`;
  });
  return `<svg class="series-labels" width="${Math.ceil(longest * 6.4)}" aria-hidden="true">${items.join('')}</svg>`;
}

export const seriesCharts = (options: TimeOptions): Record<string, Helper> => ({
  'series-chart': seriesChart(options),
});
