/**
 * Parts of a whole per day, stacked as areas. assets/charts.js reads the values of a day out on
 * hover and focus, and the legend has the newest.
 */
import { scaleLinear } from 'd3-scale';
import { area, stack } from 'd3-shape';
import { formatNumber } from './format.js';
import { renderAttributes, escapeHtml, Html, toNumber, toText, splitArguments, type Helper } from './html.js';
import { getReaderClock, getTimeFormats, type ReaderClock } from './reader-clock.js';
import { addZone, renderLabels, renderTimeAxis } from './series.js';
import { listTimeTicks } from './time-axis.js';
import type { TimeOptions } from './time.js';

const CHART_WIDTH = 720;
const CHART_HEIGHT = 150;
const TICK_COUNT = 4;
/** Red is for what is down; the last is for the others. */
const TONES = ['accent', 'info', 'warning', 'success', 'none'] as const;

/** An edge of the ground tells areas from each other. Attributes, because few pages have them. */
const AREA_PAINT =
  'fill="var(--tone)" fill-opacity="0.85" stroke="var(--surface)" stroke-width="1.5" vector-effect="non-scaling-stroke"';

interface AreaSeries {
  label: string;
  counts: number[];
}

/** Shared scales, as in charts.ts; each chart sets their domains. */
const X_SCALE = scaleLinear().range([0, CHART_WIDTH]).clamp(true);
const Y_SCALE = scaleLinear().range([CHART_HEIGHT, 0]).clamp(true);

const toSeries = (value: unknown, days: number): AreaSeries[] =>
  (Array.isArray(value) ? (value as Record<string, unknown>[]) : []).slice(0, TONES.length).map((one) => {
    const counts = Array.isArray(one['counts']) ? (one['counts'] as unknown[]) : [];
    return {
      label: toText(one['label']),
      counts: Array.from({ length: days }, (_, i) => Math.max(toNumber(counts[i]) ?? 0, 0)),
    };
  });

function formatDays(series: readonly AreaSeries[], times: readonly number[], clock: ReaderClock): string[] {
  const { date } = getTimeFormats(clock);
  return times.map((at, i) => {
    const parts = series.filter(({ counts }) => (counts[i] ?? 0) > 0);
    const texts = parts.map(({ label, counts }) => `${label} ${formatNumber(counts[i] ?? 0)}`);
    return `${date(at)}: ${texts.length === 0 ? '0' : texts.join(', ')}`;
  });
}

const renderLegend = (series: readonly AreaSeries[]): string => {
  const items = series.map(({ label, counts }, i) => {
    const now = formatNumber(counts.at(-1) ?? 0);
    return `<li class="text-break"><span class="dot tone-${TONES[i]}"></span>${escapeHtml(label)} <b>${now}</b></li>`;
  });
  return `<ul class="list-unstyled d-flex flex-wrap gap-3 mt-2 mb-0 text-secondary">${items.join('')}</ul>`;
};

const createAreaChart =
  ({ timezone }: TimeOptions): Helper =>
  (...args) => {
    const { values, hash, root } = splitArguments(args);
    const days = Array.isArray(hash['days']) ? (hash['days'] as unknown[]) : [];
    const times = days.map((day) => Date.parse(toText(day)));
    const series = toSeries(values[0], times.length);
    const [from, to] = [times[0] ?? NaN, times.at(-1) ?? NaN];
    if (series.length === 0 || !(to > from)) return new Html('');
    const clock = getReaderClock(root, timezone);
    const rows = times.map((_, i) => Object.fromEntries(series.map(({ counts }, n) => [n, counts[i] ?? 0])));
    const layers = stack<Record<string, number>>().keys(series.map((_, i) => String(i)))(rows);
    const top = Math.max(1, ...(layers.at(-1) ?? []).map(([, high]) => high));
    const x = X_SCALE.domain([from, to]);
    const y = Y_SCALE.domain([0, top]).nice(TICK_COUNT);
    const draw = area<readonly number[]>()
      .x((_, i) => x(times[i] ?? from))
      .y0(([low = 0]) => y(low))
      .y1(([, high = 0]) => y(high))
      .digits(1);
    const ticks = y.ticks(TICK_COUNT).filter(Number.isInteger);
    const axis = addZone(
      listTimeTicks(from, to, clock.timezone, clock.hours),
      (at) => getTimeFormats(clock).minute(at).zone,
    );
    const texts = formatDays(series, times, clock);
    const parts = [
      `<desc>${escapeHtml(texts.at(-1) ?? '')}</desc>`,
      ...ticks.map((tick) => `<path class="series-grid" d="M0 ${y(tick).toFixed(1)}H${CHART_WIDTH}"/>`),
      ...layers.map((layer, i) => `<path class="tone-${TONES[i]}" ${AREA_PAINT} d="${draw(layer) ?? ''}"/>`),
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
      'data-points': times.map((at) => `${at - from},0,0,0`).join(' '),
      'data-texts': texts.join('\n'),
      'data-first': from,
      'data-bucket': 1,
      'data-from': from,
      'data-to': to,
      'data-zone': clock.timezone,
      'data-hours': clock.hours,
    });
    const body = `<div${plot}><svg${picture}>${parts.join('')}</svg>${renderTimeAxis(axis, (at) => (x(at) / CHART_WIDTH) * 100)}</div>`;
    return new Html(
      `<div class="series-chart area-chart">${renderLabels(ticks, y, '')}${body}</div>${renderLegend(series)}`,
    );
  };

export const createAreaHelpers = (options: TimeOptions): Record<string, Helper> => ({
  'area-chart': createAreaChart(options),
});
