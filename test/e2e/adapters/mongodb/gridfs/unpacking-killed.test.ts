/** Files of releases in GridFS after kill -9: the next check completes what is missing. */
import { expect } from 'chai';
import { MongoClient, type Db } from 'mongodb';
import { ThreadPackageReader } from '../../../../../adapters/fs/package-reader.js';
import { GridFsReleaseStore } from '../../../../../adapters/mongodb/gridfs/release-store.js';
import { updateAllFiles } from '../../../../kit/contracts/release-files.js';
import { createDatabaseUrl } from '../../../../support/mongo/databases.js';
import { findMongoUrl, NO_MONGODB_MESSAGE } from '../../../../support/mongo/server.js';
import { runUntilKilled } from '../../fs/unpacking-runs.js';

const MAX_DELAY_MS = 600;

describe('files of releases in GridFS after kill -9', () => {
  let client: MongoClient;
  let url: string;
  let db: Db;
  before(async function () {
    const server = await findMongoUrl();
    if (server === null) {
      process.stdout.write(`  ${NO_MONGODB_MESSAGE}\n`);
      this.skip();
    }
    url = createDatabaseUrl(server);
    client = new MongoClient(url);
    db = client.db();
  });
  after(() => client?.close());
  afterEach(() => db?.dropDatabase());

  for (const line of ['put 2', 'withdraw 3', 'put 4']) {
    const ms = Math.floor(Math.random() * MAX_DELAY_MS);
    it(`are complete after a check, and have no others, when killed ${ms} ms after "${line}"`, async () => {
      await runUntilKilled(url, line, ms);
      const store = new GridFsReleaseStore({ url, unpackFiles: true }, new ThreadPackageReader());
      try {
        // As after 15 minutes: uploads of the killed process.
        for (const { id } of await store.packages.listStaged()) await store.packages.discard(id);
        await updateAllFiles(store);
        const listed = new Set<string>();
        for await (const place of store.packages.iterateLocations()) {
          const { product, channel, version, platform } = place;
          const manifest = (await store.packages.readPackageInfo(place))?.texts?.manifest ?? '{"files":[]}';
          for (const { sha256, size } of (JSON.parse(manifest) as { files: { sha256: string; size: number }[] })
            .files) {
            listed.add(sha256);
            const file = await store.open([product, channel, version, platform, 'files', sha256]);
            expect(file?.size).to.equal(size);
          }
        }
        const contents = await db.collection('releases.contents').find().toArray();
        expect(contents.map(({ _id }) => String(_id))).to.have.members([...listed]);
        const files = await db
          .collection('releases.files')
          .find({ filename: /^[0-9a-f]{64}$/ })
          .toArray();
        const retired = await db.collection('releases.marks').find({ state: 'retired' }).toArray();
        const kept = files.filter(({ _id }) => !retired.some((mark) => String(mark._id) === String(_id)));
        expect(kept.map(({ filename }) => String(filename))).to.have.members([...listed]);
      } finally {
        await store.close();
      }
    });
  }
});
