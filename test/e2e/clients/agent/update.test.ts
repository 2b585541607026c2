/**
 * The update itself, by the real program against a server with a real key (contract 90, update).
 */
import { expect } from 'chai';
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createKeys, ReleaseServer, type TestRelease, type SourceFile } from '../../../support/release-server.js';
import { install, remove, runAgent, runAlike, scratch, treeOf, type Ran } from './agent.js';

const keys = createKeys();
const OLD: SourceFile[] = [
  { path: 'app.sh', content: '#!/bin/sh\necho 1\n', mode: '0755' },
  { path: 'lib/core.txt', content: 'core 1' },
  { path: 'lib/gone.txt', content: 'gone' },
  { path: 'old/deep/gone.txt', content: 'gone' },
  { path: 'same.txt', content: 'same' },
  { path: 'settings.json', content: '{"a":1}' },
];
const NEW: SourceFile[] = [
  { path: 'app.sh', content: '#!/bin/sh\necho 2\n', mode: '0755' },
  { path: 'lib/core.txt', content: 'core 2' },
  { path: 'new/deep/file.txt', content: 'new' },
  { path: 'same.txt', content: 'same' },
  { path: 'settings.json', content: '{"a":2}' },
  { path: 'settings.default.json', content: '{}' },
];

describe('update-agent: update', function () {
  let server: ReleaseServer;
  let dir: string;
  let old: TestRelease;
  const go = (...args: string[]): Promise<Ran> =>
    runAlike(['--server', server.url, '--dir', dir, '--channel', 'stable', ...args]);

  beforeEach(async () => {
    server = new ReleaseServer(keys);
    await server.start();
    old = server.publish({ version: '1.0.0', files: OLD, preserve: ['settings*.json'] });
    server.releases.length = 0;
    dir = await scratch();
    await install(dir, old);
  });
  afterEach(async () => {
    await server.stop();
    await remove(dir);
  });

  it('downloads a manifest that is too long for the response with the credentials of the package', async () => {
    const release = server.publish({ version: '1.1.0', files: NEW, preserve: ['settings*.json'] });
    server.manifestsApart = true;
    server.allowed = [`Basic ${Buffer.from('jo:secret').toString('base64')}`];
    const options = ['--username', 'jo'];
    const rejected = await runAgent(['--server', server.url, '--dir', dir, '--channel', 'stable', ...options], {
      env: { SVC_PASSWORD: 'wrong' },
    });
    expect(rejected.code).to.equal(2);
    const ran = await runAgent(['--server', server.url, '--dir', dir, '--channel', 'stable', ...options], {
      env: { SVC_PASSWORD: 'secret' },
    });
    expect(ran).to.include({ code: 0, stdout: 'UPDATED: 1.0.0 -> 1.1.0\n' });
    expect(await readFile(join(dir, 'manifest.json'), 'utf8')).to.equal(release.manifest);
  });

  it('accepts only the manifest named in the response', async () => {
    server.publish({ version: '1.1.0', files: NEW, preserve: ['settings*.json'] });
    server.manifestsApart = true;
    const before = await treeOf(dir);
    const lies = [
      { manifest_sha256: '0'.repeat(64) },
      { manifest_sha256: 'x' },
      { manifest_url: 'http://127.0.0.1:1/releases/manifest.json' },
      { manifest_url: '/releases/../secret' },
      { manifest_signature: server.publish({ version: '0.9.0', files: OLD }).signature },
    ];
    for (const lie of lies) {
      server.lies.check = (body) => ({ ...body, release: { ...body.release, ...lie } });
      expect((await go()).code, JSON.stringify(lie)).to.equal(3);
    }
    expect(await treeOf(dir)).to.deep.equal(before);
  });

  it('replaces, creates and preserves files, and removes those listed only in the previous manifest', async () => {
    const release = server.publish({ version: '1.1.0', files: NEW, preserve: ['settings*.json'] });
    await writeFile(join(dir, 'settings.json'), '{"a":"mine"}');
    await mkdir(join(dir, 'data'));
    await writeFile(join(dir, 'data', 'mine.txt'), 'mine');
    // As users start it; the other updates here are runs in this process.
    const ran = await runAgent(['--server', server.url, '--dir', dir, '--channel', 'stable']);
    expect(ran.stdout).to.equal('UPDATED: 1.0.0 -> 1.1.0\n');
    expect(ran).to.include({ code: 0, stderr: '' });
    const text = (path: string): Promise<string> => readFile(join(dir, path), 'utf8');
    expect(await text('manifest.json')).to.equal(release.manifest);
    expect(await text('lib/core.txt')).to.equal('core 2');
    expect(await text('new/deep/file.txt')).to.equal('new');
    expect(await text('settings.json')).to.equal('{"a":"mine"}');
    expect(await text('settings.default.json')).to.equal('{}');
    expect(await text('data/mine.txt')).to.equal('mine');
    expect(Object.keys(await treeOf(dir))).to.not.include.members(['lib/gone.txt', 'old/', 'old/deep/']);
    expect((await stat(join(dir, 'app.sh'))).mode & 0o777).to.equal(0o755);
  });

  it('leaves no open transaction, and a private folder for itself', async () => {
    server.publish({ version: '1.1.0', files: NEW });
    await go();
    const own = join(dir, '.update-agent');
    expect((await stat(own)).mode & 0o777).to.equal(0o700);
    const names = await readdir(own);
    expect(names).to.not.include('journal.jsonl').and.not.include('reserve');
    expect(names).to.include.members(['lock', 'state.json', 'download', 'backup', 'log', 'agent']);
    expect(await readdir(join(own, 'backup'))).to.deep.equal([]);
    expect(await readdir(join(own, 'download'))).to.deep.equal([]);
    const state = JSON.parse(await readFile(join(own, 'state.json'), 'utf8')) as Record<string, unknown>;
    expect(state).to.include({ highest_version: '1.1.0', require_signed: false });
    expect(((await stat(join(own, 'state.json'))).mode & 0o777).toString(8)).to.equal('600');
  });

  it('reports that it is up to date', async () => {
    server.releases.push(old);
    expect(await go()).to.deep.equal({ code: 0, signal: null, stdout: 'UP_TO_DATE: 1.0.0\n', stderr: '' });
  });

  it('prints JSON lines with --json', async () => {
    server.publish({ version: '1.1.0', files: NEW });
    const { stdout } = await go('--json');
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.at(-1)).to.deep.equal({ event: 'updated', from: '1.0.0', to: '1.1.0' });
    expect(lines.map(({ event }) => event)).to.include.members(['downloading', 'unpacking', 'applying']);
  });

  it('prints the result last with --json, after all other lines', async () => {
    const entry = { event: 'done', outcome: 'done', exit_code: 0 };
    const last = ({ stdout }: Ran): unknown => JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    server.releases.push(old);
    expect(last(await go('--json'))).to.deep.equal({ event: 'up_to_date', version: '1.0.0' });
    expect(last(await go('--json', '--action', 'recover'))).to.deep.equal(entry);
    expect(last(await go('--json', '--channel', 'NO'))).to.include({ event: 'failed', exit_code: 64 });
    server.publish({ version: '1.1.0', files: NEW });
    server.allowed = [];
    const rejected = await go('--json');
    expect(last(rejected)).to.include({ event: 'failed', outcome: 'unauthorized', exit_code: 2 });
    expect(JSON.parse(rejected.stdout.split('\n').find((line) => line.includes('"unauthorized"')) ?? '')).to.include({
      event: 'unauthorized',
    });
  });

  it('prefers manifest.json over --current-version, with a warning', async () => {
    server.publish({ version: '1.1.0', files: NEW });
    const { stdout, code } = await go('--current-version', '0.5.0');
    expect(code).to.equal(0);
    expect(stdout).to.equal(
      'WARNING: 1.0.0 is installed according to manifest.json, not 0.5.0\nUPDATED: 1.0.0 -> 1.1.0\n',
    );
    expect((await go('--current-version', '1.1.0')).stdout).to.equal('UP_TO_DATE: 1.1.0\n');
  });

  it('warns only once that a server is unsigned when nothing was installed', async () => {
    server.keys = null;
    server.releases.push(old);
    const first = await go();
    expect(first.stdout).to.match(/^WARNING: .*\nUP_TO_DATE: 1\.0\.0\n$/);
    expect((await go()).stdout).to.equal('UP_TO_DATE: 1.0.0\n');
    server.publish({ version: '1.1.0', files: NEW });
    expect((await go()).stdout).to.match(/^WARNING: .*\n(WARNING: .*\n)*UPDATED: 1\.0\.0 -> 1\.1\.0\n$/);
  });

  it('updates in steps when min_version requires intermediate versions', async () => {
    server.publish({ version: '1.5.0', files: NEW });
    server.publish({ version: '2.0.0', files: NEW, minVersion: '1.5.0' });
    const { stdout, code } = await go('--require-signed');
    expect(stdout).to.equal('UPDATED: 1.0.0 -> 1.5.0\nUPDATED: 1.5.0 -> 2.0.0\n');
    expect(code).to.equal(0);
  });

  it('updates in at most 8 steps', async () => {
    for (let n = 1; n <= 10; n++)
      server.publish({ version: `1.${n}.0`, files: NEW, minVersion: n === 1 ? undefined : `1.${n - 1}.0` });
    const { stdout } = await go();
    expect(stdout.match(/^UPDATED/gm)).to.have.length(8);
    expect(stdout).to.match(/^WARNING: .* is not at the newest version after 8 steps/m);
  });

  it('sends product, version, channel, platform and an instance id', async () => {
    server.publish({ version: '1.1.0', files: NEW });
    await go('--platform', 'linux-x64');
    const requested = server.asked.map(({ line }) => line).find((line) => line.includes('/check'));
    expect(requested).to.match(
      /^GET \/api\/updateservice\/v1\/check\?product=shop&version=1\.0\.0&channel=stable&platform=linux-x64&instance_id=[0-9a-f]{64}$/,
    );
  });

  it('uses --current-version without a manifest', async () => {
    server.publish({ version: '1.1.0', files: NEW });
    await remove(join(dir, 'manifest.json'));
    expect((await go('--project', 'shop')).code).to.equal(64);
    expect((await go('--project', 'shop', '--current-version', '1.0')).stdout).to.equal('UPDATED: 1.0 -> 1.1.0\n');
    // Without the previous manifest nothing is an orphan.
    expect(await readFile(join(dir, 'lib/gone.txt'), 'utf8')).to.equal('gone');
  });

  it('replaces a file with a directory and a directory with a file', async () => {
    server.publish({
      version: '1.1.0',
      files: [
        { path: 'same.txt/inside', content: 'x' },
        { path: 'lib', content: 'y' },
      ],
    });
    expect((await go()).code).to.equal(0);
    expect(await readFile(join(dir, 'same.txt/inside'), 'utf8')).to.equal('x');
    expect(await readFile(join(dir, 'lib'), 'utf8')).to.equal('y');
  });

  it('exits 4 before the first rename when a directory with unlisted content replaces a file', async () => {
    server.publish({
      version: '1.1.0',
      files: [
        { path: 'lib', content: 'y' },
        { path: 'app.sh', content: 'z' },
      ],
    });
    await writeFile(join(dir, 'lib', 'mine.txt'), 'mine');
    const before = await treeOf(dir);
    const ran = await go();
    expect(ran.code).to.equal(4);
    expect(ran.stderr).to.include('lib/mine.txt');
    expect(await treeOf(dir)).to.deep.equal(before);
  });

  it('moves aside a symlink in place of a file without following it', async () => {
    const outside = await scratch();
    await writeFile(join(outside, 'victim'), 'untouched');
    await remove(join(dir, 'lib/core.txt'));
    await symlink(join(outside, 'victim'), join(dir, 'lib/core.txt'));
    server.publish({ version: '1.1.0', files: NEW });
    expect((await go()).code).to.equal(0);
    expect(await readFile(join(outside, 'victim'), 'utf8')).to.equal('untouched');
    expect((await stat(join(dir, 'lib/core.txt'))).isFile()).to.equal(true);
    expect(await readFile(join(dir, 'lib/core.txt'), 'utf8')).to.equal('core 2');
    await remove(outside);
  });

  it('updates files whose mode alone differs', async () => {
    server.publish({ version: '1.1.0', files: [{ path: 'same.txt', content: 'same', mode: '0755' }] });
    await chmod(join(dir, 'same.txt'), 0o600);
    await go();
    expect((await stat(join(dir, 'same.txt'))).mode & 0o777).to.equal(0o755);
  });

  it('preserves files that either manifest marks as preserved', async () => {
    server.publish({ version: '1.1.0', files: [{ path: 'app.sh', content: '2' }], preserve: ['old/**'] });
    await go();
    expect(Object.keys(await treeOf(dir)))
      .to.include.members(['settings.json', 'old/deep/gone.txt'])
      .and.not.include('lib/gone.txt');
  });
});
