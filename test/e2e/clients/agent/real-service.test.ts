/**
 * The agent before the real service: its key, its check, its statement of freshness, its protected
 * store.
 */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { buildArchive, type SourceFile } from '../../../support/release-server.js';
import { Browser } from '../../../conformance/wire.js';
import { ADMIN_ACCOUNT, TestService } from '../../../support/service.js';
import { install, remove, runAgent, scratch, type Ran } from './agent.js';

const files = (version: string): SourceFile[] => [
  { path: 'bin/start.sh', content: `#!/bin/sh\necho ${version}\n`, mode: '0755' },
  { path: 'config/app.json', content: '{}' },
];

describe('update-agent with a real service', () => {
  let service: TestService;
  let dir: string;
  let token: string;

  before(async () => {
    dir = await scratch();
    service = await TestService.createInProcess();
    for (const product of ['shop', 'steep']) await service.createProject(product);
    token = await service.createToken('updateservice:publish');
  });
  after(async () => {
    await service.dispose();
    await remove(dir);
  });

  async function publish(
    version: string,
    more = '',
    product = 'shop',
    packed: readonly SourceFile[] = files(version),
  ): Promise<void> {
    const url = `${service.url}/api/updateservice/v1/publish?product=${product}&version=${version}&channel=stable${more}`;
    const meta = Buffer.from(JSON.stringify({ preserve_patterns: ['config/*'], entry: 'bin/start.sh' })).toString(
      'base64',
    );
    const answer = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip', 'x-package-meta': meta },
      body: new Uint8Array(buildArchive(packed)),
    });
    expect(answer.status, await answer.text()).to.equal(201);
  }
  const go = (...args: string[]): Promise<Ran> =>
    runAgent(
      ['--server', service.url, '--dir', dir, '--username', ADMIN_ACCOUNT.username, '--require-signed', ...args],
      {
        env: { SVC_PASSWORD: ADMIN_ACCOUNT.password },
      },
    );

  it('reports that it is up to date, confirmed by a fresh statement, and pins the key', async () => {
    await publish('1.0.0');
    const check = (await (
      await fetch(`${service.url}/api/updateservice/v1/check?product=shop&version=0.1`)
    ).json()) as {
      release: { manifest_json: string };
    };
    await install(dir, { manifest: check.release.manifest_json, files: files('1.0.0') });
    expect(await go()).to.deep.equal({ code: 0, signal: null, stdout: 'UP_TO_DATE: 1.0.0\n', stderr: '' });
    const { public_key } = (await (await fetch(`${service.url}/api/updateservice/v1/pubkey`)).json()) as {
      public_key: string;
    };
    const state = JSON.parse(await readFile(join(dir, '.update-agent', 'state.json'), 'utf8')) as {
      pin: { sha256: string };
    };
    const der = Buffer.from(public_key.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');
    expect(state.pin.sha256).to.equal(createHash('sha256').update(der).digest('hex'));
  });

  it('downloads a release with an account, and is rejected without credentials', async () => {
    await publish('1.1.0');
    const stranger = await runAgent(['--server', service.url, '--dir', dir]);
    expect(stranger.code, stranger.stderr).to.equal(2);
    expect(stranger.stdout).to.match(/^UNAUTHORIZED: /);
    expect(await go()).to.deep.equal({ code: 0, signal: null, stdout: 'UPDATED: 1.0.0 -> 1.1.0\n', stderr: '' });
    expect(await readFile(join(dir, 'bin/start.sh'), 'utf8')).to.equal('#!/bin/sh\necho 1.1.0\n');
  });

  it('updates in steps, each with a statement', async () => {
    await publish('1.5.0');
    await publish('2.0.0', '&min_version=1.5.0');
    const ran = await go();
    expect(ran.stdout, ran.stderr).to.equal('UPDATED: 1.1.0 -> 1.5.0\nUPDATED: 1.5.0 -> 2.0.0\n');
  });

  it('returns to an earlier release after a rollback, and takes the fix afterwards', async () => {
    await publish('2.1.0');
    expect((await go()).stdout).to.equal('UPDATED: 2.0.0 -> 2.1.0\n');
    const body = { product: 'shop', channel: 'stable', to: '2.0.0', reason: 'loses the cart' };
    const answer = await service.request('POST', '/api/updateservice/v1/rollback', token, body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    const ran = await go();
    expect(ran, ran.stderr).to.include({ code: 0 });
    expect(ran.stdout).to.include('UPDATED: 2.1.0 -> 2.0.0\n');
    expect(await readFile(join(dir, 'bin/start.sh'), 'utf8')).to.equal('#!/bin/sh\necho 2.0.0\n');
    expect((await go()).stdout).to.equal('UP_TO_DATE: 2.0.0\n');
    await publish('2.0.1');
    expect((await go()).stdout).to.equal('UPDATED: 2.0.0 -> 2.0.1\n');
  });

  it('downloads only changed files, and not the package', async () => {
    const bulk = Array.from({ length: 20 }, (_, i) => ({ path: `data/${i}.bin`, content: randomBytes(50_000) }));
    await publish('2.2.0', '', 'shop', [...files('2.2.0'), ...bulk]);
    expect((await go()).stdout).to.equal('UPDATED: 2.0.1 -> 2.2.0\n');
    await publish('2.3.0', '', 'shop', [...files('2.3.0'), ...bulk]);
    expect((await go()).stdout).to.equal('UPDATED: 2.2.0 -> 2.3.0\n');
    expect(await readFile(join(dir, 'bin/start.sh'), 'utf8')).to.equal('#!/bin/sh\necho 2.3.0\n');
    const listed = await service.request('GET', '/api/updateservice/v1/releases?product=shop', token);
    const items = listed.body['items'] as { version: string; downloads: number }[];
    const downloads = new Map(items.map((one) => [one.version, one.downloads]));
    expect([downloads.get('2.2.0'), downloads.get('2.3.0')]).to.deep.equal([1, 0]);
  });

  it('rolls a channel back by the page of the release, with a reason', async () => {
    const admin = new Browser(service);
    await admin.login(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password);
    const listed = await service.request('GET', '/api/updateservice/v1/releases?product=shop', token);
    const items = listed.body['items'] as { id: string; version: string }[];
    const getPath = (version: string): string =>
      `/releases/${items.find((one) => one.version === version)?.id ?? version}`;
    const page = await admin.open('GET', getPath('2.2.0'));
    expect(page.text).to.include('Roll back to this version');
    expect((await admin.open('GET', getPath('2.3.0'))).text).not.to.include('Roll back to this version');
    const csrf_token = await admin.csrf(getPath('2.2.0'));
    const empty = await admin.open('POST', `${getPath('2.2.0')}/rollback`, { csrf_token, reason: '' });
    expect(empty.status).to.equal(422);
    const done = await admin.open('POST', `${getPath('2.2.0')}/rollback`, { csrf_token, reason: 'loses the cart' });
    expect(done.status, done.text).to.equal(303);
    expect((await admin.open('GET', getPath('2.3.0'))).text)
      .to.match(/rolled back/i)
      .and.include('loses the cart');
    expect((await go()).stdout).to.include('UPDATED: 2.3.0 -> 2.2.0\n');
  });

  it('installs from scratch when every release is offered only to older versions', async () => {
    await publish('2.0.0', '&min_version=1.0.0', 'steep');
    await publish('3.0.0', '&min_version=2.0.0', 'steep');
    const ask = async (words: string): Promise<Record<string, unknown>> => {
      const answer = await fetch(`${service.url}/api/updateservice/v1/${words}&product=steep`);
      return (await answer.json()) as Record<string, unknown>;
    };
    expect(await ask('check?version=0')).to.include({
      update_available: false,
      release: null,
      latest_version: '3.0.0',
    });
    expect((await ask('latest?platform=any'))['latest']).to.include({ version: '3.0.0', min_version: '2.0.0' });
    const fresh = await scratch();
    try {
      const ran = await runAgent(
        ['--action', 'install', '--project', 'steep', '--dir', join(fresh, 'steep')].concat([
          '--server',
          service.url,
          '--username',
          ADMIN_ACCOUNT.username,
          '--require-signed',
        ]),
        { env: { SVC_PASSWORD: ADMIN_ACCOUNT.password, HOME: fresh } },
      );
      expect(ran, ran.stderr).to.include({ code: 0, stdout: 'UPDATED: none -> 3.0.0\n' });
      expect(await readFile(join(fresh, 'steep', 'bin/start.sh'), 'utf8')).to.equal('#!/bin/sh\necho 3.0.0\n');
    } finally {
      await remove(fresh);
    }
  });
});
