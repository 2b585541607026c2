/** `--commits`: git's history of a release on its way to an item (contract 90, packager). */
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TestService } from '../../../support/service.js';
import { startPackager, writeTree, type Finished } from './harness.js';

const run = promisify(execFile);
type Loose = Record<string, unknown>;

describe('packager: commits of a release', function () {
  let service: TestService;
  let root: string;
  let token: string;
  let reader: string;

  const git = (...args: string[]): Promise<unknown> =>
    run('git', ['-c', 'user.name=Ada & Bo\u202e', '-c', 'user.email=ada@example.org', ...args], { cwd: root });
  async function committed(message: string, files: Record<string, string>): Promise<void> {
    await writeTree(root, files);
    await git('add', '.');
    await git('commit', '-qm', message);
  }

  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'aos-commits-'));
    service = await TestService.createInProcess();
    await service.createProject('shop');
    token = await service.createToken('updateservice:publish');
    reader = await service.createToken('bugtracker:report,bugtracker:read');
    await git('init', '-q');
    await committed('The beginning', { 'src/cart.js': '1', 'out/app.js': '1', 'out/package.json': '{}' });
    await git('tag', '1.3.0');
    await committed('Prices: "round" <i>them</i>\n\nA second paragraph', { 'src/cart.js': '2', 'src/a ü.js': '1' });
    await committed('Words in the guide', { 'README.md': '1' });
  });
  after(async () => {
    await service.dispose();
    await rm(root, { recursive: true, force: true });
  });

  const publish = (version: string, ...args: string[]): Promise<Finished> =>
    startPackager(
      ['--project', 'shop', '--version', version, '--publish-dir', join(root, 'out'), '--platform', 'any', ...args],
      { SVC_TOKEN: token, SVC_URL: service.url },
      { cwd: root },
    );
  const ask = async (method: string, path: string, bearer: string, body?: object): Promise<Loose> => {
    const answer = await service.request(method, path, bearer, body);
    return { ...answer.body, code: answer.status };
  };

  it('lists possible authors on an item, starting with the author of the failing file', async () => {
    const { code, stdout } = await publish('1.4.0', '--commits', '1.3.0..HEAD', '--json');
    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.include({ commits: 2 });
    const report = { project: 'shop', error_level: 'error', error_message: 'NaN', exception_class: 'RangeError' };
    const reported = await ask('POST', '/api/errors/v1/report', reader, {
      ...report,
      file: '/app/src/cart.js',
      app_version: '1.4.0',
    });
    const item = await ask('GET', `/api/bugtracker/v1/bugs/${String(reported['id'])}`, reader);
    expect(item['first_release']).to.deep.include({ version: '1.4.0' });
    const suspects = item['suspect_commits'] as Loose[];
    expect(suspects.map(({ message, touched }) => [message, touched])).to.deep.equal([
      ['Prices: "round" <i>them</i>', 'src/cart.js'],
      ['Words in the guide', null],
    ]);
    expect(suspects[0]?.['author_name']).to.equal('Ada & Bo\u202e');
    expect(suspects[0]?.['files']).to.deep.equal(['src/a ü.js', 'src/cart.js']);
  });

  for (const [range, exit] of [
    ['1.2.9..HEAD', 1],
    ['HEAD;touch x', 1],
    ['--output=x', 64],
    ['-p', 64],
    [' ', 64],
  ] as const)
    it(`rejects ${JSON.stringify(range)} before publishing anything`, async () => {
      const { code, stderr } = await publish('1.5.0', `--commits=${range}`);
      expect(code).to.equal(exit);
      expect(stderr).to.match(/^--commits /m);
      const { body } = await service.request('GET', '/api/updateservice/v1/releases?product=shop', token);
      expect((body['items'] as Loose[]).map(({ version }) => version)).to.not.include('1.5.0');
    });

  it('reports a missing repository', async () => {
    const bare = await mkdtemp(join(tmpdir(), 'aos-bare-'));
    await writeFile(join(bare, 'app.js'), '1');
    const args = ['--project', 'shop', '--version', '1.6.0', '--publish-dir', bare, '--dry-run', '--commits', 'a..b'];
    const { code, stderr } = await startPackager(args, { GIT_CEILING_DIRECTORIES: tmpdir() }, { cwd: bare });
    expect({ code }).to.deep.equal({ code: 1 });
    expect(stderr).to.match(/--commits a\.\.b cannot be read: .*not a git repository/);
    await rm(bare, { recursive: true });
  });

  it('limits a long history to the newest commits', async () => {
    const lines = Array.from(
      { length: 510 },
      (_, i) =>
        `commit refs/heads/many\ncommitter Bo <b@x> ${1_700_000_000 + i} +0000\ndata <<E\nchange ${i}\nE\nM 100644 inline f/${i}.txt\ndata <<E\n${i}\nE\n`,
    );
    const importing = run('git', ['fast-import', '--quiet'], { cwd: root });
    importing.child.stdin?.end(lines.join('\n'));
    await importing;
    const { stdout } = await publish('1.7.0', '--commits', 'many', '--json');
    expect(JSON.parse(stdout)).to.deep.include({ commits: 500 });
  });

  describe('the commits endpoint', () => {
    const path = '/api/updateservice/v1/commits';
    const commit = { id: 'a'.repeat(40), message: 'x' };
    const reported = { product: 'shop', version: '1.4', commits: [commit] };
    for (const [what, body, status, field] of [
      ['takes a version in any spelling', reported, 200, undefined],
      ['returns 404 for an unpublished version', { ...reported, version: '7.7.7' }, 404, undefined],
      ['returns 404 for another channel', { ...reported, channel: 'beta' }, 404, undefined],
      ['rejects an invalid version', { ...reported, version: 'x' }, 422, 'version'],
      ['rejects an invalid hash', { ...reported, commits: [{ ...commit, id: '-p' }] }, 422, 'commits.0.id'],
      [
        'rejects too many commits',
        { ...reported, commits: Array.from({ length: 1_001 }, () => commit) },
        422,
        'commits',
      ],
    ] as const)
      it(what, async () => {
        const answer = await ask('POST', path, token, body);
        expect(answer['code']).to.equal(status);
        if (field !== undefined) expect(Object.keys((answer['error'] as Loose)['fields'] ?? {})).to.deep.equal([field]);
      });

    it('requires the right to publish the product', async () => {
      expect((await ask('POST', path, reader, reported))['code']).to.equal(403);
      await service.createProject('other');
      const foreign = await service.createToken('updateservice:publish', 'other');
      expect((await ask('POST', path, foreign, reported))['code']).to.equal(403);
    });
  });
});
