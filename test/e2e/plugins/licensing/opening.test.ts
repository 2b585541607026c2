/**
 * Licenses, accounts and access files together, by the whole service: what a caller was just
 * answered is so at the next request, under this service and under Debian's Apache (contract 40,
 * access files; contract 50).
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { buildPackage } from '../../../kit/contracts/release-store.js';
import { waitUntil } from '../../../harness.js';
import { runCliJson, TestService } from '../../../support/service.js';
import { Apache, INSTALLED, REQUIRED } from '../releases/access-files/apache.js';
import { basic, get, nameOf } from '../../../plugins/releases/store-fixture.js';
import { BASE } from '../../../plugins/licensing/fixture.js';

const BYTES = buildPackage({ 'a.txt': 'what is inside' });
const PASSWORD = 'correct horse battery';
const EXPIRES_MS = 3_000;
/** What the contract allows between an end and the access files, and a busy machine. */
const ENDED_MS = 75_000;

interface Made {
  id: string;
  key: string;
}

describe('access to the release store', function () {
  let service: TestService;
  let apache: Apache | undefined;
  let home = '';
  let manage = '';

  before(async function () {
    if (!INSTALLED && REQUIRED) throw new Error('apache2 and apache2-utils are not installed');
    service = await TestService.createInProcess({
      SVC_LIMITS__API_PER_MINUTE: '0',
      SVC_LIMITS__PUBLIC_PER_MINUTE: '0',
      // As root the web server's user is another one, which reads the hashes by its group.
      ...(INSTALLED && process.getuid?.() === 0 && { SVC_RELEASES__WEB_GROUP: 'www-data' }),
    });
    for (const slug of ['shop', 'other']) await service.createProject(slug);
    manage = await service.createToken('license:manage');
    const publish = await service.createToken('updateservice:publish');
    for (const product of ['shop', 'other']) {
      const place = new URLSearchParams({ product, channel: 'stable', version: '1.0', platform: 'any' }).toString();
      const answer = await fetch(`${service.url}/api/updateservice/v1/publish?${place}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${publish}`, 'content-type': 'application/gzip' },
        body: BYTES,
      });
      expect(answer.status, await answer.text()).to.equal(201);
    }
    if (!INSTALLED) return;
    home = await mkdtemp(join(tmpdir(), 'aos-apache-'));
    apache = await Apache.start(home, join(service.dataDir, 'releases'));
  });
  after(async () => {
    await apache?.stop();
    await service?.dispose();
    if (home !== '') await rm(home, { recursive: true, force: true });
  });

  const bases = (): string[] => [service.url, ...(apache === undefined ? [] : [apache.base])];
  const all = <T>(value: T): T[] => bases().map(() => value);
  /** The status under this service, then under Apache. */
  const statuses = async (username: string, password: string, product = 'shop'): Promise<number[]> => {
    const found: number[] = [];
    for (const base of bases()) {
      const headers = { authorization: basic(username, password) };
      const { status, body } = await get(base, `/releases/${product}/stable/1.0/any/package.tar.gz`, { headers });
      if (status === 200) expect(body.equals(BYTES)).to.equal(true);
      found.push(status);
    }
    return found;
  };
  const ofKey = (key: string, product?: string): Promise<number[]> => statuses(nameOf(key), key, product);
  const call = async (path: string, status: number, body: object = {}): Promise<Record<string, unknown>> => {
    const answer = await service.request('POST', `${BASE}/licenses${path}`, manage, body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
    return answer.body;
  };
  const make = async (more: object = {}): Promise<Made> => {
    const { license, key } = (await call('', 201, { product: 'shop', ...more })) as { license: Made; key: string };
    return { id: license.id, key };
  };
  const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();

  it('is required with Apache too when configured', () => {
    if (REQUIRED) expect(bases()).to.have.length(2);
  });

  it('is granted only for a new license’s product, from the first request after the 201', async () => {
    const { key } = await make();
    expect(await ofKey(key)).to.deep.equal(all(200));
    expect(await ofKey(key, 'other')).to.deep.equal(all(401));
  });

  it('ends with the response that revokes the license', async () => {
    const { id, key } = await make();
    expect(await ofKey(key)).to.deep.equal(all(200));
    await call(`/${id}/revoke`, 200);
    expect(await ofKey(key)).to.deep.equal(all(401));
  });

  it('ends for a deactivated license, and resumes on reactivation', async () => {
    const { id, key } = await make();
    await call(`/${id}/deactivate`, 200);
    expect(await ofKey(key)).to.deep.equal(all(401));
    await call(`/${id}/reactivate`, 200);
    expect(await ofKey(key)).to.deep.equal(all(200));
  });

  it('is denied for a pending license until its approval', async () => {
    const { id, key } = await make({ require_approval: true });
    expect(await ofKey(key)).to.deep.equal(all(401));
    await call(`/${id}/approve`, 200);
    expect(await ofKey(key)).to.deep.equal(all(200));
  });

  it('ends at most a minute after a license expires, and resumes immediately when extended', async () => {
    const { id, key } = await make({ expires_at: inMs(EXPIRES_MS) });
    expect(await ofKey(key)).to.deep.equal(all(200));
    const file = join(service.dataDir, 'releases', 'shop', '.htpasswd');
    await waitUntil('its line is gone', async () => !(await readFile(file, 'utf8')).includes(nameOf(key)), ENDED_MS);
    expect(await ofKey(key)).to.deep.equal(all(401));
    await call(`/${id}/extend`, 200, { expires_at: inMs(3_600_000) });
    expect(await ofKey(key)).to.deep.equal(all(200));
  });

  it('is granted for twenty licenses created in one call', async () => {
    const { items } = (await call('', 201, { product: 'shop', count: 20 })) as { items: Made[] };
    expect(items).to.have.length(20);
    for (const { key } of items) {
      await waitUntil('the key opens', async () => (await ofKey(key)).every((status) => status === 200));
    }
  });

  it('reflects accounts created or disabled on the command line immediately', async () => {
    const args = (command: string): string[] => ['user', command, '--username', 'ivy'];
    await runCliJson(service.env, [...args('create'), '--role', 'installer', '--password-stdin'], PASSWORD);
    for (const product of ['shop', 'other'])
      expect(await statuses('ivy', PASSWORD, product), product).to.deep.equal(all(200));
    await runCliJson(service.env, args('disable'));
    expect(await statuses('ivy', PASSWORD)).to.deep.equal(all(401));
  });
});
