/** Columns of hours or days, each in the colour of its worst state: what a monitor's past looks like at a glance. */
import { attributes, escape, Html, numeric, plain, split, type Helper } from './html.js';
import { duration } from './time.js';

const PITCH = 8;
const WIDTH = 6;
const HEIGHT = 24;
/** Texts that are kept of one column. */
const KEPT = 100;

/** A column as it was drawn last with a text. */
interface Drawn {
  tone: string;
  seconds: number | null;
  box: string;
}

/**
 * A page of monitors has a thousand columns, and most look like the one above: by their titles, which a list makes anew
 * each hour.
 */
const drawn = new WeakMap<readonly unknown[], Map<string, Drawn>[]>();

/**
 * `{{state-bar columns titles=(hour-titles 24) label="Last 24 hours"}}`: columns `[{tone, text, seconds}]`, oldest
 * first. Each carries its title for the pointer; the label says for everyone how many were not well.
 */
function stateBar(...args: unknown[]): Html {
  const { values, hash } = split(args);
  const columns = Array.isArray(values[0]) ? (values[0] as { [name: string]: unknown }[]) : [];
  const titles = Array.isArray(hash['titles']) ? (hash['titles'] as unknown[]) : [];
  const tones = columns.map((column) => plain(column['tone']).replace(/[^a-z]/g, '') || 'none');
  const known = drawn.get(titles) ?? [];
  drawn.set(titles, known);
  const boxes = columns.map((column, i) => {
    const tone = tones[i] ?? 'none';
    const text = plain(column['text']);
    const seconds = numeric(column['seconds']);
    const kept = (known[i] ??= new Map<string, Drawn>());
    const last = kept.get(text);
    if (last?.tone === tone && last.seconds === seconds) return last.box;
    const box = boxOf(i, tone, seconds === null ? text : `${text} for ${duration(seconds)}`, titles[i]);
    if (kept.size < KEPT) kept.set(text, { tone, seconds, box });
    return box;
  });
  const troubled = (tone: string): number => tones.filter((one) => one === tone).length;
  const set = attributes({
    class: 'state-bar',
    viewBox: `0 0 ${Math.max(columns.length * PITCH - (PITCH - WIDTH), WIDTH)} ${HEIGHT}`,
    role: 'img',
    'aria-label': `${plain(hash['label'])}: down in ${troubled('critical')} of ${columns.length}, in warning in ${troubled('warning')}`,
    preserveAspectRatio: 'none',
  });
  return new Html(`<svg${set}>${boxes.join('')}</svg>`);
}

/** What all have in common is in the styles. */
function boxOf(i: number, tone: string, text: string, heading: unknown): string {
  const title = heading === undefined ? text : `${plain(heading)}: ${text}`;
  return `<rect class="tone-${tone}" x="${i * PITCH}"><title>${escape(title)}</title></rect>`;
}

export const uptimeBars: Record<string, Helper> = { 'state-bar': stateBar };
