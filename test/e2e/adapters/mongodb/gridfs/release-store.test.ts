/**
 * The release store in MongoDB: the contract, and what only it has: pieces, marks, the sweep,
 * several processes.
 */
import { createHash, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { MongoClient, ObjectId, type Db } from 'mongodb';
import { ThreadPackageReader } from '../../../../../adapters/fs/package-reader.js';
import { GridFsReleaseStore } from '../../../../../adapters/mongodb/gridfs/release-store.js';
import { FileReplaced, type ReleaseLocation, type StoredFile } from '../../../../../ports/release-store.js';
import { StoreUnavailable } from '../../../../../ports/store/index.js';
import { releaseFilesContract } from '../../../../kit/contracts/release-files.js';
import { buildPackage, splitChunks, releaseStoreContract } from '../../../../kit/contracts/release-store.js';
import { getRejection, waitUntil } from '../../../../harness.js';
import { findMongoUrl, NO_MONGODB_MESSAGE } from '../../../../support/mongo/server.js';
import { scaleRepeats } from '../../../../support/repeat-budget.js';
import { TcpProxy } from '../../../../support/tcp-proxy.js';

const PLACE: ReleaseLocation = { product: 'shop', channel: 'stable', version: '1.0', platform: 'any' };
const BETA = { ...PLACE, channel: 'beta' };
const PATH = ['shop', 'stable', '1.0', 'any', 'package.tar.gz'];
const TEXTS = { manifest: '{}', signature: 'eA==' };
const LIMITS = { bytes: 1 << 30, keepFree: 1 };
const MIB = 1024 * 1024;

describe('release store in MongoDB', function () {
  let server: string;
  let db: Db;
  let client: MongoClient;
  let url: string;
  let stores: GridFsReleaseStore[];
  before(async function () {
    server = (await findMongoUrl()) ?? '';
    if (server !== '') return;
    process.stdout.write(`  ${NO_MONGODB_MESSAGE}\n`);
    this.skip();
  });
  beforeEach(async () => {
    const own = new URL(server);
    own.pathname = `/aos_gridfs_${randomBytes(4).toString('hex')}`;
    url = own.href;
    client = new MongoClient(url);
    db = client.db(own.pathname.slice(1));
    stores = [];
  });
  afterEach(async () => {
    if (client === undefined) return;
    await Promise.all(stores.map((store) => store.close()));
    await db.dropDatabase();
    await client.close();
  });
  /** A process of its own. */
  const open = (keepMs?: number, at = url): GridFsReleaseStore => {
    const store = new GridFsReleaseStore({ url: at, unpackFiles: true }, new ThreadPackageReader(), keepMs);
    stores.push(store);
    return store;
  };
  const put = async (store: GridFsReleaseStore, place: ReleaseLocation, bytes: Uint8Array): Promise<void> =>
    store.packages.put((await store.packages.stage(splitChunks(bytes), LIMITS)).id, place, TEXTS);
  const counts = async (): Promise<Record<string, number>> => {
    const names = ['files', 'chunks', 'marks', 'folders'];
    const found = await Promise.all(names.map((name) => db.collection(`releases.${name}`).countDocuments()));
    return Object.fromEntries(names.map((name, i) => [name, found[i] ?? 0]));
  };
  const bytesOf = async (file: StoredFile | null): Promise<Buffer> => {
    const pieces: Uint8Array[] = [];
    for await (const piece of file?.read(0, file.size) ?? []) pieces.push(piece);
    return Buffer.concat(pieces);
  };

  releaseStoreContract('gridfs', async () => open());
  releaseFilesContract(
    'gridfs',
    async () => open(),
    async () => {
      const files = await db
        .collection('releases.files')
        .find({ filename: /^[0-9a-f]{64}$/ })
        .toArray();
      const contents = await db.collection('releases.contents').find().toArray();
      const byHash = (docs: readonly object[], key: string, id: string): Record<string, string> =>
        Object.fromEntries(
          (docs as Record<string, unknown>[]).map((doc) => [String(doc[key]), String(doc[id])] as const),
        );
      expect(byHash(files, 'filename', '_id')).to.deep.equal(byHash(contents, '_id', 'file'));
      expect(files).to.have.length(contents.length);
      return contents.map(({ _id }) => String(_id));
    },
    scaleRepeats(4),
  );

  it('leaves nothing behind after an interrupted upload', async () => {
    const store = open();
    const cut = (async function* () {
      yield randomBytes(3 * MIB);
      throw new Error('the sender went away');
    })();
    await getRejection(store.packages.stage(cut, LIMITS));
    expect(await counts()).to.deep.equal({ files: 0, chunks: 0, marks: 0, folders: 0 });
  });

  it('reports when a file was replaced or withdrawn during a request', async () => {
    const store = open();
    await put(store, PLACE, randomBytes(10));
    const old = await store.open(PATH);
    const manifest = await store.open([...PATH.slice(0, -1), 'manifest.json']);
    await put(store, PLACE, randomBytes(9));
    expect(await getRejection(bytesOf(old))).to.be.instanceOf(FileReplaced);
    expect(await getRejection(bytesOf(manifest))).to.be.instanceOf(FileReplaced);
    const current = await store.open(PATH);
    await store.packages.withdraw(PLACE);
    expect(await getRejection(bytesOf(current))).to.be.instanceOf(FileReplaced);
  });

  it('exposes files stored by another process immediately, with the same ETag', async () => {
    const [one, two] = [open(), open()];
    for (const n of [1, 2, 3]) {
      await put(one, PLACE, Buffer.from(`package ${n}`));
      const [here, there] = await Promise.all([one.open(PATH), two.open(PATH)]);
      expect(there?.tag).to.equal(here?.tag);
      expect((await bytesOf(there)).toString()).to.equal(`package ${n}`);
      await one.access.write('shop', '.htpasswd', `line ${n}`);
      expect(await two.access.read('shop', '.htpasswd')).to.equal(`line ${n}`);
    }
    await two.packages.withdraw(PLACE);
    expect(await one.open(PATH)).to.equal(null);
  });

  it('publishes package, signature and manifest atomically, including for concurrent readers', async () => {
    const [writer, reader] = [open(), open()];
    const publish = async (n: number): Promise<void> => {
      const { id } = await writer.packages.stage(splitChunks(Buffer.from(`package ${n}`)), LIMITS);
      await writer.packages.put(id, PLACE, { manifest: `manifest ${n}`, signature: `signature ${n}` });
    };
    await publish(0);
    let published = 0;
    const publishing = (async () => {
      while (published < 20) await publish(++published);
    })();
    const last = (): boolean => published >= 20;
    let looks = 0;
    for (; !last(); looks++) {
      const held = await reader.packages.readPackageInfo(PLACE);
      const n = /\d+/.exec(held?.texts?.manifest ?? '')?.[0];
      expect(held?.texts?.signature).to.equal(`signature ${n}`);
      expect(held?.sha256).to.equal(createHash('sha256').update(`package ${n}`).digest('hex'));
    }
    await publishing;
    expect(looks).to.be.above(0);
  });

  it('stores a promoted package once, until its last channel is removed', async () => {
    const store = open(0);
    await put(store, PLACE, randomBytes(MIB));
    expect(await store.packages.link(PLACE, BETA, TEXTS)).to.equal(true);
    expect(await counts()).to.include({ files: 1, chunks: 4 });
    await store.packages.withdraw(PLACE);
    expect(await store.packages.sweep()).to.deep.equal({ removed: 0, damaged: [] });
    expect((await store.packages.readPackageInfo(BETA))?.size).to.equal(MIB);
    await store.packages.withdraw(BETA);
    expect(await counts()).to.include({ files: 0, chunks: 0, marks: 0 });
    expect((await store.packages.sweep()).removed).to.equal(0);
  });

  it('removes the bytes of a withdrawn release immediately, even during a download', async () => {
    const store = open();
    await put(store, PLACE, randomBytes(8 * MIB));
    const reading = (await store.open(PATH)) as StoredFile;
    const read = async (): Promise<void> => {
      let pieces = 0;
      for await (const _piece of reading.read(0, reading.size))
        if (pieces++ === 0) await store.packages.withdraw(PLACE);
    };
    expect(await getRejection(read())).to.be.instanceOf(FileReplaced);
    expect(await store.open(PATH)).to.equal(null);
    expect(await counts()).to.deep.equal({ files: 0, chunks: 0, marks: 0, folders: 1 });
  });

  it('removes the remains of an interrupted withdrawal in the next sweep', async () => {
    const store = open();
    await put(store, PLACE, randomBytes(MIB));
    const { _id: file } = (await db.collection('releases.files').findOne({})) ?? expect.fail('it is there');
    // As a process leaves it that ends between the mark and the bytes.
    await db.collection('releases.marks').insertOne({ _id: file, state: 'retired', at: new Date(0) });
    expect((await store.packages.sweep()).removed).to.equal(0);
    expect((await bytesOf(await store.open(PATH))).length).to.equal(MIB);
    await db.collection('releases.marks').insertOne({ _id: file, state: 'retired', at: new Date(0) });
    await db.collection('releases.folders').deleteOne({ kind: 'place' });
    expect((await store.packages.sweep()).removed).to.equal(1);
    expect(await counts()).to.include({ files: 0, chunks: 0, marks: 0 });
  });

  it('removes replaced files when no reader can still use them', async () => {
    const [store, later] = [open(), open(0)];
    const first = randomBytes(2 * MIB);
    await put(store, PLACE, first);
    const reading = (await store.open(PATH)) as StoredFile;
    const pieces: Uint8Array[] = [];
    for await (const piece of reading.read(0, reading.size)) {
      if (pieces.length === 0) {
        await put(store, PLACE, randomBytes(10));
        expect((await store.packages.sweep()).removed).to.equal(0);
      }
      pieces.push(piece);
    }
    expect(Buffer.concat(pieces).equals(first)).to.equal(true);
    expect((await later.packages.sweep()).removed).to.equal(1);
    expect(await counts()).to.include({ files: 1, chunks: 1, marks: 0 });
  });

  it('finds and removes orphaned chunks and files', async () => {
    const store = open(0);
    await put(store, PLACE, randomBytes(10));
    const orphan = (n: number): object => ({ files_id: new ObjectId(), n, data: Buffer.alloc(10) });
    await db.collection('releases.chunks').insertMany([orphan(57), orphan(0)]);
    await db.collection('releases.files').insertOne({ _id: new ObjectId(), length: 0 });
    // Marked by one look, removed by the next, since an upload may be older than its mark is read.
    expect((await store.packages.sweep()).removed).to.equal(0);
    expect((await store.packages.sweep()).removed).to.equal(3);
    expect(await counts()).to.include({ files: 1, chunks: 1, marks: 0 });
    expect((await bytesOf(await store.open(PATH))).length).to.equal(10);
  });

  it('does not remove an upload that arrives during the sweep', async () => {
    const store = open(0);
    const bytes = randomBytes(5 * MIB);
    const slow = (async function* () {
      for await (const piece of splitChunks(bytes, MIB)) {
        yield piece;
        await store.packages.sweep();
      }
    })();
    const { id } = await store.packages.stage(slow, LIMITS);
    await store.packages.sweep();
    await store.packages.put(id, PLACE, TEXTS);
    await store.packages.sweep();
    expect((await bytesOf(await store.open(PATH))).equals(bytes)).to.equal(true);
  });

  it('reports a package with a missing chunk, and does not send it as complete', async () => {
    const store = open();
    await put(store, PLACE, randomBytes(MIB));
    await db.collection('releases.chunks').deleteOne({ n: 2 });
    expect((await store.packages.sweep()).damaged).to.deep.equal([PLACE]);
    expect((await getRejection(bytesOf(await store.open(PATH)))).message).to.match(
      /^chunk 2 of the package \w+ is missing/,
    );
    expect((await getRejection(store.packages.readPackageInfo(PLACE))).message).to.match(/is missing in MongoDB$/);
  });

  it('stores a manifest of any length', async () => {
    const store = open(0);
    const { id } = await store.packages.stage(splitChunks(buildPackage({ a: 'x' })), LIMITS);
    const manifest = `{"names":"${'ü😀'.repeat(1_500_000)}"}`;
    await store.packages.put(id, PLACE, { manifest, signature: 'eA==' });
    const file = await store.open([...PATH.slice(0, -1), 'manifest.json']);
    expect(file?.size).to.equal(Buffer.byteLength(manifest));
    expect((await bytesOf(file)).toString() === manifest).to.equal(true);
    expect((await store.packages.readPackageInfo(PLACE))?.texts?.manifest === manifest).to.equal(true);
    await store.packages.writeTexts(PLACE, TEXTS);
    expect((await store.packages.sweep()).removed).to.equal(1);
    expect(await counts()).to.include({ files: 1, marks: 0 });
  });

  it('stores and returns 120 MiB with less memory than that', async () => {
    const store = open();
    const piece = randomBytes(64 * 1024);
    const total = 120 * MIB;
    const sum = createHash('sha256');
    let most = 0;
    const before = process.memoryUsage().rss;
    const look = (): void => void (most = Math.max(most, process.memoryUsage().rss));
    const bytes = (async function* () {
      for (let at = 0; at < total; at += piece.length) {
        piece.writeUInt32LE(at);
        sum.update(piece);
        yield Buffer.from(piece);
        look();
      }
    })();
    const staged = await store.packages.stage(bytes, LIMITS);
    expect(staged).to.include({ size: total, sha256: sum.digest('hex') });
    await store.packages.put(staged.id, PLACE, TEXTS);
    const file = (await store.open(PATH)) as StoredFile;
    let read = 0;
    for await (const part of file.read(0, file.size)) {
      read += part.length;
      look();
    }
    expect(read).to.equal(total);
    process.stdout.write(`      ${Math.round((most - before) / MIB)} MiB more than before\n`);
    expect(most - before).to.be.below(total);
  });

  it('continues after a disconnect, without staging interrupted uploads', async () => {
    const direct = new URL(url);
    const proxy = await TcpProxy.startBefore({ host: direct.hostname, port: Number(direct.port) });
    try {
      const through = new URL(url);
      through.host = `127.0.0.1:${proxy.port}`;
      through.search = '?directConnection=true&serverSelectionTimeoutMS=500&connectTimeoutMS=500';
      const store = open(0, through.href);
      await put(store, PLACE, Buffer.from('before'));
      const cut = (async function* () {
        yield randomBytes(2 * MIB);
        proxy.rejectConnections();
        yield randomBytes(2 * MIB);
      })();
      expect(await getRejection(store.packages.stage(cut, LIMITS))).to.be.instanceOf(StoreUnavailable);
      proxy.restore();
      const other = open(0);
      expect((await bytesOf(await other.open(PATH))).toString()).to.equal('before');
      // Pieces that were on their way may arrive after the mark has gone.
      await waitUntil('nothing is left of it', async () => {
        for (const { id } of await other.packages.listStaged()) await other.packages.discard(id);
        await other.packages.sweep();
        const { chunks, marks } = await counts();
        return chunks === 1 && marks === 0;
      });
    } finally {
      proxy.restore();
      await proxy.close();
    }
  });
});
