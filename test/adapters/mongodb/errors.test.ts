/**
 * What the driver throws, in the port's words; and a server that is not there (contract 00,
 * limits).
 */
import {
  MongoBulkWriteError,
  MongoNetworkError,
  MongoServerError,
  type BulkWriteResult,
  type WriteError,
} from 'mongodb';
import { expect } from 'chai';
import { toStoreError } from '../../../adapters/mongodb/errors.js';
import { MongoStore } from '../../../adapters/mongodb/store.js';
import { StoreConflict, StoreFull, StoreUnavailable } from '../../../ports/store/index.js';

const server = (code: number): MongoServerError => new MongoServerError({ message: 'no', code });

describe('mongodb: errors', () => {
  it('are translated to errors of the port', () => {
    expect(toStoreError(new MongoServerError({ message: 'dup key', code: 11000, keyPattern: { ref: 1 } })))
      .to.be.instanceOf(StoreConflict)
      .and.to.have.property('index', 'ref');
    expect(toStoreError(server(14))).to.be.instanceOf(TypeError);
    for (const code of [91, 64, 189, 262, 10107, 11600, 13435])
      expect(toStoreError(server(code))).to.be.instanceOf(StoreUnavailable);
    expect(toStoreError(new MongoNetworkError('connection closed'))).to.be.instanceOf(StoreUnavailable);
    for (const code of ['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED'])
      expect(toStoreError(Object.assign(new Error('write'), { code }))).to.be.instanceOf(StoreUnavailable);
  });

  it('report a full disk or an exhausted quota, for any code', () => {
    for (const code of [14031, 12501]) expect(toStoreError(server(code))).to.be.instanceOf(StoreFull);
    for (const message of [
      'WT_SESSION.commit_transaction: 28: No space left on device',
      'you are over your space quota, using 513 MB of 512 MB',
    ])
      expect(toStoreError(new MongoServerError({ message, code: 8 }))).to.be.instanceOf(StoreFull);
  });

  it('report the most severe error of a bulk write', () => {
    const bulk = (codes: readonly number[]): unknown =>
      toStoreError(
        new MongoBulkWriteError(
          { message: 'write failed', code: codes[0] ?? 0, writeErrors: codes.map((code) => ({ code }) as WriteError) },
          {} as BulkWriteResult,
        ),
      );
    expect(bulk([11000, 14031])).to.be.instanceOf(StoreFull);
    expect(bulk([11000, 91])).to.be.instanceOf(StoreUnavailable);
    expect(bulk([11000])).to.be.instanceOf(StoreConflict);
  });

  it('report the failure of a replaced client as an unavailable store', () => {
    for (const name of ['MongoClientClosedError', 'MongoExpiredSessionError', 'MongoStalePrimaryError']) {
      const error = Object.defineProperty(new MongoNetworkError('closed'), 'name', { value: name });
      expect(toStoreError(error)).to.be.instanceOf(StoreUnavailable);
    }
  });

  it('preserve errors without an equivalent, and errors from other sources', () => {
    for (const error of [server(1), new Error('x'), new TypeError('y')]) expect(toStoreError(error)).to.equal(error);
  });

  it('report a lost server as an unavailable store, for every kind of call', async () => {
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
