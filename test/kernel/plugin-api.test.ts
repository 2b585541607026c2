/** The public surface of plugins is reviewed: it changes only together with its report, docs/plugin-api.md. */
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PLUGIN_API } from '../../kernel/contract.js';
import { projectRoot } from '../architecture/tree.js';

describe('the plugin API report', () => {
  it('says what the code says: run `node scripts/plugin-api.mjs` after a change of the surface', async () => {
    const dist = join(import.meta.dirname, '..', '..');
    const args = [join(projectRoot(), 'scripts', 'plugin-api.mjs'), '--print', '--dist', dist];
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 10_000_000 });
    expect(stdout).to.equal(await readFile(join(projectRoot(), 'docs', 'plugin-api.md'), 'utf8'));
    expect(stdout).to.include(`PLUGIN_API = ${PLUGIN_API};`);
    for (const section of ['kernel/contract', 'ports/store', 'ports/http', 'ports/events'])
      expect(stdout).to.include(`## ${section}\n`);
  });
});
