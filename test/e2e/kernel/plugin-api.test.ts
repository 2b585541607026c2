/**
 * The public surface of plugins is reviewed: it changes only together with its reports in docs/.
 */
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PLUGIN_API } from '../../../kernel/contract/index.js';
import { projectRoot } from '../../architecture/tree.js';

describe('plugin API reports', () => {
  const printed = async (page: string): Promise<string> => {
    const dist = join(import.meta.dirname, '..', '..', '..');
    const args = [join(projectRoot(), 'scripts', 'plugin-api.mjs'), '--print', page, '--dist', dist];
    return (await promisify(execFile)(process.execPath, args, { maxBuffer: 10_000_000 })).stdout;
  };
  const committed = (page: string): Promise<string> => readFile(join(projectRoot(), 'docs', `${page}.md`), 'utf8');

  it('match the code: run `node scripts/plugin-api.mjs` after an API change', async () => {
    const text = await printed('plugin-api');
    expect(text).to.equal(await committed('plugin-api'));
    expect(text).to.include(`PLUGIN_API = ${PLUGIN_API};`);
    for (const section of ['kernel/contract/index', 'ports/store/index', 'ports/http/route', 'ports/events'])
      expect(text).to.include(`## ${section}\n`);
  });

  it('list every token, extension point and event of the domain', async () => {
    const text = await printed('plugin-domain');
    expect(text).to.equal(await committed('plugin-domain'));
    for (const name of ['BUGS: ', 'REPORT_FILTERS: ', 'MONITOR_DOWN: ', 'RELEASE_PUBLISHED: ', 'PROJECTS: ', 'AUDIT: '])
      expect(text).to.include(`export declare const ${name}`);
  });
});
