import { attributes, escape, Html, numeric, plain, split, type Helper } from './html.js';
import { duration } from './time.js';

const PITCH = 8;
const WIDTH = 6;
const HEIGHT = 24;

interface Column {
  tone: string;
  text: string;
}

interface Run extends Column {
  from: number;
  to: number;
}

function runsOf(columns: readonly Column[]): Run[] {
  const runs: Run[] = [];
  for (const [at, { tone, text }] of columns.entries()) {
    const last = runs.at(-1);
    if (last?.tone === tone && last.text === text) last.to = at;
    else runs.push({ tone, text, from: at, to: at });
  }
  return runs;
}

function columnOf({ tone, text, seconds }: Record<string, unknown>): Column {
  const lasted = numeric(seconds);
  return {
    tone: plain(tone).replace(/[^a-z]/g, '') || 'none',
    text: lasted === null ? plain(text) : `${plain(text)} for ${duration(lasted)}`,
  };
}

function stateBar(...args: unknown[]): Html {
  const { values, hash } = split(args);
  const columns = (Array.isArray(values[0]) ? (values[0] as Record<string, unknown>[]) : []).map(columnOf);
  const titles = Array.isArray(hash['titles']) ? (hash['titles'] as unknown[]) : [];
  const troubled = (tone: string): number => columns.filter((one) => one.tone === tone).length;
  const set = attributes({
    class: 'state-bar',
    viewBox: `0 0 ${Math.max(columns.length * PITCH - (PITCH - WIDTH), WIDTH)} ${HEIGHT}`,
    role: 'img',
    'aria-label': `${plain(hash['label'])}: down in ${troubled('critical')} of ${columns.length}, in warning in ${troubled('warning')}`,
    preserveAspectRatio: 'none',
  });
  return new Html(
    `<svg${set}>${runsOf(columns)
      .map((run) => drawn(run, titles))
      .join('')}</svg>`,
  );
}

/** The stylesheet sets the thickness by tone and cuts the line into columns. */
function drawn({ tone, text, from, to }: Run, titles: readonly unknown[]): string {
  const named = [...new Set([plain(titles[from]), plain(titles[to])])].filter((title) => title !== '').join(' to ');
  const title = named === '' ? text : `${named}: ${text}`;
  const length = (to - from) * PITCH + WIDTH;
  return `<path class="tone-${tone}" d="M${from * PITCH} ${HEIGHT}h${length}"><title>${escape(title)}</title></path>`;
}

export const uptimeBars: Record<string, Helper> = { 'state-bar': stateBar };
