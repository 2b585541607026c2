/**
 * Small charts drawn on the server as inline SVG, by D3's scales: presentation attributes only, because the CSP
 * forbids styles. A metric over time is in series.ts.
 */
import { scaleBand, scaleLinear } from 'd3-scale';
import { number } from './format.js';
import { attributes, escape, Html, numeric, plain, split, type Helper } from './html.js';

const series = (value: unknown): number[] => (Array.isArray(value) ? value.map((v) => numeric(v) ?? 0) : []);
/**
 * Scales are made once, and each picture sets their spans: D3 writes the functions of a new scale into its properties,
 * and V8 makes such functions among its old objects (decision 020).
 */
const COLUMNS = scaleBand<number>().padding(0.24);
const HEIGHTS = scaleLinear();

const round = (n: number): number => Math.round(n * 100) / 100;

/**
 * The `d` of a line through the values, within `width` × `height`, zero at the bottom; '' for fewer than two. A list
 * has one in every row: no scale is made for it, and where the line goes on level its middle points are left out.
 */
export function sparkPath(values: readonly number[], width: number, height: number): string {
  if (values.length < 2) return '';
  const low = Math.min(...values, 0);
  const high = Math.max(...values, 0) || 1;
  const step = width / (values.length - 1);
  let path = '';
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (value === values[i - 1] && value === values[i + 1]) continue;
    path += `${i === 0 ? 'M' : 'L'}${round(i * step)},${round(height - ((value - low) / (high - low)) * height)}`;
  }
  return path;
}

function frame(kind: string, width: number, height: number, label: string, body: string): Html {
  const set = attributes({
    class: kind,
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: label ? 'img' : undefined,
    'aria-label': label || undefined,
    'aria-hidden': label ? undefined : 'true',
    preserveAspectRatio: 'none',
  });
  return new Html(`<svg${set}>${body}</svg>`);
}

/** The `d` of columns on a line of their own, zero below it; `top` is the value of the whole height. */
export function barPath(values: readonly number[], width: number, height: number, top: number): string {
  const step = width / values.length;
  const wide = round(step * 0.7);
  let path = '';
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (value <= 0) continue;
    // A single occurrence beside thousands is seen all the same.
    const tall = round(Math.max(Math.min(value / top, 1) * height, 2));
    path += `M${round(i * step)},${height}v-${tall}h${wide}v${tall}z`;
  }
  return path;
}

/** Columns: every row of a list has the scale `top`, so that rows can be compared. */
function sparkBars(counts: readonly number[], width: number, height: number, top: number, label: string): Html {
  const path = barPath(counts, width, height - 1, Math.max(top, 1));
  const base = `<path d="M0 ${height - 0.5}H${width}" class="spark-base"/>`;
  return frame('spark', width, height, label, `${path === '' ? '' : `<path d="${path}" class="spark-bars"/>`}${base}`);
}

/**
 * `{{sparkline counts label="Hits per hour, last 24 h"}}`: a line; with `top`, the greatest value of all rows, columns.
 * `width`, `height` in pixels.
 */
function sparkline(...args: unknown[]): Html {
  const { values, hash } = split(args);
  const width = numeric(hash['width']) ?? 96;
  const height = numeric(hash['height']) ?? 24;
  const inner = height - 3;
  const counts = series(values[0]);
  const top = numeric(hash['top']);
  if (top !== null) return sparkBars(counts, width, height, top, plain(hash['label']));
  const path = sparkPath(counts, width, inner);
  const body =
    path === '' || counts.every((count) => count === 0)
      ? `<path d="M0 ${inner + 1.5}H${width}" class="spark-line"/>`
      : `<g transform="translate(0 1.5)"><path d="${path}L${width},${inner}L0,${inner}Z" class="spark-area"/><path d="${path}" class="spark-line"/></g>`;
  return frame('spark', width, height, plain(hash['label']), body);
}

/**
 * `{{bar-chart counts label="Errors per hour" titles=hours}}`: columns; each carries its title for the pointer. `top`:
 * the value of the whole height, for charts that share a scale. `marks`: `[{at, label}]`, lines at moments from 0 to 1
 * of the width, such as a publish; the page names them in text too.
 */
