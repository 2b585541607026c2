/**
 * Small inline SVG charts with D3's scales. They use presentation attributes only, because the CSP
 * forbids styles. Time series are in series.ts.
 */
import { scaleBand, scaleLinear } from 'd3-scale';
import { formatNumber } from './format.js';
import { renderAttributes, escapeHtml, Html, toNumber, toText, splitArguments, type Helper } from './html.js';

const toNumbers = (value: unknown): number[] => (Array.isArray(value) ? value.map((v) => toNumber(v) ?? 0) : []);
/**
 * D3 writes functions into a new scale, which V8 allocates among its old objects (decision 020).
 */
const COLUMN_SCALE = scaleBand<number>().padding(0.24);
const HEIGHT_SCALE = scaleLinear();

const round = (n: number): number => Math.round(n * 100) / 100;

/** Returns the path of a line through the values, zero at the bottom; empty for fewer than two. */
export function buildSparkPath(values: readonly number[], width: number, height: number): string {
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

function renderFrame(kind: string, width: number, height: number, label: string, body: string): Html {
  const set = renderAttributes({
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

export function buildBarPath(values: readonly number[], width: number, height: number, top: number): string {
  const step = width / values.length;
  const wide = round(step * 0.7);
  let path = '';
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (value <= 0) continue;
    // Keeps a single occurrence visible next to thousands.
    const tall = round(Math.max(Math.min(value / top, 1) * height, 2));
    path += `M${round(i * step)},${height}v-${tall}h${wide}v${tall}z`;
  }
  return path;
}

/** All rows of a list share the scale `top`. */
function renderSparkBars(counts: readonly number[], width: number, height: number, top: number, label: string): Html {
  const path = buildBarPath(counts, width, height - 1, Math.max(top, 1));
  const base = `<path d="M0 ${height - 0.5}H${width}" class="spark-base"/>`;
  return renderFrame(
    'spark',
    width,
    height,
    label,
    `${path === '' ? '' : `<path d="${path}" class="spark-bars"/>`}${base}`,
  );
}

function renderSparkline(...args: unknown[]): Html {
  const { values, hash } = splitArguments(args);
  const width = toNumber(hash['width']) ?? 96;
  const height = toNumber(hash['height']) ?? 24;
  const inner = height - 3;
  const counts = toNumbers(values[0]);
  const top = toNumber(hash['top']);
  if (top !== null) return renderSparkBars(counts, width, height, top, toText(hash['label']));
  const path = buildSparkPath(counts, width, inner);
  const body =
    path === '' || counts.every((count) => count === 0)
      ? `<path d="M0 ${inner + 1.5}H${width}" class="spark-line"/>`
      : `<g transform="translate(0 1.5)"><path d="${path}L${width},${inner}L0,${inner}Z" class="spark-area"/><path d="${path}" class="spark-line"/></g>`;
  return renderFrame('spark', width, height, toText(hash['label']), body);
}

function renderBarChart(...args: unknown[]): Html {
  const { values, hash } = splitArguments(args);
  const all = toNumbers(values[0]);
  const titles = Array.isArray(hash['titles']) ? (hash['titles'] as unknown[]) : [];
  const width = toNumber(hash['width']) ?? 480;
  const height = toNumber(hash['height']) ?? 96;
  const x = COLUMN_SCALE.domain(all.keys()).range([0, width]);
  const y = HEIGHT_SCALE.domain([0, Math.max(...all, toNumber(hash['top']) ?? 1, 1)]).range([0, height]);
  const columns = all.map((v, i) => {
    // Height 0 would mean "no data"; a thin line means "none counted".
    const tall = v > 0 ? Math.max(y(v), 3) : 1;
    const title = `<title>${escapeHtml(titles[i] ?? '')}${titles[i] === undefined ? '' : ': '}${escapeHtml(v)}</title>`;
    const box = renderAttributes({
      x: round(x(i) ?? 0),
      y: round(height - tall),
      width: round(x.bandwidth()),
      height: round(tall),
    });
    return `<rect class="${v > 0 ? 'chart-bar' : 'chart-bar chart-bar-none'}"${box} rx="1.5">${title}</rect>`;
  });
  const body = columns.join('') + renderMarks(hash['marks'], width, height);
  return renderFrame('bars d-block w-100', width, height, toText(hash['label']), body);
}

function renderMarks(given: unknown, width: number, height: number): string {
  const marks = Array.isArray(given) ? (given as Record<string, unknown>[]) : [];
  return marks
    .map(({ at, label }) => {
      const x = round(Math.min(Math.max(toNumber(at) ?? 0, 0), 1) * width);
      // The wide, invisible line is the hover target.
      return `<g class="chart-mark"><path d="M${x} 0V${height}"/><path class="chart-mark-near" d="M${x} 0V${height}"/><title>${escapeHtml(toText(label))}</title></g>`;
    })
    .join('');
}

function renderShareBar(...args: unknown[]): Html {
  const { values, hash } = splitArguments(args);
  const parts = (Array.isArray(values[0]) ? (values[0] as Record<string, unknown>[]) : []).map((part) => ({
    label: toText(part['label']),
    value: Math.max(toNumber(part['value']) ?? 0, 0),
    tone: toText(part['tone']).replace(/[^a-z]/g, '') || 'neutral',
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
        `<li class="text-break"><span class="dot tone-${part.tone}"></span>${escapeHtml(part.label)} <b>${formatNumber(part.value)}</b></li>`,
    )
    .join('');
  const chart = renderFrame('shares-bar d-block w-100', 400, 8, toText(hash['label']), boxes.join('')).toHTML();
  return new Html(
    `<div class="shares">${chart}<ul class="list-unstyled d-flex flex-wrap gap-3 mt-2 mb-0 text-secondary">${legend}</ul></div>`,
  );
}

function renderProgressBar(...args: unknown[]): Html {
  const { values, hash } = splitArguments(args);
  const max = Math.max(toNumber(values[1]) ?? 100, 0);
  const now = Math.min(Math.max(toNumber(values[0]) ?? 0, 0), max);
  const set = renderAttributes({
    class: 'progress',
    role: 'progressbar',
    max: max || 1,
    value: now,
    'aria-valuemin': 0,
    'aria-valuemax': max,
    'aria-valuenow': now,
    'aria-label': toText(hash['label']) || 'Progress',
  });
  return new Html(`<progress${set}>${escapeHtml(now)} of ${escapeHtml(max)}</progress>`);
}

export const chartHelpers: Record<string, Helper> = {
  sparkline: renderSparkline,
  'bar-chart': renderBarChart,
  'share-bar': renderShareBar,
  'progress-bar': renderProgressBar,
};
