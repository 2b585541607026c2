/** default.json and docs/configuration.md say what the schemas say. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { buildDefaults, renderDocs, listConfigSections } from '../../config/docs.js';
import { findPackageRoot } from '../../config/load.js';
import { BUILTIN } from '../../config/compose/compose.js';

describe('files generated from the configuration schemas', () => {
  const root = findPackageRoot();
  const sections = listConfigSections(BUILTIN);

  it('config/default.json contains every key with its default (else: node scripts/configuration.mjs)', async () => {
    const file: unknown = JSON.parse(await readFile(join(root, 'config/default.json'), 'utf8'));
    expect(file).to.deep.equal(buildDefaults(sections));
  });

  it('docs/configuration.md is up to date (else: node scripts/configuration.mjs)', async () => {
    const page = await readFile(join(root, 'docs/configuration.md'), 'utf8');
    expect(page).to.equal(renderDocs(sections));
  });

  it('every key has a description', () => {
    const page = renderDocs(sections);
    const bare = page.split('\n').filter((line) => /^\| `.*\|\s+\|$/.test(line));
    expect(bare).to.deep.equal([]);
  });
});
