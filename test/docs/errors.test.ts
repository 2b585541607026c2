/** docs/errors.md says what kernel/errors.ts says. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { CODES } from '../../kernel/errors.js';
import type { ErrorCodes } from '../../ports/http/index.js';
import { BUILTIN } from '../../config/compose/compose.js';
import { findPackageRoot } from '../../config/load.js';

describe('table of error codes', () => {
  it('describes each code in plain words, without identifiers', () => {
    const all: ErrorCodes = Object.assign({}, CODES, ...BUILTIN.map(({ errors }) => errors ?? {}));
    expect(Object.keys(all)).to.include.members(['conflict', 'final_state', 'on_hold']);
    const wrong = Object.entries(all).filter(
      ([, [, , words = '']]) => !/^[A-Z][^_`{}]{4,50}$/.test(words) || /[.!]$/.test(words),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('is up to date (else: node scripts/errors-doc.mjs)', async () => {
    const script = pathToFileURL(join(findPackageRoot(), 'scripts', 'errors-doc.mjs')).href;
    const { renderErrorsPage } = (await import(script)) as { renderErrorsPage: () => string };
    expect(await readFile(join(findPackageRoot(), 'docs', 'errors.md'), 'utf8')).to.equal(renderErrorsPage());
  });
});
