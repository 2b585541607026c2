/** Columns of hours or days, each in the colour of its worst state: what a monitor's past looks like at a glance. */
import { attributes, escape, Html, numeric, plain, split, type Helper } from './html.js';
import { duration } from './time.js';

const PITCH = 8;
const WIDTH = 6;
const HEIGHT = 24;

/**
 * `{{state-bar columns titles=(hour-titles 24) label="Last 24 hours"}}`: columns `[{tone, text, seconds}]`, oldest first. Each
 * carries its title for the pointer; the label says for everyone how many were not well.
 */
function stateBar(...args: unknown[]): Html {
  const { values, hash } = split(args);
  const columns = Array.isArray(values[0]) ? (values[0] as { [name: string]: unknown }[]) : [];
  const titles = Array.isArray(hash['titles']) ? (hash['titles'] as unknown[]) : [];
  const toneOf = (column: { [name: string]: unknown }): string =>
    plain(column['tone']).replace(/[^a-z]/g, '') || 'none';
  const boxes = columns.map((column, i) => {
    const seconds = numeric(column['seconds']);
    const text = `${plain(column['text'])}${seconds === null ? '' : ` for ${duration(seconds)}`}`;
    const title = titles[i] === undefined ? text : `${plain(titles[i])}: ${text}`;
    // Plain text and numbers: a page of monitors has a thousand of these.
    return `<rect class="tone-${toneOf(column)}" x="${i * PITCH}" y="0" width="${WIDTH}" height="${HEIGHT}" rx="1.5"><title>${escape(title)}</title></rect>`;
  });
  const troubled = (tone: string): number => columns.filter((column) => toneOf(column) === tone).length;
  const set = attributes({
    class: 'state-bar',
    viewBox: `0 0 ${Math.max(columns.length * PITCH - (PITCH - WIDTH), WIDTH)} ${HEIGHT}`,
    role: 'img',
    'aria-label': `${plain(hash['label'])}: down in ${troubled('critical')} of ${columns.length}, in warning in ${troubled('warning')}`,
    preserveAspectRatio: 'none',
  });
  return new Html(`<svg${set}>${boxes.join('')}</svg>`);
}

export const uptimeBars: Record<string, Helper> = { 'state-bar': stateBar };
