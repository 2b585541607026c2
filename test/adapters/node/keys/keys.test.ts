import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import {
  checkFingerprints,
  KEY_FILES,
  KeyError,
  loadKeys,
  type ServiceKeys,
  type KeySettings,
} from '../../../../adapters/node/keys/keys.js';

const NONE: KeySettings = { release_private_key: null, license_key: null, data_key: null };
const GIVEN: KeySettings = { release_private_key: '', license_key: 'l'.repeat(32), data_key: 'd'.repeat(32) };

describe('key loading', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-keys-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  async function fault(work: Promise<unknown>): Promise<string> {
    try {
      await work;
    } catch (error) {
      expect(error).to.be.instanceOf(KeyError);
      expect((error as Error).message).to.not.match(/[\r\n]/);
      return (error as Error).message;
    }
    throw new Error('no fault');
  }
  const pemFile = async (pem: string | Buffer): Promise<string> => {
    const path = join(folder, 'given.pem');
    await writeFile(path, pem);
    return path;
  };
  const rsa = (bits: number): string =>
    generateKeyPairSync('rsa', { modulusLength: bits }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

  it('creates owner-readable keys at the first start of an embedded store, and loads them afterwards', async () => {
    const data = join(folder, 'new', 'data');
    const first = await loadKeys(NONE, data, false);
    expect([...first.created].toSorted()).to.deep.equal([
      'release_private_key',
      'security.data_key',
      'security.license_key',
    ]);
    expect(first.release?.bits).to.equal(3072);
    expect(first.license).to.match(/^[\w-]{43}$/);
    expect(first.data).to.not.equal(first.license);
    for (const name of Object.values(KEY_FILES)) expect((await stat(join(data, name))).mode & 0o777).to.equal(0o600);
    expect((await readdir(data)).toSorted()).to.deep.equal(Object.values(KEY_FILES).toSorted());
    const second = await loadKeys(NONE, data, false);
    expect(second).to.deep.equal({ ...first, created: [] });
  });

  it('returns the same keys for concurrent starts', async () => {
    const all = await Promise.all([1, 2, 3].map(() => loadKeys({ ...NONE, release_private_key: '' }, folder, false)));
    expect(new Set(all.map(({ license }) => license)).size).to.equal(1);
    expect(new Set(all.map(({ data }) => data)).size).to.equal(1);
    expect(all.flatMap(({ created }) => created)).to.have.lengthOf(2);
  });

  it('uses configured keys, and treats an empty release key as unsigned', async () => {
    const keys = await loadKeys(GIVEN, folder, true);
    expect(keys).to.deep.equal({ release: null, license: 'l'.repeat(32), data: 'd'.repeat(32), created: [] });
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it('requires configured keys with MongoDB', async () => {
    expect(await fault(loadKeys({ ...NONE, data_key: 'd'.repeat(32) }, folder, true))).to.equal(
      'keys: with MongoDB these must be set to the same value in every process: release_private_key (SVC_RELEASE_PRIVATE_KEY; empty for unsigned releases), security.license_key (SVC_LICENSE_KEY)',
    );
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it('accepts a release key of 2,048 bits, with the key id of its public half', async () => {
    const pem = rsa(2048);
    const keys = await loadKeys({ ...GIVEN, release_private_key: await pemFile(pem) }, folder, true);
    expect(keys.release).to.include({ bits: 2048, pem });
    expect(keys.release?.key_id).to.match(/^[0-9a-f]{16}$/);
  });

  it('rejects a release key that is short, of another type, public, corrupt or missing', async () => {
    const path = join(folder, 'given.pem');
    const load = (): Promise<ServiceKeys> => loadKeys({ ...GIVEN, release_private_key: path }, folder, false);
    expect(await fault(load())).to.equal(`release_private_key: ${path} cannot be read: ENOENT`);
    await pemFile(rsa(1024));
    expect(await fault(load())).to.equal(`release_private_key: ${path} has 1024 bits; at least 2048 are required`);
    const ed = generateKeyPairSync('ed25519').privateKey;
    await pemFile(ed.export({ type: 'pkcs8', format: 'pem' }));
    expect(await fault(load())).to.equal(`release_private_key: ${path} is not an RSA key`);
    await pemFile(createPublicKey(ed).export({ type: 'spki', format: 'pem' }));
    expect(await fault(load())).to.equal(`release_private_key: ${path} is not a readable PEM private key`);
    await pemFile('');
    expect(await fault(load())).to.equal(`release_private_key: ${path} is not a readable PEM private key`);
  });

  it('rejects a release key in place of its file path, without logging the key', async () => {
    const release_private_key = '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n';
    const said = await fault(loadKeys({ ...GIVEN, release_private_key }, folder, true));
    expect(said)
      .to.match(/^release_private_key: is a key itself/)
      .and.not.include('c2VjcmV0');
  });

  it('rejects a truncated generated key instead of replacing it', async () => {
    await writeFile(join(folder, KEY_FILES.data), 'short');
    expect(await fault(loadKeys({ ...GIVEN, data_key: null }, folder, false))).to.equal(
      `security.data_key: ${join(folder, KEY_FILES.data)} is shorter than 32 characters`,
    );
    expect(await readFile(join(folder, KEY_FILES.data), 'utf8')).to.equal('short');
  });

  describe('fingerprints in a shared store', () => {
    const now = (): string => '2026-11-20T08:15:30.123Z';
    const keys = (more: Partial<ServiceKeys> = {}): ServiceKeys => ({
      release: null,
      license: 'l'.repeat(32),
      data: 'd'.repeat(32),
      created: [],
      ...more,
    });
    const release = (key_id: string): ServiceKeys['release'] => ({ key_id, pem: '', bits: 3072, path: '' });

    it('are stored at the first start, and match for the same keys', async () => {
      const store = new MemoryStore();
      await checkFingerprints(store, keys(), now);
      await checkFingerprints(store, keys(), now);
      const { items } = await store.collection('kernel_keys').find();
      expect(items.map(({ id }) => id)).to.deep.equal(['security.data_key', 'security.license_key']);
      expect(JSON.stringify(items)).to.not.match(/l{8}|d{8}/);
    });

    it('prevent the start of a process with other keys, and name the keys', async () => {
      const store = new MemoryStore();
      await checkFingerprints(store, keys({ release: release('a') }), now);
      expect(
        await fault(checkFingerprints(store, keys({ release: release('a'), data: 'x'.repeat(32) }), now)),
      ).to.equal('keys: security.data_key differs from what this store is used with');
      const all = keys({ release: release('b'), data: 'x'.repeat(32), license: 'y'.repeat(32) });
      expect(await fault(checkFingerprints(store, all, now))).to.equal(
        'keys: security.license_key, security.data_key, release_private_key differ from what this store is used with',
      );
      expect(await fault(checkFingerprints(store, keys(), now))).to.equal(
        'keys: release_private_key differs from what this store is used with',
      );
    });

    it('allow enabling signatures later', async () => {
      const store = new MemoryStore();
      await checkFingerprints(store, keys(), now);
      await checkFingerprints(store, keys({ release: release('a') }), now);
      expect(await fault(checkFingerprints(store, keys({ release: release('b') }), now))).to.equal(
        'keys: release_private_key differs from what this store is used with',
      );
    });
  });
});
