/** Small charts drawn on the server as inline SVG: presentation attributes only, because the CSP forbids styles. */
import { attributes, escape, Html, numeric, plain, split, type Helper } from './html.js';

const series = (value: unknown): number[] => (Array.isArray(value) ? value.map((v) => numeric(v) ?? 0) : []);
const round = (n: number): number => Math.round(n * 100) / 100;

/** The `d` of a polyline through the values, within `width` × `height`, zero at the bottom; '' for fewer than two. */
export function sparkPath(values: readonly number[], width: number, height: number): string {
  if (values.length < 2) return '';
  const top = Math.max(...values, 0) || 1;
  const low = Math.min(...values, 0);
  const step = width / (values.length - 1);
  return values
    .map(
      (v, i) => `${i === 0 ? 'M' : 'L'}${round(i * step)} ${round(height - ((v - low) / (top - low || 1)) * height)}`,
    )
    .join('');
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

/** `{{sparkline counts label="Hits per hour, last 24 h"}}`; `width`, `height` in pixels. */
function sparkline(...args: unknown[]): Html {
  const { values, hash } = split(args);
  const width = numeric(hash['width']) ?? 96;
  const height = numeric(hash['height']) ?? 24;
  const inner = height - 3;
  const line = sparkPath(series(values[0]), width, inner);
  const body =
    line === ''
      ? `<path d="M0 ${inner}H${width}" class="spark-line"/>`
      : `<g transform="translate(0 1.5)"><path d="${line}L${width} ${inner}L0 ${inner}Z" class="spark-area"/><path d="${line}" class="spark-line"/></g>`;
  return frame('spark', width, height, plain(hash['label']), body);
}

/** `{{bar-chart counts label="Errors per hour" titles=hours}}`: columns; each carries its title for the pointer. */
function bars(...args: unknown[]): Html {
  const { values, hash } = split(args);
  const all = series(values[0]);
  const titles = Array.isArray(hash['titles']) ? (hash['titles'] as unknown[]) : [];
  const width = numeric(hash['width']) ?? 480;
  const height = numeric(hash['height']) ?? 96;
  const top = Math.max(...all, 1);
  const step = width / Math.max(all.length, 1);
  const columns = all.map((v, i) => {
    // A column of height 0 would say "no data"; a thin line says "none counted".
    const tall = v > 0 ? Math.max((v / top) * height, 3) : 1;
    const title = `<title>${escape(titles[i] ?? '')}${titles[i] === undefined ? '' : ': '}${escape(v)}</title>`;
    const box = attributes({
      x: round(i * step + step * 0.12),
      y: round(height - tall),
      width: round(step * 0.76),
      height: round(tall),
    });
    return `<rect class="${v > 0 ? 'chart-bar' : 'chart-bar chart-bar-none'}"${box} rx="1.5">${title}</rect>`;
  });
  return frame('bars', width, height, plain(hash['label']), columns.join(''));
}

/** `{{share-bar parts label="Monitors by state"}}` with parts `[{label, value, tone}]`: one bar in proportion, and its legend. */
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
    const box = `<rect class="fill-${part.tone}" x="${round(x)}" y="0" width="${round(Math.max(width - 2, 0))}" height="8" rx="1"/>`;
    x += width;
    return box;
  });
  const legend = parts
    .map(
      (part) => `<li><span class="dot dot-${part.tone}"></span>${escape(part.label)} <b>${escape(part.value)}</b></li>`,
    )
    .join('');
  const chart = frame('shares-bar', 400, 8, plain(hash['label']), boxes.join('')).toHTML();
  return new Html(`<div class="shares">${chart}<ul class="shares-legend">${legend}</ul></div>`);
}

interface SeriesPoint {
  at: number;
  avg: number;
  min: number;
  max: number;
}

function pointsOf(value: unknown): SeriesPoint[] {
  const all = Array.isArray(value) ? (value as Record<string, unknown>[]) : [];
  return all.flatMap((point) => {
    const at = Date.parse(plain(point['t']));
    const avg = numeric(point['avg']);
    if (Number.isNaN(at) || avg === null) return [];
    return [{ at, avg, min: numeric(point['min']) ?? avg, max: numeric(point['max']) ?? avg }];
  });
}

/** Runs of points without a hole: a gap longer than three buckets is drawn as one. */
function runsOf(points: readonly SeriesPoint[], gap: number): SeriesPoint[][] {
  const runs: SeriesPoint[][] = [];
  for (const point of points) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run && last && point.at - last.at <= gap) run.push(point);
    else runs.push([point]);
  }
  return runs;
}

/**
 * `{{series-chart points from=… to=… bucket=300 mean=… stddev=… label="cpu"}}`: average as a line, min to max as an area,
 * the long-term mean with its deviation as a band. Points `[{t, avg, min, max}]`; times RFC 3339, `bucket` in seconds.
 */
function seriesChart(...args: unknown[]): Html {
  const { values, hash } = split(args);
  const [width, height] = [720, 150];
  const points = pointsOf(values[0]);
  const from = Date.parse(plain(hash['from']));
  const to = Date.parse(plain(hash['to']));
  const mean = numeric(hash['mean']);
  const stddev = numeric(hash['stddev']) ?? 0;
  const levels = [
    ...points.flatMap(({ min, max }) => [min, max]),
    ...(mean === null ? [] : [mean - stddev, mean + stddev]),
  ];
  const bottom = levels.reduce((a, b) => Math.min(a, b), Infinity);
  const top = levels.reduce((a, b) => Math.max(a, b), -Infinity);
  const margin = (top - bottom || Math.abs(top) || 1) * 0.08;
  const x = (at: number): number => round((Math.min(Math.max(at, from), to) - from) * (width / (to - from || 1)));
  const y = (v: number): number => round(height - ((v - bottom + margin) / (top - bottom + 2 * margin)) * height);
  const parts: string[] = [];
  if (mean !== null && points.length > 0) {
    const high = y(mean + stddev);
    const set = attributes({ class: 'series-band', x: 0, y: high, width, height: round(y(mean - stddev) - high) });
    parts.push(`<rect${set}/><path class="series-mean" d="M0 ${y(mean)}H${width}"/>`);
  }
  for (const run of runsOf(points, (numeric(hash['bucket']) ?? 60) * 3000)) {
    const there = run.map(({ at, max }) => `${x(at)} ${y(max)}`);
    const back = run.toReversed().map(({ at, min }) => `${x(at)} ${y(min)}`);
    parts.push(`<path class="series-range" d="M${[...there, ...back].join('L')}Z"/>`);
    const line = run.map(({ at, avg }) => `${x(at)} ${y(avg)}`);
    // A single point is a line of no length; its round ends make it a dot.
    parts.push(`<path class="series-line" d="M${line.join('L')}${line.length === 1 ? `L${line[0]}` : ''}"/>`);
  }
  return frame('series', width, height, plain(hash['label']), parts.join(''));
}

/** `{{progress-bar done total label="Applying rule"}}`: a native progress element, so that no style is needed for its width. */
function progress(...args: unknown[]): Html {
  const { values, hash } = split(args);
  const max = Math.max(numeric(values[1]) ?? 100, 0);
  const now = Math.min(Math.max(numeric(values[0]) ?? 0, 0), max);
  const set = attributes({
    class: 'meter',
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
  'series-chart': seriesChart,
  'progress-bar': progress,
};
