/** A badge: name and state side by side, as an SVG with nothing in it but shapes and text. Pure. */
import type { MonitorState } from '../../../ports/domain/watchdog.js';

const COLOURS: Readonly<Record<MonitorState, string>> = {
  up: '#2da44e',
  warning: '#bf8700',
  down: '#cf222e',
  unknown: '#6e7781',
  stopped: '#6e7781',
  maintenance: '#0969da',
};
const MAX_NAME = 40;
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escaped = (text: string): string => text.replace(/[&<>"']/g, (c) => ENTITIES[c] as string);
/** Room for a text of 11 px, generously, since the reader's font is not known. */
const widthOf = (text: string): number => Math.round(Array.from(text).length * 6.8) + 14;

/** @param value what stands beside the name, in the colour of the state */
export function badgeSvg(name: string, state: MonitorState, value: string = state): string {
  const letters = Array.from(name);
  const label = letters.length > MAX_NAME ? `${letters.slice(0, MAX_NAME - 1).join('')}…` : name;
  const left = widthOf(label);
  const right = widthOf(value);
  const text = (x: number, words: string): string =>
    `<text x="${x}" y="14" fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${escaped(words)}</text>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${escaped(`${label}: ${value}`)}">` +
    `<title>${escaped(`${label}: ${value}`)}</title>` +
    `<rect width="${left + right}" height="20" rx="3" fill="#444c56"/>` +
    `<path d="M${left} 0h${right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-${right - 3}z" fill="${COLOURS[state]}"/>` +
    `${text(left / 2, label)}${text(left + right / 2, value)}</svg>`
  );
}
