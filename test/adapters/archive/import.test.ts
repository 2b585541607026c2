/** What an import leaves in the store (contract 95, command line). */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MOVES_COLLECTION } from '../../../adapters/archive/transfer/contents.js';
import { writeExport } from '../../../adapters/archive/transfer/export.js';
import { importDocuments, validateExport, type ImportTarget } from '../../../adapters/archive/transfer/import.js';
import { MemoryReleaseStore } from '../../../adapters/memory/release-store.js';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { checkFingerprints, type ServiceKeys } from '../../../adapters/node/keys/keys.js';
import type { Doc } from '../../../ports/store/index.js';
import { getRejection } from '../../harness.js';

const ABOUT = { version: '1.0.0', created_at: '2026-11-27T12:00:00.000Z', keys: {} };
const NOW = (): string => ABOUT.created_at;
const keys = (data: string): ServiceKeys => ({
  release: null,
  license: 'l'.repeat(32),
  data: data.repeat(32),
  created: [],
});

describe('archive import', () => {
  let folder: string;
  let store: MemoryStore;
  const target = (finish: ImportTarget['finish']): ImportTarget => ({
    store,
    releases: new MemoryReleaseStore(),
    collections: [],
    now: NOW,
    finish,
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-import-'));
    const source = new MemoryStore();
    await source.collection<Doc>('notes').insert({ id: 'n1' });
    await checkFingerprints(source, keys('o'), NOW);
    await source.collection('kernel_keys').insert({ id: 'of_a_ring', key: { key_id: 'a' } } as Doc);
    await writeExport(join(folder, 'e.tar.gz'), ABOUT, source, null);
    store = new MemoryStore();
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('stores the given keys before it marks the store as complete', async () => {
    let half: unknown;
    await importDocuments(
      join(folder, 'e.tar.gz'),
      target(async (filled) => {
        half = await filled.collection(MOVES_COLLECTION).get('import');
        await checkFingerprints(filled, keys('d'), NOW);
      }),
    );
    expect(half).to.be.an('object');
    expect(await store.collection(MOVES_COLLECTION).get('import')).to.equal(null);
    expect((await getRejection(checkFingerprints(store, keys('x'), NOW))).message).to.include('security.data_key');
    await checkFingerprints(store, keys('d'), NOW);
  });

  it('imports the key chains without the fingerprints of the source store', async () => {
    await importDocuments(
      join(folder, 'e.tar.gz'),
      target(() => Promise.resolve()),
    );
    const { items } = await store.collection('kernel_keys').find();
    expect(items.map(({ id }) => id)).to.deep.equal(['of_a_ring']);
  });

  it('restores binary fields as bytes, including those that an earlier version stored as text', async () => {
    const maps = [{ name: 'maps', bytes: 'data', indexes: [] }];
    const source = new MemoryStore();
    await source.collection<Doc>('maps').insert({ id: 'old', data: 'AP8=' } as Doc);
    await source.ensure(maps);
    await source.collection<Doc>('maps').insert({ id: 'new', data: Uint8Array.of(0, 255, 7) } as Doc);
    await writeExport(join(folder, 'bytes.tar.gz'), ABOUT, source, null);
    await importDocuments(join(folder, 'bytes.tar.gz'), {
      ...target(() => Promise.resolve()),
      collections: maps,
    });
    const rows = store.collection<Doc & { data?: unknown }>('maps');
    expect((await rows.get('new'))?.data).to.deep.equal(Uint8Array.of(0, 255, 7));
    expect(Buffer.compare(Buffer.from([0, 255]), (await rows.get('old'))?.data as Uint8Array)).to.equal(0);
    await writeExport(join(folder, 'again.tar.gz'), ABOUT, store, null);
    expect((await validateExport(join(folder, 'again.tar.gz'))).contents.sha256).to.equal(
      (await validateExport(join(folder, 'bytes.tar.gz'))).contents.sha256,
    );
  });

  it('rejects a document whose bytes are not valid base64', async () => {
    const source = new MemoryStore();
    for (const data of ['no base64!', 5, { $bytes: '' }]) {
      await source.collection<Doc>('maps').remove({});
      await source.collection<Doc>('maps').insert({ id: 'a', data } as Doc);
      const file = join(folder, `${typeof data}.tar.gz`);
      await writeExport(file, ABOUT, source, null);
      const into = { ...target(() => Promise.resolve()), collections: [{ name: 'maps', bytes: 'data', indexes: [] }] };
      expect((await getRejection(importDocuments(file, into))).message).to.include('whose data is not valid base64');
      expect(await store.collection('maps').count({})).to.equal(0);
    }
  });

  it('leaves the store empty when the import fails', async () => {
    const error = await getRejection(
      importDocuments(
        join(folder, 'e.tar.gz'),
        target(() => Promise.reject(new Error('other keys'))),
      ),
    );
    expect(error.message).to.equal('other keys');
    expect(await store.collection('notes').count({})).to.equal(0);
    expect(await store.collection(MOVES_COLLECTION).get('import')).to.equal(null);
  });
});
