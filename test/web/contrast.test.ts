/**
 * Colours of the theme against WCAG 2: 4.5 for text, 3 for the outlines of controls, in both
 * themes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from './templates.js';

type Pair = readonly [text: string, ground: string, ratio: number];

const GROUNDS = ['tblr-body-bg', 'surface', 'surface-2'];
const TONES = ['tblr-danger', 'tblr-warning', 'tblr-info', 'tblr-success'];
const PAIRS: Pair[] = [
  ...['ink', 'ink-2', 'ink-3', 'accent-ink', 'critical-ink', ...TONES].flatMap((text) =>
    GROUNDS.map((ground): Pair => [text, ground, 4.5]),
  ),
  ...TONES.map((tone): Pair => [tone, `${tone}-lt`, 4.5]),
  ['ink-2', 'tblr-secondary-lt', 4.5],
  ['accent-ink', 'accent-soft', 4.5],
  ['ink', 'accent-soft', 4.5],
  ['ink-3', 'accent-soft', 4.5],
  ['on-accent', 'accent', 4.5],
  ['white', 'critical', 4.5],
  ['line-2', 'surface', 3],
  ['line-2', 'tblr-body-bg', 3],
  ['accent', 'surface', 3],
  ['accent', 'tblr-body-bg', 3],
  // What is drawn: columns, bands' edges, and columns of which nothing is known.
  ...['chart-good', 'chart-fair', 'chart-bad', 'chart-info', 'chart-none'].flatMap((drawn) =>
    ['surface', 'tblr-body-bg'].map((ground): Pair => [drawn, ground, 3]),
  ),
];

function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = parseInt(hex.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].toSorted((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

describe('contrast', () => {
  const css = readFileSync(join(root, 'web/assets/aos.css'), 'utf8');
  const tokens = new Map<string, [light: string, dark: string]>([['white', ['#ffffff', '#ffffff']]]);
  for (const [, name = '', light = '', dark = ''] of css.matchAll(
    /--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g,
  )) {
    tokens.set(name, [light, dark]);
  }

  it('distinguishes black from white', () => expect(contrast('#000000', '#ffffff')).to.be.closeTo(21, 0.01));

  for (const [text, ground, ratio] of PAIRS) {
    for (const [theme, index] of [
      ['light', 0],
      ['dark', 1],
    ] as const) {
      it(`has a contrast of at least ${ratio} for ${text} on ${ground}, ${theme}`, () => {
        const [a, b] = [tokens.get(text), tokens.get(ground)];
        if (!a || !b) throw new Error(`no colour ${a ? ground : text}`);
        expect(contrast(a[index], b[index])).to.be.at.least(ratio);
      });
    }
  }
});
