/** Pieces that an earlier version stored as text become bytes, and their maps go on working. */
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import type { MigrationContext } from '../../../kernel/contract/index.js';
import { COLLECTIONS } from '../../../plugins/sourcemaps/model.js';
import plugin from '../../../plugins/sourcemaps/plugin.js';
import { ManualClock } from '../../kit/clock.js';
import { FakeIds, RecordingLog } from '../../kit/fakes.js';
import type { Doc } from '../../../ports/store/index.js';

interface Stored extends Doc {
  data: string | Uint8Array;
}

describe('source maps: migration of chunks', () => {
  it('converts base64 into the same bytes and is idempotent', async () => {
    const store = new MemoryStore();
    const contents = Array.from({ length: 45 }, (_, n) => Buffer.from([n, 0, 255, n + 1]));
    for (const [n, bytes] of contents.entries())
      for (const name of ['chunks', 'pieces'])
        await store.collection<Stored>(name).insert({ id: `shop:${n}`, data: bytes.toString('base64') });
    await store.ensure(COLLECTIONS);
    const ctx: MigrationContext = {
      collection: (name) => store.collection(name),
      clock: new ManualClock(0),
      ids: new FakeIds(),
      log: new RecordingLog(),
    };
    const migration = plugin.migrations?.find(({ name }) => name === 'store-maps-as-bytes');
    for (const _ of [1, 2]) await migration?.run(ctx);
    for (const name of ['chunks', 'pieces'])
      for (const [n, bytes] of contents.entries()) {
        const data = (await store.collection<Stored>(name).get(`shop:${n}`))?.data;
        expect(data).to.be.instanceOf(Uint8Array);
        expect([...(data as Uint8Array)]).to.deep.equal([...bytes]);
      }
  });
});
