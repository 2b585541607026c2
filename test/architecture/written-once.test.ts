/** What is written once: a form that many places look for has one home. */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot, sources } from './tree.js';

const ROOT = projectRoot();

/** The home of each form, and what a second home would hold. */
const HOMES: Readonly<Record<string, RegExp>> = {
  'lib/text/guid.ts': /\[(?:0-9a-f|a-f0-9|0-9a-fA-F)\]\{8\}\)?-/,
  'lib/text/clean-text.ts': /toWellFormed\(\)\.replaceAll\('\\0'/,
  'lib/folders.ts': /export (?:async )?function syncFolder|const syncFolder/,
};

describe('architecture: code without duplicates', function () {
  const texts = new Map<string, string>();

  before(async () => {
    for (const file of await sources(ROOT))
      if (!/^(test|testing|scripts)\//.test(file)) texts.set(file, await readFile(join(ROOT, file), 'utf8'));
    expect(texts.size).to.be.greaterThan(500);
  });

  for (const [home, form] of Object.entries(HOMES))
    it(`finds the code only in ${home}`, () => {
      const found = [...texts].filter(([, text]) => form.test(text)).map(([file]) => file);
      expect(found).to.deep.equal([home]);
    });
});
