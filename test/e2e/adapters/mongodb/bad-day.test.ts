/**
 * The store behind a line that is cut, held, refused and slow, under load (contract 95, a bad day):
 * every call ends, nothing that was acknowledged is lost, and the store serves again by itself.
 */
import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import type { ConnectionState } from '../../../../adapters/mongodb/connection-logger.js';
import { MongoStore } from '../../../../adapters/mongodb/store.js';
import { StoreUnavailable } from '../../../../ports/store/index.js';
import { waitUntil } from '../../../harness.js';
import { findMongoUrl } from '../../../support/mongo/server.js';
import { TcpProxy } from '../../../support/tcp-proxy.js';

interface Row {
  id: string;
  [field: string]: unknown;
}

const WRITERS = 24;
const ROUNDS = 50;
const TIMES = { operation: 1_000, ping: 100, rebuild: 2_000, giveUp: 4_000 };

describe('mongodb: connection faults', function () {
  let direct: URL;
  let proxy: TcpProxy;
  let store: MongoStore;
  let states: ConnectionState[];
  before(async function () {
    direct = new URL((await findMongoUrl()) ?? this.skip());
    direct.pathname = `/aos_bad_day_${randomBytes(4).toString('hex')}`;
  });
  beforeEach(async () => {
    proxy = await TcpProxy.startBefore({ host: direct.hostname, port: Number(direct.port) });
    const url = new URL(direct);
    url.host = `127.0.0.1:${proxy.port}`;
    url.search = '?directConnection=true&serverSelectionTimeoutMS=500&heartbeatFrequencyMS=500&connectTimeoutMS=500';
    states = [];
    // While it is away each ping tells so.
    const tell = (state: ConnectionState): void => void (state === states.at(-1) || states.push(state));
    // On a busy machine a first connection may exceed its short time limits.
    await waitUntil('the store connects', async () => {
      store = new MongoStore({ url: url.href, times: TIMES, tell });
      const isConnected = await store.connect().then(
        () => true,
        () => false,
      );
      if (!isConnected) await store.close();
      return isConnected;
    });
    states.length = 0;
  });
  afterEach(async () => {
    proxy?.restore();
    await store?.close();
    await proxy?.close();
    if (direct === undefined) return;
    const client = await new MongoClient(direct.href).connect();
    await client.db().dropDatabase();
    await client.close();
  });

  it('recovers from 50 disconnects, stalls, errors and delays under 24 writers, without losing writes', async () => {
    const rows = store.collection<Row>('rows');
    const acknowledged: string[] = [];
    const wrong: unknown[] = [];
    const done: number[] = Array.from({ length: WRITERS }, () => 0);
    const ending = new AbortController();
    const write = async (writer: number): Promise<void> => {
      for (let n = 0; !ending.signal.aborted; n++) {
        const id = `${writer}-${n}`;
        try {
          await rows.insert({ id, text: 'x'.repeat(2_000) });
          acknowledged.push(id);
          done[writer] = (done[writer] ?? 0) + 1;
        } catch (error) {
          if (!(error instanceof StoreUnavailable)) wrong.push(error);
          await new Promise(setImmediate);
        }
      }
    };
    const writers = Array.from({ length: WRITERS }, (_, i) => write(i));
    const allWrite = async (): Promise<void> => {
      const before = [...done];
      await waitUntil('each writer writes', () => done.every((n, i) => n > (before[i] ?? 0)));
    };
    const bad = [
      () => proxy.resetConnections(),
      () => proxy.holdData(),
      () => proxy.rejectConnections(),
      () => proxy.setDelay(20),
    ];
    for (let round = 0; round < ROUNDS; round++) {
      await allWrite();
      const kind = round % bad.length;
      bad[kind]?.();
      // What is held or refused is seen by a deadline, or is over before: both are tried. What is
      // late is served all the same.
      if (kind === 3) await allWrite();
      else if (kind > 0 && round % 8 < 4) await waitUntil('it is noticed', () => states.at(-1) === 'away');
      proxy.restore();
    }
    await allWrite();
    ending.abort();
    await Promise.all(writers);
    expect(wrong).to.deep.equal([]);
    expect(states).not.to.include('lost');
    const client = await new MongoClient(direct.href).connect();
    const kept = new Set((await client.db().collection('rows').distinct('_id')).map(String));
    await client.close();
    expect(acknowledged.filter((id) => !kept.has(id))).to.deep.equal([]);
  });

  it('fails immediately without a server, and recovers with the first successful ping', async () => {
    const rows = store.collection<Row>('rows');
    await rows.insert({ id: 'a' });
    proxy.rejectConnections();
    await waitUntil('it is away', async () => {
      await rows.get('a').catch(() => null);
      return states.includes('away');
    });
    // Not one of them asks the driver, which would wait half a second for a server.
    const before = proxy.connections;
    const rejected = await Promise.allSettled(Array.from({ length: 1_000 }, () => rows.get('a')));
    expect(rejected.every(({ status }) => status === 'rejected')).to.equal(true);
    expect(proxy.connections).to.equal(before);
    proxy.restore();
    await waitUntil('it is back', () => states.at(-1) === 'connected');
    expect(await rows.get('a')).to.deep.equal({ id: 'a' });
  });

  it('replaces a client that gets no response, and fails when the new client gets none either', async () => {
    const rows = store.collection<Row>('rows');
    proxy.holdData();
    const error = await rows.get('a').then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(StoreUnavailable);
    await waitUntil('it is lost', () => states.includes('lost'));
    expect([...new Set(states)]).to.deep.equal(['away', 'replaced', 'lost']);
    proxy.restore();
    await waitUntil('it is back', () => states.at(-1) === 'connected');
  });

  it('aborts operations without a deadline when concurrent pings get no response', async () => {
    proxy.holdData();
    const error = await store.ensure([{ name: 'rows', indexes: [{ fields: ['text'] }] }]).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(StoreUnavailable);
    proxy.restore();
    await waitUntil('it is made', () =>
      store.ensure([{ name: 'rows', indexes: [{ fields: ['text'] }] }]).then(
        () => true,
        () => false,
      ),
    );
  });
});
