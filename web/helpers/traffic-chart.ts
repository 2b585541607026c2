/**
 * Counts of a period as bars, with the same period a week earlier as a dashed line and releases as
 * marks. assets/charts.js reads values out on hover and focus.
 */
import { scaleLinear } from 'd3-scale';
import { curveMonotoneX, line } from 'd3-shape';
import { buildBarPath } from './charts.js';
import { formatNumber } from './format.js';
import { renderAttributes, escapeHtml, Html, toNumber, toText, splitArguments, type Helper } from './html.js';
import { getReaderClock, getTimeFormats } from './reader-clock.js';
import { addZone, renderLabels, renderTimeAxis } from './series.js';
import { listTimeTicks } from './time-axis.js';
import type { TimeOptions } from './time.js';

const CHART_WIDTH = 720;
const CHART_HEIGHT = 150;
const TICK_COUNT = 3;
/** Width of a name in percent of the chart, on desktops and phones: closer names would overlap. */
const getNameWidth = (label: string): number => label.length * 0.95 + 2;
const getPhoneNameWidth = (label: string): number => label.length * 2.4 + 6;

interface ReleaseMark {
  at: number;
  label: string;
  href: string;
}

/** Shared scales, as in charts.ts; each chart sets their domains. */
const X_SCALE = scaleLinear().range([0, CHART_WIDTH]).clamp(true);
const Y_SCALE = scaleLinear().range([CHART_HEIGHT, 0]).clamp(true);

const toCounts = (value: unknown): number[] => (Array.isArray(value) ? value.map((n) => toNumber(n) ?? 0) : []);
const round = (n: number): number => Math.round(n * 100) / 100;

function toMarks(value: unknown, from: number, to: number): ReleaseMark[] {
  const all = Array.isArray(value) ? (value as Record<string, unknown>[]) : [];
  return all
    .map(({ at, label, href }) => ({ at: Date.parse(toText(at)), label: toText(label), href: toText(href) }))
    .filter(({ at }) => at >= from && at <= to)
    .toSorted((a, b) => a.at - b.at);
}

function renderGhost(counts: readonly number[]): string {
  if (!counts.some((n) => n > 0)) return '';
  const step = CHART_WIDTH / counts.length;
  const path = line<number>()
    .x((_, i) => (i + 0.35) * step)
    .y((n) => Y_SCALE(n))
    .curve(curveMonotoneX)
    .digits(1)(counts);
  return `<path class="traffic-ghost" d="${path ?? ''}"/>`;
}

const renderMarkLines = (marks: readonly ReleaseMark[]): string =>
  marks
    .map(({ at, label }) => {
      const x = round(X_SCALE(at));
      // The wide, invisible line is the hover target.
      return `<g class="chart-mark"><path d="M${x} 0V${CHART_HEIGHT}"/><path class="chart-mark-near" d="M${x} 0V${CHART_HEIGHT}"/><title>${escapeHtml(label)}</title></g>`;
    })
    .join('');

type Anchor = 'start' | 'middle' | 'end';
const NAME_SHIFT: Readonly<Record<Anchor, number>> = { start: 0, middle: 0.5, end: 1 };

/** The newest first: where names would overlap, the older ones are left out. */
function renderMarkNames(marks: readonly ReleaseMark[]): string {
  let left = Infinity;
  let leftOnPhone = Infinity;
  const names = marks.toReversed().flatMap(({ at, label, href }) => {
    const percent = round((X_SCALE(at) / CHART_WIDTH) * 100);
    const anchor: Anchor = percent < 12 ? 'start' : percent > 88 ? 'end' : 'middle';
    const getStart = (width: number): number => percent - NAME_SHIFT[anchor] * width;
    const [width, phoneWidth] = [getNameWidth(label), getPhoneNameWidth(label)];
    if (getStart(width) + width > left) return [];
    left = getStart(width);
    const isNear = getStart(phoneWidth) + phoneWidth > leftOnPhone;
    if (!isNear) leftOnPhone = getStart(phoneWidth);
    const text = `<text x="${percent}%" y="12" text-anchor="${anchor}">${escapeHtml(label)}</text>`;
    const kind = isNear ? ' class="series-between"' : '';
    return [href === '' ? `<g${kind}>${text}</g>` : `<a${kind} href="${escapeHtml(href)}">${text}</a>`];
  });
  const texts = names.toReversed().join('');
  return texts === '' ? '' : `<svg class="series-times traffic-names" height="18">${texts}</svg>`;
}

