import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { findPackageRoot } from '../../config/load.js';
import { filesBelow } from './templates.js';

const SIZES = new Set(['0.75rem', '0.8125rem', '0.875rem', '1rem', '1.25rem', '1.5rem']);
/** None, and relative to the text around. */
const OTHER_SIZES = new Set(['0', 'inherit', '1em']);
const WEIGHTS = new Set(['400', '500', '600', '700', 'inherit']);

describe('style sheets', () => {
  const root = findPackageRoot();
  const sheets = ['web', 'plugins'].flatMap((folder) => filesBelow(join(root, folder), '.css'));
  const list = (property: string): string[] =>
    sheets.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(new RegExp(`[\\s;{]${property}: ([^;}]+)`, 'g'))].map(
        ([, value = '']) => value,
      ),
    );

  it('use one type scale of six sizes', () => {
    const sizes = list('font-size');
    expect(sizes.length).to.be.greaterThan(30);
    expect(sizes.filter((size) => !SIZES.has(size) && !OTHER_SIZES.has(size))).to.deep.equal([]);
  });

  it('use four weights', () => {
    expect(list('font-weight').filter((weight) => !WEIGHTS.has(weight))).to.deep.equal([]);
  });
});
