/** The SDK before the real service: every method once, with what only the service decides. */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, verifyLicenseFile, type Client } from '../../../clients/sdk/index.js';
import { buildArchive } from '../../support/release-server.js';
import { TestService } from '../../support/service.js';
import { folder, removeFolder } from './server.js';

describe('sdk with a real service', () => {
  let service: TestService;
  let dir: string;
  let token: string;
  let key: string;
  let pem: string;
  const client = (more: object = {}): Client =>
    createClient({ server: service.url, project: 'shop', token, cacheDir: dir, timeoutMs: 120_000, ...more });
  const count = async (query: string): Promise<Record<string, unknown>[]> =>
    (await service.request('GET', `/api/bugtracker/v1/bugs?project=shop&${query}`, token)).body['items'] as Record<
      string,
      unknown
    >[];

  before(async () => {
    dir = await folder();
    service = await TestService.createInProcess();
    await service.createProject('shop');
    token = await service.createToken(
      'bugtracker:report,bugtracker:read,watchdog:ping,watchdog:read,updateservice:publish,license:manage,license:read',
    );
    const made = await service.request('POST', '/api/license/v1/licenses', token, { product: 'shop', licensee: 'Ada' });
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    key = made.body['key'] as string;
    pem = (await service.request('GET', '/api/license/v1/pubkey', null)).body['public_key'] as string;
    const published = await fetch(
      `${service.url}/api/updateservice/v1/publish?product=shop&version=2.0&channel=stable`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
        body: new Uint8Array(buildArchive([{ path: 'app.txt', content: 'two' }])),
      },
    );
    expect(published.status, await published.text()).to.equal(201);
  });
  after(async () => {
    await service.dispose();
    await removeFolder(dir);
  });

  it('finds an update and downloads it with only the license key', async () => {
    const licensed = client({ licenseKey: key });
    const found = await licensed.checkForUpdate('1.9', 'stable');
    expect(found).to.deep.include({
      updateAvailable: true,
      latestVersion: '2.0',
      isTransient: false,
      unauthorized: false,
    });
    expect(await licensed.checkForUpdate('2.0.0', 'stable')).to.include({
      updateAvailable: false,
      release: null,
      latestVersion: '2.0',
    });
    if (found.release === null) throw new Error('no release');
    const path = join(dir, 'package.tar.gz');
    expect(await client().downloadUpdate(found.release, path)).to.include({ path: null, unauthorized: true });
    expect(await licensed.downloadUpdate(found.release, path)).to.include({ path });
    expect((await readFile(path)).length).to.equal(found.release.package_size);
    const unknown = await client({ project: 'blog' }).checkForUpdate('1.0', 'stable');
    expect(unknown).to.include({ isTransient: false, unauthorized: false, updateAvailable: false });
    expect(unknown.error?.code).to.equal('not_found');
  });

  it('validates and verifies licenses, and caches the response for offline use', async () => {
    const verifying = client({ licensePublicKey: pem });
    const good = { status: 'active', valid: true, verified: true, isTransient: false, fromCache: false };
    expect(await verifying.validateLicense(key.toLowerCase())).to.deep.equal(good);
    expect(await verifying.validateLicense('ABCDE')).to.deep.equal({ ...good, status: 'invalid', valid: false });
    expect(await verifying.validateLicense(key)).to.deep.equal(good);
    const away = client({ licensePublicKey: pem, server: 'http://127.0.0.1:9' });
    expect(await away.validateLicense(key)).to.deep.equal({ ...good, isTransient: true, fromCache: true });
  });

  it('loads a .lic issued by the service', async () => {
    const verifying = client({ licensePublicKey: pem });
    const answer = await fetch(`${service.url}/api/license/v1/file`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ license_key: key, product: 'shop', machine_id: await verifying.machineId() }),
    });
    const text = await answer.text();
    expect(answer.status, text).to.equal(200);
    expect((await verifying.loadLicenseFile(text)).payload).to.include({ product: 'shop', licensee: 'Ada' });
    expect(verifyLicenseFile(text, pem, { product: 'shop', machineId: 'another' }).reason).to.equal('wrong_machine');
  });

  it('reports an error or bug once, regardless of the number of sends', async () => {
    const report = { error_message: 'no stock', client_ref: 'r-1', app_version: '1.9' };
    expect(await client().reportError(report)).to.include({ sent: true, created: true });
    expect(await client().reportError(report)).to.include({ sent: true, created: false });
    const [item] = await count('type=error');
    expect(item).to.include({ hit_count: 1 });
    expect(await client().captureException(new RangeError('too far'))).to.include({ sent: true, created: true });
    const unnamed = await client().reportBug({ title: '' });
    expect(unnamed).to.include({ reported: false, isTransient: false });
    expect(unnamed.error?.fields).to.have.property('title');
    const bug = await client().reportBug({ title: 'No receipt', client_ref: 'b-1' });
    expect(bug).to.include({ reported: true, created: true });
    expect(await client().reportBug({ title: 'No receipt', client_ref: 'b-1' })).to.include({
      id: bug.id,
      created: false,
    });
    const { body } = await service.request('GET', '/api/bugtracker/v1/bugs?project=shop', token);
    expect(body['items']).to.have.length(3);
  });

  it('sends heartbeats, and provisions a token', async () => {
    const running = client().startHeartbeat({ source: 'till-3', interval: 60, checks: { disk: () => false } });
    expect(await client().heartbeat({ source: 'till-4', app_version: '2.0' })).to.include({ sent: true, state: 'up' });
    expect(await running.stop()).to.include({ sent: true, state: 'stopped' });
    const { token: sub, ...given } = await client().provisionToken({ name: 'till 3', scopes: ['watchdog:ping'] });
    expect(given).to.deep.include({ unauthorized: false, isTransient: false, scopes: ['watchdog:ping'] });
    expect(await client({ token: sub }).heartbeat({ source: 'till-5' })).to.include({ sent: true });
    expect(await client({ token: 'svc_none' }).heartbeat({ source: 'till-5' })).to.include({
      sent: false,
      unauthorized: true,
    });
  });
});
