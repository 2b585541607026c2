/**
 * docs/images: each picture of a screen is there in light and in dark (`npm run pictures`), and
 * some guide shows it.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { findPackageRoot } from '../../config/load.js';

describe('images of the guides', () => {
  it('exist in light and dark, and are shown', async () => {
    const docs = join(findPackageRoot(), 'docs');
    const all = (await readdir(join(docs, 'images'))).filter((name) => name.endsWith('.png'));
    const light = all.filter((name) => !name.endsWith('-dark.png'));
    expect(light).to.include('dashboard.png');
    const missing = light.filter((name) => !all.includes(name.replace('.png', '-dark.png')));
    expect(missing, 'without a dark one').to.deep.equal([]);
    expect(all).to.have.length(2 * light.length);
    const guides = (await readdir(docs)).filter((name) => name.endsWith('.md')).map((name) => join(docs, name));
    const texts = await Promise.all(
      [join(findPackageRoot(), 'README.md'), ...guides].map((one) => readFile(one, 'utf8')),
    );
    const shown = texts.join('\n');
    expect(
      light.filter((name) => !shown.includes(`images/${name}`)),
      'shown nowhere',
    ).to.deep.equal([]);
  });
});
