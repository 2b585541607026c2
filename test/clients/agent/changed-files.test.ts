/** Updates by changed files (contract 97, files of a release). */
import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createKeys, ReleaseServer, sha256, type SourceFile } from '../../support/release-server.js';
import { install, remove, runHere, scratch, treeOf, type Ran } from './agent.js';

const keys = createKeys();
const bulk = randomBytes(200_000);
const OLD: SourceFile[] = [
  { path: 'app.sh', content: '#!/bin/sh\necho 1\n', mode: '0755' },
  { path: 'bulk.bin', content: bulk },
  { path: 'gone.txt', content: 'gone' },
  { path: 'lib/moved.txt', content: 'moves to another folder' },
  { path: 'settings.json', content: '{"a":1}' },
];
const NEW: SourceFile[] = [
  { path: 'app.sh', content: '#!/bin/sh\necho 2\n', mode: '0755' },
  { path: 'bulk.bin', content: bulk },
  { path: 'empty.txt', content: '' },
  { path: 'new/moved.txt', content: 'moves to another folder' },
  { path: 'settings.json', content: '{"a":2}' },
];

describe('update-agent: changed files', function () {
  let server: ReleaseServer;
  let dir: string;
  const go = (...args: string[]): Promise<Ran> => runHere(['--server', server.url, '--dir', dir, ...args]);
  const listDownloads = (): string[] =>
    server.asked.map(({ line }) => line).filter((line) => line.startsWith('GET /releases/'));
  const isWhole = (): boolean => listDownloads().some((line) => line.endsWith('/package.tar.gz'));

  beforeEach(async () => {
    server = new ReleaseServer(keys);
    server.servesFiles = true;
    await server.start();
    dir = await scratch();
    await install(dir, server.publish({ version: '1.0.0', files: OLD, preserve: ['settings.json'] }));
    server.publish({ version: '1.1.0', files: NEW, preserve: ['settings.json'] });
  });
  afterEach(async () => {
    await server.stop();
    await remove(dir);
  });

  /** The installation as the whole package leaves it. */
  async function updateByPackage(): Promise<Record<string, string>> {
    const other = await scratch();
    try {
      const before = server.releases.find(({ version }) => version === '1.0.0');
      if (before === undefined) throw new Error('1.0.0 is missing');
      await install(other, before);
      const ran = await runHere(['--server', server.url, '--dir', other, '--max-delta-percent', '0']);
      expect(ran.code, ran.stderr).to.equal(0);
      return await treeOf(other);
    } finally {
      await remove(other);
    }
  }

  it('downloads only files with other bytes, and ends like an update by the package', async () => {
    const wanted = await updateByPackage();
    server.asked.length = 0;
    expect(await go()).to.include({ code: 0, stdout: 'UPDATED: 1.0.0 -> 1.1.0\n' });
    expect(await treeOf(dir)).to.deep.equal(wanted);
    const changed = ['#!/bin/sh\necho 2\n', '{"a":2}'].map((content) => sha256(content));
    expect(listDownloads().map((line) => line.split('/').at(-1))).to.have.members(changed);
    expect(await readdir(join(dir, '.update-agent/download'))).to.deep.equal([]);
    expect((await go('--action', 'rollback')).code).to.equal(0);
  });

  it('downloads a file again that was changed on this machine', async () => {
    await writeFile(join(dir, 'lib/moved.txt'), 'changed');
    expect((await go()).code).to.equal(0);
    expect(listDownloads().some((line) => line.endsWith(sha256('moves to another folder')))).to.equal(true);
    expect(await readFile(join(dir, 'new/moved.txt'), 'utf8')).to.equal('moves to another folder');
  });

  it('resumes a file', async () => {
    const folder = join(dir, '.update-agent/download/files');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(join(folder, sha256('#!/bin/sh\necho 2\n')), '#!/bin/sh');
    await writeFile(join(folder, '0'.repeat(64)), 'of another release');
    expect((await go()).code).to.equal(0);
    const resumed = server.asked.find(({ line }) => line.endsWith(sha256('#!/bin/sh\necho 2\n')));
    expect(resumed?.headers.range).to.equal('bytes=9-');
    expect(await readFile(join(dir, 'app.sh'), 'utf8')).to.equal('#!/bin/sh\necho 2\n');
  });

  const whole: [what: string, prepare: () => unknown, args?: string[]][] = [
    ['the server names no files', () => (server.servesFiles = false)],
    ['more than --max-delta-percent changed', () => undefined, ['--max-delta-percent', '0']],
    [
      'the server lacks a file',
      () =>
        (server.lies.request = (request, response) => {
          if (request.url?.includes('/files/') !== true) return false;
          response.writeHead(404).end();
          return true;
        }),
    ],
    [
      'a file has other bytes than the manifest lists',
      () =>
        (server.lies.request = (request, response) => {
          if (request.url?.endsWith(sha256('{"a":2}')) !== true) return false;
          response.writeHead(200).end('{"a":3}');
          return true;
        }),
    ],
  ];
  for (const [what, prepare, args = []] of whole)
    it(`downloads the package when ${what}`, async () => {
      prepare();
      const ran = await go(...args);
      expect(ran, ran.stderr).to.include({ code: 0, stdout: 'UPDATED: 1.0.0 -> 1.1.0\n' });
      expect(isWhole()).to.equal(true);
    });

  it('downloads the package when most bytes changed', async () => {
    server.publish({ version: '1.2.0', files: [{ path: 'bulk.bin', content: randomBytes(200_000) }] });
    expect((await go()).code).to.equal(0);
    expect(listDownloads().filter((line) => line.includes('/files/'))).to.deep.equal([]);
    expect(isWhole()).to.equal(true);
  });

  it('exits with 2 when the server rejects the credentials, and 64 for an invalid share', async () => {
    server.allowed = [];
    expect((await go()).code).to.equal(2);
    expect(isWhole()).to.equal(false);
    for (const share of ['101', '-1', 'all']) expect((await go(`--max-delta-percent=${share}`)).code).to.equal(64);
  });
});
