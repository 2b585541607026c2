/** SVG badges with a name and a value, from shapes and text only. */

import { toXmlText } from './xml.js';

/** Colors with readable white text. */
export const BADGE_COLOURS = {
  green: '#1a7f37',
  yellow: '#8a6100',
  red: '#cf222e',
  blue: '#0969da',
  grey: '#656d76',
} as const;

/** Formats a badge for shields.io (https://shields.io/badges/endpoint-badge). */
export function formatBadgeJson(name: string, value: string, colour: keyof typeof BADGE_COLOURS): string {
  return JSON.stringify({ schemaVersion: 1, label: name, message: value, color: BADGE_COLOURS[colour].slice(1) });
}

const MAX_NAME_LENGTH = 40;
/** Generous, since the font is unknown. */
const measureText = (text: string): number => Math.round(Array.from(text).length * 6.8) + 14;

/** @param value text on the colored part */
export function renderBadge(name: string, value: string, colour: keyof typeof BADGE_COLOURS): string {
  const letters = Array.from(name);
  const label = letters.length > MAX_NAME_LENGTH ? `${letters.slice(0, MAX_NAME_LENGTH - 1).join('')}…` : name;
  const left = measureText(label);
  const right = measureText(value);
  const text = (x: number, words: string): string =>
    `<text x="${x}" y="14" fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${toXmlText(words)}</text>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${toXmlText(`${label}: ${value}`)}">` +
    `<title>${toXmlText(`${label}: ${value}`)}</title>` +
    `<rect width="${left + right}" height="20" rx="3" fill="#444c56"/>` +
    `<path d="M${left} 0h${right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-${right - 3}z" fill="${BADGE_COLOURS[colour]}"/>` +
    `${text(left / 2, label)}${text(left + right / 2, value)}</svg>`
  );
}