function bars(...args: unknown[]): Html {
  const { values, hash } = split(args);
  const all = series(values[0]);
  const titles = Array.isArray(hash['titles']) ? (hash['titles'] as unknown[]) : [];
  const width = numeric(hash['width']) ?? 480;
  const height = numeric(hash['height']) ?? 96;
  const x = COLUMNS.domain(all.keys()).range([0, width]);
  const y = HEIGHTS.domain([0, Math.max(...all, numeric(hash['top']) ?? 1, 1)]).range([0, height]);
  const columns = all.map((v, i) => {
    // A column of height 0 would say "no data"; a thin line says "none counted".
    const tall = v > 0 ? Math.max(y(v), 3) : 1;
    const title = `<title>${escape(titles[i] ?? '')}${titles[i] === undefined ? '' : ': '}${escape(v)}</title>`;
    const box = attributes({
      x: round(x(i) ?? 0),
      y: round(height - tall),
      width: round(x.bandwidth()),
      height: round(tall),
    });
    return `<rect class="${v > 0 ? 'chart-bar' : 'chart-bar chart-bar-none'}"${box} rx="1.5">${title}</rect>`;
  });
  const body = columns.join('') + marksIn(hash['marks'], width, height);
  return frame('bars d-block w-100', width, height, plain(hash['label']), body);
}

/** Lines over a chart, each with its title for the pointer. */
function marksIn(given: unknown, width: number, height: number): string {
  const marks = Array.isArray(given) ? (given as Record<string, unknown>[]) : [];
  return marks
    .map(({ at, label }) => {
      const x = round(Math.min(Math.max(numeric(at) ?? 0, 0), 1) * width);
      // The wide, unseen line is what a pointer finds.
      return `<g class="chart-mark"><path d="M${x} 0V${height}"/><path class="chart-mark-near" d="M${x} 0V${height}"/><title>${escape(plain(label))}</title></g>`;
    })
    .join('');
}

/**
 * `{{share-bar parts label="Monitors by state"}}` with parts `[{label, value, tone}]`: one bar in proportion, and its
 * legend.
 */
function shares(...args: unknown[]): Html {
  const { values, hash } = split(args);
  const parts = (Array.isArray(values[0]) ? (values[0] as Record<string, unknown>[]) : []).map((part) => ({
    label: plain(part['label']),
    value: Math.max(numeric(part['value']) ?? 0, 0),
    tone: plain(part['tone']).replace(/[^a-z]/g, '') || 'neutral',
  }));
  const total = parts.reduce((sum, part) => sum + part.value, 0);
  let x = 0;
  const boxes = parts.map((part) => {
    const width = total === 0 ? 0 : (part.value / total) * 400;
    const box = `<rect class="tone-${part.tone}" x="${round(x)}" y="0" width="${round(Math.max(width - 2, 0))}" height="8" rx="1"/>`;
    x += width;
    return box;
  });
  const legend = parts
    .map(
      (part) =>
        `<li class="text-break"><span class="dot tone-${part.tone}"></span>${escape(part.label)} <b>${number(part.value)}</b></li>`,
    )
    .join('');
  const chart = frame('shares-bar d-block w-100', 400, 8, plain(hash['label']), boxes.join('')).toHTML();
  return new Html(
    `<div class="shares">${chart}<ul class="list-unstyled d-flex flex-wrap gap-3 mt-2 mb-0 text-secondary">${legend}</ul></div>`,
  );
}

/**
 * `{{progress-bar done total label="Applying rule"}}`: a native progress element, so that no style is needed for its
 * width.
 */
function progress(...args: unknown[]): Html {
  const { values, hash } = split(args);
  const max = Math.max(numeric(values[1]) ?? 100, 0);
  const now = Math.min(Math.max(numeric(values[0]) ?? 0, 0), max);
  const set = attributes({
    class: 'progress',
    role: 'progressbar',
    max: max || 1,
    value: now,
    'aria-valuemin': 0,
    'aria-valuemax': max,
    'aria-valuenow': now,
    'aria-label': plain(hash['label']) || 'Progress',
  });
  return new Html(`<progress${set}>${escape(now)} of ${escape(max)}</progress>`);
}

export const charts: Record<string, Helper> = {
  sparkline,
  'bar-chart': bars,
  'share-bar': shares,
  'progress-bar': progress,
};
