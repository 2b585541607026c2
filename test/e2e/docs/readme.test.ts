/**
 * The tour of the README, pasted into one shell as it stands there, in a folder with nothing but
 * the built program.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { projectRoot } from '../../architecture/tree.js';
import { TestService } from '../../support/service.js';

const run = promisify(execFile);
const readme = await readFile(join(projectRoot(), 'README.md'), 'utf8');
const [, tour = ''] = /^## A tour of five minutes\n([\s\S]*?)^## /m.exec(readme) ?? [];
const blocks = [...tour.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, code = '']) => code);
const ADDRESS = 'SVC_URL=http://127.0.0.1:8080';
const END_OF_BLOCK = '=== end of block ===';

describe('docs: README tour', () => {
  let service: TestService;
  let dir: string;
  let printed: string[];

  before(async () => {
    expect(blocks.length).to.be.at.least(7);
    expect(tour).to.include(ADDRESS);
    service = await TestService.createInProcess();
    dir = await mkdtemp(join(tmpdir(), 'aos-readme-'));
    await symlink(join(projectRoot(), 'dist'), join(dir, 'dist'));
    // Only an interactive shell expands aliases by itself.
    const script = ['shopt -s expand_aliases', 'set -e -o pipefail']
      .concat(blocks.map((code) => `${code.replace(ADDRESS, `SVC_URL=${service.url}`)}echo; echo '${END_OF_BLOCK}'`))
      .join('\n');
    const { stdout } = await run('bash', ['-c', script], { cwd: dir, env: service.env });
    printed = stdout.split(END_OF_BLOCK);
  });
  after(async () => {
    await service?.dispose();
    await rm(dir, { recursive: true, force: true });
  });

  const printedBy = (words: string): string => printed[blocks.findIndex((code) => code.includes(words))] ?? '';

  it('runs to the end without a rejected call', () => {
    expect(printed).to.have.length(blocks.length + 1);
    expect(printed.join('')).not.to.include('"status":"error"');
  });

  for (const [block, words] of [
    ['A-4711', '"ref":"shop-1","created":true'],
    ['A-4712', '"ref":"shop-1","created":false'],
    ['A-4712', '"hit_count":2'],
    ['resolved_in_build', '"status":"resolved"'],
    ['/publish?', '"signed":true'],
    ['/ping/', 'OK'],
  ] as const)
    it(`prints ${words} as in ${block}`, () => {
      expect(printedBy(block)).to.include(words);
    });

  it('closes the item that it reported', async () => {
    expect(printedBy('/publish?')).to.match(/"closed_items":\["[^"]+"\]/);
    const token = await service.createToken('bugtracker:read', 'shop');
    const { body } = await service.request('GET', '/api/bugtracker/v1/bugs/shop-1', token);
    expect(body['item']).to.include({ status: 'closed', resolved_in_build: '1.4.1' });
  });
});
