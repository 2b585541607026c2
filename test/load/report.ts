/**
 * The report of a bench: `report.json`, a page with plots, and a line of `history.jsonl` for every run, in the folder that
 * `BENCH_REPORT` names (`build/bench` without it). The page needs nothing but itself.
 */
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { Figure } from './beside.js';

export interface Run {
  at: string;
  node: string;
  cpu: string;
  cores: number;
  figures: Figure[];
}

const FOLDER = process.env['BENCH_REPORT'] ?? join('build', 'bench');
/** Runs that the page shows. */
const SHOWN = 30;

/** Writes all three; answers the folder. */
export async function keep(figures: Figure[]): Promise<string> {
  const [first] = cpus();
  const run: Run = {
    at: new Date().toISOString(),
    node: process.version,
    cpu: first?.model.trim() ?? 'unknown',
    cores: cpus().length,
    figures,
  };
  await mkdir(FOLDER, { recursive: true });
  await writeFile(join(FOLDER, 'report.json'), `${JSON.stringify(run, null, 2)}\n`);
  const history = join(FOLDER, 'history.jsonl');
  await appendFile(history, `${JSON.stringify(run)}\n`);
  const lines = (await readFile(history, 'utf8')).trim().split('\n');
  const runs = lines.slice(-SHOWN).map((one) => JSON.parse(one) as Run);
  await writeFile(join(FOLDER, 'report.html'), page(run, runs));
  return FOLDER;
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const COLUMNS: readonly (readonly [head: string, cell: (figure: Figure) => string])[] = [
  ['ratio to the bare route', ({ ratio }) => ratio.toFixed(2)],
  ['rounds', ({ ratios }) => ratios.map((one) => one.toFixed(2)).join(' ')],
  ['per second', ({ ours }) => ours.per_second.toFixed(0)],
  ['p50, ms', ({ ours }) => String(ours.p50_ms)],
  ['p99, ms', ({ ours }) => String(ours.p99_ms)],
  ['CPU, s per 10,000', ({ ours }) => ours.cpu_s_per_10000.toFixed(2)],
  ['CPU over bare', ({ cpu_ratio }) => cpu_ratio.toFixed(1)],
  ['KB written', ({ ours }) => ours.written_kb_per_request.toFixed(1)],
  ['resident, MB', ({ ours }) => ours.resident_mb.toFixed(0)],
];

const SERIES: readonly (readonly [name: string, of: (figure: Figure) => number])[] = [
  ['Ratio to the bare route', ({ ratio }) => ratio],
  ['CPU, seconds per 10,000 requests', ({ ours }) => ours.cpu_s_per_10000],
  ['KB written per request', ({ ours }) => ours.written_kb_per_request],
  ['p99, ms', ({ ours }) => ours.p99_ms],
  ['Resident memory, MB', ({ ours }) => ours.resident_mb],
];

/** Pure. @param runs the oldest first, `run` the last of them */
export function page(run: Run, runs: readonly Run[]): string {
  const rows = run.figures.map(
    (figure) =>
      `<tr><th scope="row">${escape(figure.name)}</th>${COLUMNS.map(([, cell]) => `<td>${cell(figure)}</td>`).join('')}</tr>`,
  );
  const names = [...new Set(runs.flatMap(({ figures }) => figures.map(({ name }) => name)))];
  const plots = names.map((name) => {
    const of = runs.flatMap(({ at, figures }) =>
      figures.filter((one) => one.name === name).map((figure) => ({ at, figure })),
    );
    const drawn = SERIES.map(([title, value]) =>
      plot(
        title,
        of.map(({ at, figure }) => [at, value(figure)]),
      ),
    );
    return `<h2>${escape(name)}</h2><div class="plots">${drawn.join('')}</div>`;
  });
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Bench of ${escape(run.at)}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
table { border-collapse: collapse } th, td { padding: .3rem .6rem; border-bottom: 1px solid #ccc; text-align: right } th[scope=row] { text-align: left }
.plots { display: flex; flex-wrap: wrap; gap: 1rem } figure { margin: 0 } figcaption { font-size: 13px }
polyline { fill: none; stroke: #066fd1; stroke-width: 2 } circle { fill: #066fd1 } line { stroke: #ccc } text { font-size: 11px; fill: #555 }
</style>
<h1>Bench</h1>
<p>${escape(run.at)}, Node ${escape(run.node)}, ${run.cores} cores, ${escape(run.cpu)}. Medians of the rounds, each beside a bare route in the same run.</p>
<table><thead><tr><th></th>${COLUMNS.map(([head]) => `<th scope="col">${head}</th>`).join('')}</tr></thead><tbody>${rows.join('\n')}</tbody></table>
${plots.join('\n')}
</html>
`;
}

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [220, 120, 40, 18, 8] as const;

function plot(title: string, points: readonly (readonly [at: string, value: number])[]): string {
  const known = points.filter(([, value]) => Number.isFinite(value));
  const most = Math.max(...known.map(([, value]) => value), 0) || 1;
  const x = (i: number): number => LEFT + (known.length < 2 ? 0.5 : i / (known.length - 1)) * (WIDTH - LEFT - 8);
  const y = (value: number): number => HEIGHT - BOTTOM - (value / most) * (HEIGHT - BOTTOM - TOP);
  const spots = known.map(([at, value], i) => ({ at, value, cx: x(i).toFixed(1), cy: y(value).toFixed(1) }));
  const dots = spots.map(
    ({ at, value, cx, cy }) => `<circle cx="${cx}" cy="${cy}" r="2.5"><title>${escape(at)}: ${value}</title></circle>`,
  );
  return (
    `<figure><figcaption>${escape(title)}</figcaption><svg width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${escape(title)}">` +
    `<line x1="${LEFT}" y1="${y(0)}" x2="${WIDTH}" y2="${y(0)}"/><text x="0" y="${y(0)}">0</text><text x="0" y="${y(most) + 8}">${Number(most.toPrecision(3))}</text>` +
    `<polyline points="${spots.map(({ cx, cy }) => `${cx},${cy}`).join(' ')}"/>${dots.join('')}</svg></figure>`
  );
}
