/** `/api/license/v1` before openssl, and of the program, which logs all it can. */
import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { BASE } from '../../../plugins/licensing/fixture.js';
import { SHARED_KEY, TestService, type ServiceResponse } from '../../../support/service.js';

const run = promisify(execFile);

describe('licensing in the running service', () => {
  let service: TestService;
  let manage: string;
  before(async () => {
    const limits = { SVC_LIMITS__PUBLIC_PER_MINUTE: '0', SVC_LIMITS__API_PER_MINUTE: '0' };
    service = await TestService.createStarted({ ...limits, SVC_LOG_LEVEL: 'debug' });
    await service.createProject('shop');
    manage = await service.createToken('license:manage');
  });
  after(() => service?.dispose());

  const call = (
    method: string,
    path: string,
    body?: unknown,
    bearer: string | null = manage,
  ): Promise<ServiceResponse> => service.request(method, `${BASE}${path}`, bearer, body);
  const create = async (more: object = {}): Promise<{ license: { id: string }; key: string }> => {
    const { status, body } = await call('POST', '/licenses', { product: 'shop', ...more });
    expect([200, 201], JSON.stringify(body)).to.include(status);
    return { license: body['license'] as { id: string }, key: body['key'] as string };
  };

  it('signs a .lic that openssl verifies', async () => {
    const { key } = await create({ max_activations: 3 });
    const response = await fetch(`${service.url}${BASE}/file`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ license_key: key, product: 'shop', machine_id: 'm1' }),
    });
    const text = await response.text();
    const pem = String((await call('GET', '/pubkey', undefined, null)).body['public_key']);
    const inner = JSON.parse(Buffer.from(text.split('\n').slice(1, -2).join(''), 'base64').toString()) as Record<
      string,
      string
    >;
    const at = (name: string): string => join(service.dataDir, name);
    await writeFile(at('pub.pem'), pem);
    await writeFile(at('signed'), `aos-lic-v1.${inner['enc']}`);
    await writeFile(at('sig'), Buffer.from(inner['sig'] ?? '', 'base64'));
    const { stdout } = await run('openssl', [
      'pkeyutl',
      '-verify',
      '-pubin',
      '-inkey',
      at('pub.pem'),
      '-rawin',
      '-in',
      at('signed'),
      '-sigfile',
      at('sig'),
    ]);
    expect(stdout).to.include('Verified Successfully');
  });

  it('writes no complete key to log lines or to files in its data directory', async () => {
    const { key, license } = await create({ licensee: 'Secret' });
    const spelled = encodeURIComponent(key);
    await fetch(`${service.url}${BASE}/validate?license_key=${spelled}&product=shop&machine_id=m`);
    await fetch(`${service.url}${BASE}/validate?license_key=${spelled}&license_key=${spelled}&product=shop`);
    await fetch(`${service.url}${BASE}/nothing?license_key=${spelled}`);
    await fetch(`${service.url}${BASE}/validate?license_key=${spelled}`, { method: 'DELETE' });
    await fetch(`${service.url}${BASE}/validate?product=shop`, { headers: { 'x-license-key': key } });
    await fetch(`${service.url}${BASE}/nothing/${spelled}`, { headers: { 'x-license-key': key } });
    await fetch(`${service.url}/license?license_key=${spelled}`);
    await call('POST', '/validate', { license_key: key, product: 'shop', nonce: 5 }, null);
    await call('POST', '/deactivate', { license_key: key, reason: 'gone' }, SHARED_KEY);
    await call('GET', `/licenses?q=${spelled}`);
    await call('GET', `/licenses/${license.id}`);
    await service.stop();
    const bare = key.replaceAll('-', '');
    const holds = (text: string): boolean => text.includes(key) || text.includes(bare) || text.includes(spelled);
    expect(holds(service.stdout + service.stderr)).to.equal(false);
    for (const name of await readdir(service.dataDir, { recursive: true, withFileTypes: true })) {
      if (!name.isFile()) continue;
      const text = await readFile(join(name.parentPath, name.name), 'latin1');
      expect(holds(text), name.name).to.equal(false);
    }
  });
});
