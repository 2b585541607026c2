/**
 * Keys are replaced while processes run: chains, crashes, other processes, the configuration
 * (contract 40, files).
 */
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { DataCipher } from '../../../../adapters/node/cipher.js';
import { KeyRings } from '../../../../adapters/node/keys/key-rings.js';
import { checkFingerprints, KEY_FILES, KeyError, loadKeys } from '../../../../adapters/node/keys/keys.js';
import { parseLicenseSigningKey } from '../../../../adapters/node/keys/signing-key.js';
import { RecordingLog } from '../../../kit/fakes.js';
import { getRejection } from '../../../harness.js';
import { ManualClock } from '../../../kit/clock.js';

const pem = (): string =>
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

describe('signing keys', function () {
  let folder: string;
  let store: MemoryStore;
  let clock: ManualClock;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-ring-'));
    store = new MemoryStore();
    clock = new ManualClock();
    await writeFile(join(folder, KEY_FILES.release), pem());
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /**
   * A process on the store. @param configured path of the release key, and the license key's text
   */
  const start = async (configured: { release?: string; license?: string } = {}): Promise<KeyRings> => {
    const given = { release_private_key: configured.release ?? null, license_key: configured.license ?? null };
    const keys = await loadKeys({ ...given, data_key: 'd'.repeat(32) }, folder, false);
    const cipher = new DataCipher('d'.repeat(32));
    const rings = new KeyRings(keys, given, folder, { store, cipher, clock, log: new RecordingLog() });
    await rings.checkOwnKeys();
    return rings;
  };

  it('rotates in every process, with each key signing its successor', async () => {
    const [one, two] = [await start(), await start()];
    const first = await one.releases.getKey();
    expect(await two.releases.listPredecessors()).to.deep.equal([]);
    expect(await two.releases.getKeyStart()).to.equal(clock.iso());
    await one.release.rotate(null);
    clock.advance(60_000);
    await one.release.rotate(null);
    expect(await two.releases.getKeyStart(), 'since the last rotation').to.equal(clock.iso());
    const key = await two.releases.getKey();
    const signed = await two.releases.sign(Buffer.from('x'));
    expect(signed?.key).to.deep.equal(key);
    expect(
      verify('sha256', Buffer.from('x'), key?.public_key ?? '', Buffer.from(signed?.signature ?? '', 'base64')),
    ).to.equal(true);
    const chain = await two.releases.listPredecessors();
    expect(chain.map(({ key_id }) => key_id).at(-1)).to.equal(first?.key_id);
    let successor = key?.public_key ?? '';
    for (const { public_key, signature } of chain) {
      const der = createPublicKey(successor).export({ type: 'spki', format: 'der' });
      expect(verify('sha256', der, public_key, Buffer.from(signature, 'base64'))).to.equal(true);
      successor = public_key;
    }
    expect(await (await start()).releases.getKey()).to.deep.equal(key);
  });

  it('completes a rotation that was interrupted before the file was written', async () => {
    const old = await readFile(join(folder, KEY_FILES.release), 'utf8');
    const one = await start();
    await one.release.rotate(null);
    const key = await one.releases.getKey();
    await writeFile(join(folder, KEY_FILES.release), old);
    expect(await (await start()).releases.getKey()).to.deep.equal(key);
    expect(await readFile(join(folder, KEY_FILES.release), 'utf8')).to.not.equal(old);
  });

  it('calls the listener when another process has rotated the key', async () => {
    const [one, two] = [await start(), await start()];
    let calls = 0;
    two.releases.onRotated(() => calls++);
    await one.release.rotate(null);
    await two.releases.getKey();
    expect(calls).to.equal(1);
  });

  it('prevents a start with a configured key that was rotated, and accepts its successor', async () => {
    const [before, after] = [join(folder, 'one.pem'), join(folder, 'two.pem')];
    await writeFile(before, pem());
    await writeFile(after, pem());
    const one = await start({ release: before });
    expect(one.release.configured).to.equal(true);
    await one.release.rotate(await readFile(after, 'utf8'));
    const key = await one.releases.getKey();
    const error = await getRejection(start({ release: before }));
    expect(error).to.be.instanceOf(KeyError);
    expect(error.message).to.match(/release_private_key was replaced .* set it to the new key/);
    const two = await start({ release: after });
    expect(await two.releases.getKey()).to.deep.equal(key);
    expect(await two.releases.listPredecessors()).to.have.length(1);
    expect(await getRejection(two.release.rotate(await readFile(before, 'utf8')))).to.include({ code: 'conflict' });
    expect(await getRejection(two.release.rotate('no key'))).to.include({ code: 'validation_failed' });
  });

  it('keeps the fingerprint that a shared store compares', async () => {
    const keys = await loadKeys(
      { release_private_key: '', license_key: 'l'.repeat(40), data_key: 'd'.repeat(32) },
      folder,
      true,
    );
    await checkFingerprints(store, keys, () => clock.iso());
    const one = await start({ license: 'l'.repeat(40) });
    await one.license.rotate('m'.repeat(40));
    expect((await getRejection(checkFingerprints(store, keys, () => clock.iso()))).message).to.contain(
      'security.license_key',
    );
    await checkFingerprints(store, { ...keys, release: null, license: 'm'.repeat(40) }, () => clock.iso()).catch(
      (error: Error) => expect(error.message).to.not.contain('license_key'),
    );
  });

  it('derives the same Ed25519 license key from a text everywhere, and uses a PEM key unchanged', async () => {
    const seeded = parseLicenseSigningKey('a text of more than thirty-two characters');
    expect(seeded.public).to.include({ algorithm: 'ed25519', bits: 256 });
    expect(parseLicenseSigningKey('a text of more than thirty-two characters').public).to.deep.equal(seeded.public);
    expect(parseLicenseSigningKey(pem()).public.algorithm).to.equal('rsa-sha256');
    expect(
      verify(
        null,
        Buffer.from('x'),
        seeded.public.public_key,
        Buffer.from(await seeded.sign(Buffer.from('x')), 'base64'),
      ),
    ).to.equal(true);
    const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
    });
    for (const text of ['short', small.toString(), '-----BEGIN nothing'])
      expect(() => parseLicenseSigningKey(text)).to.throw();
  });
});
