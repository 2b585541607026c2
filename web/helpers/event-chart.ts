/**
 * Events per hour or day across the page: each column is a link that narrows the events, and shows
 * its value on hover and focus. Horizontal positions are percentages, so that texts keep their
 * shape at any width.
 */
import { scaleBand, scaleLinear } from 'd3-scale';
import { renderAttributes, escapeHtml, Html, toNumber, toText, splitArguments, type Helper } from './html.js';

type Fields = Record<string, unknown>;

const TOP = 34;
const MARK_TOP = 18;
const PLOT_HEIGHT = 96;
const BASE = TOP + PLOT_HEIGHT;
const HEIGHT = BASE + 20;
/** Labels of releases that are nearer to each other than this many percent would overlap. */
const MIN_LABEL_DISTANCE = 9;
const MIN_PHONE_LABEL_DISTANCE = 24;
/** Shared scales, as in charts.ts; each chart sets their domains. */
const COLUMN_SCALE = scaleBand<number>().range([0, 100]).padding(0.18);
const COUNT_SCALE = scaleLinear().range([0, PLOT_HEIGHT]);

const toFieldsList = (value: unknown): Fields[] => (Array.isArray(value) ? (value as Fields[]) : []);
const round = (n: number): number => Math.round(n * 100) / 100;
const getAnchor = (percent: number): 'start' | 'middle' | 'end' =>
  percent < 8 ? 'start' : percent > 92 ? 'end' : 'middle';

function renderText(kind: string, percent: number, y: number, text: string): string {
  const set = renderAttributes({ class: kind, x: `${round(percent)}%`, y, 'text-anchor': getAnchor(percent) });
  return `<text${set}>${escapeHtml(text)}</text>`;
}

function renderColumn({ count, href, chosen }: Fields, i: number, title: string): string {
  const value = Math.max(toNumber(count) ?? 0, 0);
  const x = COLUMN_SCALE(i) ?? 0;
  const width = COLUMN_SCALE.bandwidth();
  const tall = value > 0 ? Math.max(COUNT_SCALE(value), 3) : 1;
  const kind = value === 0 ? 'chart-bar chart-bar-none' : chosen === true ? 'chart-bar is-chosen' : 'chart-bar';
  const bar = renderAttributes({
    class: kind,
    x: `${round(x)}%`,
    y: round(BASE - tall),
    width: `${round(width)}%`,
    height: round(tall),
    rx: 1.5,
  });
  const near = renderAttributes({
    class: 'event-near',
    x: `${round(x)}%`,
    y: TOP,
    width: `${round(width)}%`,
    height: PLOT_HEIGHT,
  });
  const says = `${title}${title === '' ? '' : ': '}${value} ${value === 1 ? 'event' : 'events'}`;
  const body = `<rect${near}/><rect${bar}/>${renderText('event-value', x + width / 2, TOP - 6, says)}`;
  const link = toText(href);
  if (link === '') return `<g class="event-column">${body}</g>`;
  return `<a class="event-column" href="${escapeHtml(link)}" aria-label="${escapeHtml(says)}">${body}</a>`;
}

/** The newest first: where labels would overlap, the older ones are left out. */
function renderMarks(marks: readonly Fields[]): string {
  let next = Infinity;
  let nextOnPhone = Infinity;
  return marks
    .map((mark) => ({ at: Math.min(Math.max(toNumber(mark['at']) ?? 0, 0), 1) * 100, label: toText(mark['label']) }))
    .toSorted((a, b) => b.at - a.at)
    .map(({ at, label }) => {
      const isApart = next - at >= MIN_LABEL_DISTANCE;
      const isApartOnPhone = isApart && nextOnPhone - at >= MIN_PHONE_LABEL_DISTANCE;
      if (isApart) next = at;
      if (isApartOnPhone) nextOnPhone = at;
      const kind = isApartOnPhone ? 'event-mark-label' : 'event-mark-label event-mark-between';
      const line = renderAttributes({ x1: `${round(at)}%`, x2: `${round(at)}%`, y1: MARK_TOP, y2: BASE });
      const near = `<line class="chart-mark-near"${line}/>`;
      const text = isApart ? renderText(kind, at, 12, label) : '';
      return `<g class="event-mark"><line${line}/>${near}${text}<title>${escapeHtml(label)} published</title></g>`;
    })
    .join('');
}

function renderEventChart(...args: unknown[]): Html {
  const { values, hash } = splitArguments(args);
  const bars = toFieldsList(values[0]);
  if (bars.length === 0) return new Html('');
  const titles = Array.isArray(hash['titles']) ? (hash['titles'] as unknown[]).map(toText) : [];
  const top = Math.max(1, ...bars.map(({ count }) => toNumber(count) ?? 0));
  COLUMN_SCALE.domain(bars.keys());
  COUNT_SCALE.domain([0, top]);
  const columns = bars.map((bar, i) => renderColumn(bar, i, titles[i] ?? ''));
  const set = renderAttributes({
    class: 'event-chart',
    width: '100%',
    height: HEIGHT,
    role: 'group',
    'aria-label': toText(hash['label']) || 'Events over time',
    // For plugins/bugs/assets/brush.js.
    'data-brush': toText(hash['brush']) || undefined,
    'data-begins': bars.map(({ begin }) => toText(begin)).join(' ') || undefined,
  });
  const grid = `<line class="event-grid" x1="0" x2="100%" y1="${TOP}" y2="${TOP}"/>`;
  const base = `<line class="event-base" x1="0" x2="100%" y1="${BASE}" y2="${BASE}"/>`;
  const ends = `${renderText('event-axis', 0, BASE + 15, toText(hash['from']))}${renderText('event-axis', 100, BASE + 15, toText(hash['to']))}`;
  const most = `<text class="event-axis event-top" x="0" y="${TOP - 6}">${escapeHtml(top)}</text>`;
  const body = `${grid}${renderMarks(toFieldsList(hash['marks']))}${columns.join('')}${base}${most}${ends}`;
  return new Html(`<svg${set}>${body}</svg>`);
}

export const eventChartHelpers: Record<string, Helper> = { 'event-chart': renderEventChart };
