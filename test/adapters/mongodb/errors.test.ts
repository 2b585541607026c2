/** What the driver throws, in the port's words; and a server that is not there (contract 00, limits). */
import {
  MongoBulkWriteError,
  MongoNetworkError,
  MongoServerError,
  type BulkWriteResult,
  type WriteError,
} from 'mongodb';
import { expect } from 'chai';
import { translated } from '../../../adapters/mongodb/errors.js';
import { MongoStore } from '../../../adapters/mongodb/store.js';
import { StoreConflict, StoreFull, StoreUnavailable } from '../../../ports/store.js';

const server = (code: number): MongoServerError => new MongoServerError({ message: 'no', code });

describe('mongodb: errors', () => {
  it('are the port’s own', () => {
    expect(translated(new MongoServerError({ message: 'dup key', code: 11000, keyPattern: { ref: 1 } })))
      .to.be.instanceOf(StoreConflict)
      .and.to.have.property('index', 'ref');
    expect(translated(server(14))).to.be.instanceOf(TypeError);
    for (const code of [91, 64, 189, 262, 10107, 11600, 13435])
      expect(translated(server(code))).to.be.instanceOf(StoreUnavailable);
    expect(translated(new MongoNetworkError('connection closed'))).to.be.instanceOf(StoreUnavailable);
    for (const code of ['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED'])
      expect(translated(Object.assign(new Error('write'), { code }))).to.be.instanceOf(StoreUnavailable);
  });

  it('say that the disk below the server is full, or its quota used up, whatever the code is', () => {
    for (const code of [14031, 12501]) expect(translated(server(code))).to.be.instanceOf(StoreFull);
    for (const message of [
      'WT_SESSION.commit_transaction: 28: No space left on device',
      'you are over your space quota, using 513 MB of 512 MB',
    ])
      expect(translated(new MongoServerError({ message, code: 8 }))).to.be.instanceOf(StoreFull);
  });

  it('say of a bulk what is worse than a conflict', () => {
    const bulk = (codes: readonly number[]): unknown =>
      translated(
        new MongoBulkWriteError(
          { message: 'write failed', code: codes[0] ?? 0, writeErrors: codes.map((code) => ({ code }) as WriteError) },
          {} as BulkWriteResult,
        ),
      );
    expect(bulk([11000, 14031])).to.be.instanceOf(StoreFull);
    expect(bulk([11000, 91])).to.be.instanceOf(StoreUnavailable);
    expect(bulk([11000])).to.be.instanceOf(StoreConflict);
  });

  it('say of a client that was replaced that the store is away', () => {
    for (const name of ['MongoClientClosedError', 'MongoExpiredSessionError', 'MongoStalePrimaryError']) {
      const error = Object.defineProperty(new MongoNetworkError('closed'), 'name', { value: name });
      expect(translated(error)).to.be.instanceOf(StoreUnavailable);
    }
  });

  it('keep what the port has no word for, and what is not the driver’s', () => {
    for (const error of [server(1), new Error('x'), new TypeError('y')]) expect(translated(error)).to.equal(error);
  });

  it('say of a server that went that it is away, for every kind of call', async () => {
    const store = new MongoStore({ url: 'mongodb://127.0.0.1:1/x?serverSelectionTimeoutMS=50' });
    const notes = store.collection('notes');
    const calls: (() => Promise<unknown>)[] = [
      () => notes.get('a'),
      () => notes.find(),
      () => notes.count(),
      () => notes.groupCount('x'),
      () => notes.insert({ id: 'a' }),
      () => notes.change({ id: 'a' }, { set: { x: 1 } }),
      () => notes.changeMany({}, { set: { x: 1 } }),
      () => notes.remove({ id: 'a' }),
      () => notes.bulk([{ insert: { id: 'a' } }]),
      () => notes.bulk([{ remove: { id: 'a' } }]),
    ];
    for (const call of calls) {
      const error = await call().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error, String(call)).to.be.instanceOf(StoreUnavailable);
    }
    await store.close();
  });
});
