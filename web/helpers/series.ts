/**
 * A metric over time, drawn on the server: scales, ticks, lines and areas by D3, as inline SVG whose colours come from
 * classes, because the CSP forbids styles (docs/decisions/008). The labels of the axis are text beside the picture: within
 * it they would be stretched with it.
 */
import { scaleLinear } from 'd3-scale';
import { area, line } from 'd3-shape';
import { attributes, escape, Html, numeric, plain, split, type Helper } from './html.js';

const WIDTH = 720;
const HEIGHT = 150;
const TICKS = 4;
/** A hole in the data is drawn as one when it is longer than so many buckets. */
const HOLE = 3;

interface Point {
  at: number;
  avg: number;
  min: number;
  max: number;
}

function pointsOf(value: unknown): Point[] {
  const all = Array.isArray(value) ? (value as Record<string, unknown>[]) : [];
  return all.flatMap((point) => {
    const at = Date.parse(plain(point['t']));
    const avg = numeric(point['avg']);
    if (Number.isNaN(at) || avg === null) return [];
    return [{ at, avg, min: numeric(point['min']) ?? avg, max: numeric(point['max']) ?? avg }];
  });
}

/** The points with a null wherever a hole is to be seen: D3 begins anew behind it. */
function withHoles(points: readonly Point[], longest: number): (Point | null)[] {
  return points.flatMap((point, i) => {
    const before = points[i - 1];
    return before !== undefined && point.at - before.at > longest ? [null, point] : [point];
  });
}

/** Below this, differences are noise of floating point, relative to the greatest value. */
const FLAT = 1e-9;
const TINY = 1e-290;

/** The least and greatest of what is drawn; a flat series has room above and below. */
function extent(levels: readonly number[]): [low: number, high: number] {
  const low = levels.reduce((a, b) => Math.min(a, b), Infinity);
  const high = levels.reduce((a, b) => Math.max(a, b), -Infinity);
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (high - low > Math.max(size * FLAT, TINY)) return [low, high];
  const room = size > TINY ? size / 10 : 1;
  return [low - room, high + room];
}

/**
 * `{{series-chart points from=… to=… bucket=300 mean=… stddev=… label="cpu"}}`: average as a line, min to max as an area,
 * the long-term mean with its deviation as a band, an axis of round numbers. Points `[{t, avg, min, max}]`; times RFC 3339,
 * `bucket` in seconds.
 */
function seriesChart(...args: unknown[]): Html {
  const { values, hash } = split(args);
  const points = pointsOf(values[0]);
  if (points.length === 0) return new Html('');
  const mean = numeric(hash['mean']);
  const stddev = numeric(hash['stddev']) ?? 0;
  const band = mean === null ? [] : [mean - stddev, mean + stddev];
  const x = scaleLinear()
    .domain([Date.parse(plain(hash['from'])), Date.parse(plain(hash['to']))])
    .range([0, WIDTH])
    .clamp(true);
  const y = scaleLinear()
    .domain(extent([...points.flatMap(({ min, max }) => [min, max]), ...band]))
    .range([HEIGHT, 0])
    .nice(TICKS);
  const drawn = withHoles(points, (numeric(hash['bucket']) ?? 60) * HOLE * 1000);
  const range = area<Point | null>()
    .defined((point) => point !== null)
    .x((point) => x(point?.at ?? 0))
    .y0((point) => y(point?.min ?? 0))
    .y1((point) => y(point?.max ?? 0))
    .digits(2);
  const average = line<Point | null>()
    .defined((point) => point !== null)
    .x((point) => x(point?.at ?? 0))
    .y((point) => y(point?.avg ?? 0))
    .digits(2);
  const ticks = y.ticks(TICKS);
  const parts = [
    ...bandOf(mean, stddev, y),
    ...ticks.map((tick) => `<path class="series-grid" d="M0 ${two(y(tick))}H${WIDTH}"/>`),
    `<path class="series-range" d="${range(drawn) ?? ''}"/>`,
    `<path class="series-line" d="${average(drawn) ?? ''}"/>`,
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
  return new Html(`<div class="series-chart">${labels(ticks, y)}<svg${set}>${parts.join('')}</svg></div>`);
}

const two = (n: number): number => Math.round(n * 100) / 100;

function bandOf(mean: number | null, stddev: number, y: (value: number) => number): string[] {
  if (mean === null) return [];
  const high = two(y(mean + stddev));
  const set = attributes({ class: 'series-band', x: 0, y: high, width: WIDTH, height: two(y(mean - stddev) - high) });
  return [`<rect${set}/>`, `<path class="series-mean" d="M0 ${two(y(mean))}H${WIDTH}"/>`];
}

/** Points with a hole on both sides: a line needs two. */
const alone = (drawn: readonly (Point | null)[]): Point[] =>
  drawn.filter((point, i): point is Point => point !== null && (drawn[i - 1] ?? drawn[i + 1] ?? null) === null);

/** A short dash: a circle would be stretched with the picture. */
const dot = (x: number, y: number): string =>
  `<path class="series-line series-dot" d="M${two(Math.min(Math.max(x - 1, 0), WIDTH - 2))} ${two(y)}h2"/>`;

/** From the top down and evenly apart, as the ticks of a nice linear scale are: the style sheet spreads them. */
function labels(ticks: readonly number[], y: ReturnType<typeof scaleLinear<number>>): string {
  const greatest = Math.max(...ticks.map(Math.abs));
  const shown =
    greatest >= 10_000 ? y.tickFormat(TICKS, '~s') : y.tickFormat(TICKS, greatest < 0.001 ? '~e' : undefined);
  const items = ticks.toReversed().map((tick) => `<span>${escape(shown(tick))}</span>`);
  return `<div class="series-labels" aria-hidden="true">${items.join('')}</div>`;
}

export const seriesCharts: Record<string, Helper> = { 'series-chart': seriesChart };
