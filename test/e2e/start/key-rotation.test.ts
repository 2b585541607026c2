/**
 * `aos license-key rotate` and `aos release-key rotate` beside the running server (contract 40,
 * files; contract 50, license files). The commands are the program's; the server is in this
 * process.
 */
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { verifyLicenseFile } from '../../../lib/formats/license-file.js';
import { getRejection, waitUntil } from '../../harness.js';
import { PASSWORD_COST } from '../../support/prepared-data-dir.js';
import { runCli, runCliJson, QUIET_LOG_SETTINGS, TestService } from '../../support/service.js';

const LICENSE = '/api/license/v1';
const RELEASE = '/api/updateservice/v1/pubkey';

interface Key {
  kid?: string;
  key_id?: string;
  public_key: string;
  signature: string;
}
type Ring = Key & { predecessors: Key[] };

const rsa = (): string =>
  generateKeyPairSync('rsa', { modulusLength: 3072 }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const ed25519 = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;

/** Each earlier key signs the SPKI DER of its successor. */
function expectChain({ public_key, predecessors }: Ring): void {
  let next = public_key;
  for (const { public_key: key, signature } of predecessors) {
    const spki = createPublicKey(next).export({ type: 'spki', format: 'der' });
    const own = createPublicKey(key);
    const hash = own.asymmetricKeyType === 'rsa' ? 'sha256' : null;
    expect(verify(hash, spki, own, Buffer.from(signature, 'base64'))).to.equal(true);
    next = key;
  }
}

describe('key rotation', function () {
  let service: TestService;
  afterEach(() => service?.dispose());

  const ring = async (path: string): Promise<Ring> =>
    (await service.request('GET', path, null)).body as unknown as Ring;
  /** The text of a file for this machine. */
  const file = async (license_key: string, machine_id: string): Promise<string> => {
    const answer = await fetch(`${service.url}${LICENSE}/file`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ license_key, product: 'shop', machine_id }),
    });
    expect(answer.status).to.equal(200);
    return answer.text();
  };
  const newLicense = async (): Promise<string> => {
    await service.createProject('shop');
    const token = await service.createToken('license:manage');
    const { body } = await service.request('POST', `${LICENSE}/licenses`, token, { product: 'shop' });
    return body['key'] as string;
  };
  const kidOf = async (license_key: string): Promise<unknown> =>
    (await service.request('POST', `${LICENSE}/validate`, null, { license_key, product: 'shop' })).body['kid'];

  it('license key: signs responses with the new key, and verifies an old file by the chain', async () => {
    service = await TestService.createInProcess();
    const key = await newLicense();
    const old = await file(key, 'web-1');
    const before = await ring(`${LICENSE}/pubkey`);
    const rotated = await runCliJson<{ kid: string; predecessor: string }>(service.env, ['license-key', 'rotate']);
    expect(rotated.predecessor).to.equal(before.kid);
    expect(rotated.kid).to.not.equal(before.kid);
    await waitUntil('answers carry the new key', async () => (await kidOf(key)) === rotated.kid);
    const after = await ring(`${LICENSE}/pubkey`);
    expect(after.kid).to.equal(rotated.kid);
    expect(after.predecessors.map(({ kid }) => kid)).to.deep.equal([before.kid]);
    expectChain(after);
    const keys = [after, ...after.predecessors].map(({ public_key }) => public_key);
    const checks = { product: 'shop', machineId: 'web-1' };
    expect(verifyLicenseFile(old, keys, checks)).to.include({ valid: true });
    expect(verifyLicenseFile(old, after.public_key, checks)).to.deep.equal({ valid: false, reason: 'unknown_key' });
    expect(verifyLicenseFile(await file(key, 'web-1'), after.public_key, checks)).to.include({ valid: true });
  });

  it('configured license key: names the setting without --to, and rotates with it', async () => {
    service = await TestService.create(QUIET_LOG_SETTINGS, undefined, PASSWORD_COST);
    service.env['SVC_LICENSE_KEY'] = ed25519();
    await service.startInProcess();
    const key = await newLicense();
    const before = await ring(`${LICENSE}/pubkey`);
    const rejected = await runCli(service.env, ['license-key', 'rotate']);
    expect(rejected.code).to.equal(1);
    expect(rejected.stderr).to.match(/security\.license_key.*SVC_LICENSE_KEY.*--to/);
    expect(await ring(`${LICENSE}/pubkey`)).to.deep.equal(before);
    const to = join(service.dataDir, 'next.pem');
    const next = ed25519();
    await writeFile(to, next);
    const rotated = await runCliJson<Record<string, string>>(service.env, ['license-key', 'rotate', '--to', to]);
    expect(rotated).to.include({ predecessor: before.kid, setting: 'security.license_key' });
    await waitUntil('answers carry the new key', async () => (await kidOf(key)) === rotated['kid']);
    expectChain(await ring(`${LICENSE}/pubkey`));
    // As the command says: the earlier key starts no process, the new one does.
    await service.stop();
    expect((await getRejection(service.start())).message).to.match(
      /security\.license_key \(from environment variable SVC_LICENSE_KEY\) was replaced/,
    );
    service.env['SVC_LICENSE_KEY'] = next.replace(/\n$/, '');
    await service.startInProcess();
    expect(await kidOf(key)).to.equal(rotated['kid']);
  });

  it('configured release key: names the setting without --to, rejects an invalid key file, and rotates', async () => {
    service = await TestService.create(QUIET_LOG_SETTINGS, undefined, PASSWORD_COST);
    const path = join(service.dataDir, 'first.pem');
    await writeFile(path, rsa());
    service.env['SVC_RELEASE_PRIVATE_KEY'] = path;
    await service.startInProcess();
    const before = await ring(RELEASE);
    const to = join(service.dataDir, 'next.pem');
    await writeFile(to, 'no key');
    const rejected = await runCli(service.env, ['release-key', 'rotate']);
    expect(rejected.code).to.equal(1);
    expect(rejected.stderr).to.match(/release_private_key.*SVC_RELEASE_PRIVATE_KEY.*--to/);
    expect((await runCli(service.env, ['release-key', 'rotate', '--to', to])).code).to.equal(1);
    expect(await ring(RELEASE)).to.deep.equal(before);
    await writeFile(to, rsa());
    const rotated = await runCliJson<Record<string, string>>(service.env, ['release-key', 'rotate', '--to', to]);
    expect(rotated).to.include({ predecessor: before.key_id, setting: 'release_private_key' });
    const followed = async (): Promise<boolean> => (await ring(RELEASE)).key_id === rotated['key_id'];
    await waitUntil('the public key is the new one', followed);
    const after = await ring(RELEASE);
    expect(after.predecessors.map(({ key_id }) => key_id)).to.deep.equal([before.key_id]);
    expectChain(after);
  });
});
