/** docs/errors.md says what kernel/errors.ts says. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { packageRoot } from '../../config/load.js';

describe('the table of error codes', () => {
  it('is current (else: node scripts/errors-doc.mjs)', async () => {
    const script = pathToFileURL(join(packageRoot(), 'scripts', 'errors-doc.mjs')).href;
    const { errorsPage } = (await import(script)) as { errorsPage: () => string };
    expect(await readFile(join(packageRoot(), 'docs', 'errors.md'), 'utf8')).to.equal(errorsPage());
  });
});
