import { renderAttributes, escapeHtml, Html, toNumber, toText, splitArguments, type Helper } from './html.js';
import { formatDuration } from './time.js';

const COLUMN_PITCH = 8;
const COLUMN_WIDTH = 6;
const BAR_HEIGHT = 24;

interface StateColumn {
  tone: string;
  text: string;
}

interface ColumnRun extends StateColumn {
  from: number;
  to: number;
}

function groupColumns(columns: readonly StateColumn[]): ColumnRun[] {
  const runs: ColumnRun[] = [];
  for (const [at, { tone, text }] of columns.entries()) {
    const last = runs.at(-1);
    if (last?.tone === tone && last.text === text) last.to = at;
    else runs.push({ tone, text, from: at, to: at });
  }
  return runs;
}

function toColumn({ tone, text, seconds }: Record<string, unknown>): StateColumn {
  const lasted = toNumber(seconds);
  return {
    tone: toText(tone).replace(/[^a-z]/g, '') || 'none',
    text: lasted === null ? toText(text) : `${toText(text)} for ${formatDuration(lasted)}`,
  };
}

function renderStateBar(...args: unknown[]): Html {
  const { values, hash } = splitArguments(args);
  const columns = (Array.isArray(values[0]) ? (values[0] as Record<string, unknown>[]) : []).map(toColumn);
  const titles = Array.isArray(hash['titles']) ? (hash['titles'] as unknown[]) : [];
  const troubled = (tone: string): number => columns.filter((one) => one.tone === tone).length;
  const set = renderAttributes({
    class: 'state-bar',
    viewBox: `0 0 ${Math.max(columns.length * COLUMN_PITCH - (COLUMN_PITCH - COLUMN_WIDTH), COLUMN_WIDTH)} ${BAR_HEIGHT}`,
    role: 'img',
    'aria-label': `${toText(hash['label'])}: down in ${troubled('critical')} of ${columns.length}, in warning in ${troubled('warning')}`,
    preserveAspectRatio: 'none',
  });
  return new Html(
    `<svg${set}>${groupColumns(columns)
      .map((run) => renderRun(run, titles))
      .join('')}</svg>`,
  );
}

/** The stylesheet sets the thickness by tone and cuts the line into columns. */
function renderRun({ tone, text, from, to }: ColumnRun, titles: readonly unknown[]): string {
  const named = [...new Set([toText(titles[from]), toText(titles[to])])].filter((title) => title !== '').join(' to ');
  const title = named === '' ? text : `${named}: ${text}`;
  const length = (to - from) * COLUMN_PITCH + COLUMN_WIDTH;
  return `<path class="tone-${tone}" d="M${from * COLUMN_PITCH} ${BAR_HEIGHT}h${length}"><title>${escapeHtml(title)}</title></path>`;
}

export const uptimeHelpers: Record<string, Helper> = { 'state-bar': renderStateBar };