const createTrafficChart =
  ({ timezone }: TimeOptions): Helper =>
  (...args) => {
    const { values, hash, root } = splitArguments(args);
    const counts = toCounts(values[0]);
    const from = toNumber(hash['from']);
    const step = toNumber(hash['step']);
    if (counts.length === 0 || from === null || step === null) return new Html('');
    const to = from + counts.length * step;
    const ghost = toCounts(hash['ghost']);
    const clock = getReaderClock(root, timezone);
    const unit = toText(hash['unit']) || 'errors';
    const x = X_SCALE.domain([from, to]);
    const y = Y_SCALE.domain([0, Math.max(...counts, ...ghost, 4)]).nice(TICK_COUNT);
    const [, top = 1] = y.domain();
    const ticks = y.ticks(TICK_COUNT).filter(Number.isInteger);
    const times = addZone(
      listTimeTicks(from, to, clock.timezone, clock.hours),
      (at) => getTimeFormats(clock).minute(at).zone,
    );
    const marks = toMarks(hash['marks'], from, to);
    const bars = buildBarPath(counts, CHART_WIDTH, CHART_HEIGHT, top);
    const most = Math.max(...counts);
    const peak = from + counts.indexOf(most) * step;
    const description = [
      `${formatNumber(counts.reduce((sum, n) => sum + n, 0))} ${unit}`,
      ...(most > 0 ? [`most at ${getTimeFormats(clock).minute(peak).text}: ${formatNumber(most)}`] : []),
      ...marks.map(({ at, label }) => `${label} published ${getTimeFormats(clock).minute(at).text}`),
    ].join('; ');
    const parts = [
      `<desc>${escapeHtml(description)}</desc>`,
      ...ticks.map((tick) => `<path class="series-grid" d="M0 ${round(y(tick))}H${CHART_WIDTH}"/>`),
      `<path class="traffic-bars" d="${bars}"/>`,
      renderGhost(ghost),
      renderMarkLines(marks),
    ];
    const picture = renderAttributes({
      class: 'series',
      viewBox: `0 0 ${CHART_WIDTH} ${CHART_HEIGHT}`,
      width: CHART_WIDTH,
      height: CHART_HEIGHT,
      role: 'img',
      'aria-label': toText(hash['label']) || undefined,
      preserveAspectRatio: 'none',
    });
    const plot = renderAttributes({
      class: 'series-plot',
      'data-points': counts.map((n, i) => `${i},${n},${n},${n},${ghost[i] ?? 0}`).join(' '),
      'data-first': from,
      'data-bucket': step,
      'data-from': from,
      'data-to': to,
      'data-zone': clock.timezone,
      'data-hours': clock.hours,
    });
    const axis = renderTimeAxis(times, (at) => (x(at) / CHART_WIDTH) * 100);
    const body = `<div${plot}>${renderMarkNames(marks)}<svg${picture}>${parts.join('')}</svg>${axis}</div>`;
    const kind = marks.length > 0 ? 'series-chart traffic-chart has-marks' : 'series-chart traffic-chart';
    return new Html(`<div class="${kind}">${renderLabels(ticks, y, '')}${body}</div>`);
  };

export const createTrafficHelpers = (options: TimeOptions): Record<string, Helper> => ({
  'traffic-chart': createTrafficChart(options),
});
