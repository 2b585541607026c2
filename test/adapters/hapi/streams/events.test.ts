import { expect } from 'chai';
import { formatEvent } from '../../../../adapters/hapi/streams/event-streams.js';
import {
  EventStreamAnswer,
  type EventStreamOptions,
  type RouteSpec,
  type ServerSentEvent,
} from '../../../../ports/http/index.js';
import { waitUntil } from '../../../harness.js';
import { fakeAuthenticator, TestServer, type RawConnection } from '../support.js';

describe('hapi: server-sent events', function () {
  it('are formatted as browsers parse them', () => {
    const table: [ServerSentEvent, string][] = [
      [{ data: 'a' }, 'data: a\n\n'],
      [{ data: { a: 'x\ny' } }, 'data: {"a":"x\\ny"}\n\n'],
      [
        { event: 'change', id: '7', data: 'a\nb\r\nc\rd' },
        'id: 7\nevent: change\ndata: a\ndata: b\ndata: c\ndata: d\n\n',
      ],
      [{ event: 'x\ndata: y', id: 'a\r\n\0b', data: '' }, 'id: a   b\nevent: x data: y\ndata: \n\n'],
    ];
    for (const [event, expected] of table) expect(formatEvent(event)).to.equal(expected);
  });

  let test: TestServer;
  /** Of this test alone: streams of an earlier one may still be ending. */
  let sources = { ended: 0 };
  let living = true;
  let queue: ServerSentEvent[] = [];

  /** What is in the queue, until nobody listens any longer. */
  async function* events(signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
    const own = sources;
    try {
      while (!signal.aborted) {
        const next = queue.shift();
        if (next) yield next;
        else await new Promise((resolve) => setTimeout(resolve, 5));
      }
    } finally {
      own.ended++;
    }
  }
  const route = (path: string, options: EventStreamOptions, more: Partial<RouteSpec> = {}): RouteSpec => ({
    method: 'GET',
    path: `/events/${path}`,
    summary: 'test',
    access: { session: 'member' },
    handle: () => new EventStreamAnswer(events, options).header('x-own', 'yes'),
    ...more,
  });
  beforeEach(async () => {
    sources = { ended: 0 };
    living = true;
    queue = [];
    test = await TestServer.create(
      {
        routes: [
          route('all', { heartbeatSeconds: 0.05 }),
          route('watched', { alive: async () => living, aliveEverySeconds: 0.05 }),
          route('unsure', { alive: () => Promise.reject(new Error('the store is down')), aliveEverySeconds: 0.05 }),
          route(
            'few',
            {},
            {
              handle: () =>
                new EventStreamAnswer(async function* () {
                  yield { data: 'only' };
                }),
            },
          ),
          route(
            'broken',
            {},
            {
              handle: () =>
                new EventStreamAnswer(async function* () {
                  yield { data: 'first' };
                  throw new Error('no more');
                }),
            },
          ),
        ],
      },
      { maxEventStreams: 2 },
    );
    await test.start();
  });
  afterEach(() => test.stop());

  const listen = async (path: string, role = 'member'): Promise<RawConnection> => {
    const client = test.connect();
    await client.write(`GET /events/${path} HTTP/1.1\r\nHost: a\r\nCookie: svc_session=session-${role}\r\n\r\n`);
    await client.until(({ received }) => received.includes('\r\n\r\n'));
    return client;
  };

  it('arrive in order, with a heartbeat in between', async () => {
    const client = await listen('all');
    expect(client.received).to.match(/^HTTP\/1\.1 200 /);
    expect(client.received.toLowerCase()).to.contain('content-type: text/event-stream').and.to.contain('x-own: yes');
    expect(client.received.toLowerCase()).to.contain('cache-control: no-store');
    queue.push({ event: 'change', data: { n: 1 } }, { data: 'two' });
    await client.until(({ received }) => received.includes('event: change\ndata: {"n":1}\n\n'));
    await client.until(({ received }) => received.includes('data: two\n\n'));
    await client.until(({ received }) => received.split(': \n\n').length > 3);
    client.close();
    await waitUntil('the source has ended', () => sources.ended === 1);
  });

  it('wait for a slow listener, with or without heartbeats', async () => {
    const client = await listen('all');
    client.socket.pause();
    const all = Array.from({ length: 120 }, (_, i) => ({ id: String(i), data: 'x'.repeat(100_000) }));
    queue.push(...all);
    // Until the kernel's buffers are full and heartbeats have come meanwhile.
    let left = -1;
    await waitUntil('the source waits', async () => {
      const before = left;
      left = queue.length;
      await new Promise((resolve) => setTimeout(resolve, 150));
      return left === before && left < all.length;
    });
    expect(left).to.be.above(0);
    client.socket.resume();
    await client.until(({ received }) => received.length > all.length * 100_000 && received.includes('id: 119\n'));
    expect(client.received.match(/^id: \d+$/gm)).to.have.length(all.length);
    client.close();
  });

  it('require a session, and end with it', async () => {
    const rejected = await test.ask('GET', '/events/watched');
    expect([rejected.status, rejected.code]).to.deep.equal([401, 'unauthorized']);
    const client = await listen('watched');
    living = false;
    await client.until(({ received }) => received.endsWith('0\r\n\r\n'));
    await waitUntil('the source has ended', () => sources.ended === 1);
    const unsure = await listen('unsure');
    await unsure.until(({ received }) => received.endsWith('0\r\n\r\n'));
  });

  it('end with the session on every route: after sign-out, account disabling or a role change', async () => {
    const sessions = new Map<string, 'admin' | 'member' | 'installer'>();
    const own = await TestServer.create(
      { routes: [route('own', { aliveEverySeconds: 0.05 })] },
      {},
      {
        ...fakeAuthenticator,
        authenticateSession: async (cookie) => {
          const role = sessions.get(cookie);
          return role ? { kind: 'session', session_id: cookie, account_id: cookie, username: cookie, role } : null;
        },
      },
    );
    await own.start();
    try {
      for (const then of ['gone', 'installer'] as const) {
        sessions.set('ann', 'member');
        const client = own.connect();
        await client.write('GET /events/own HTTP/1.1\r\nHost: a\r\nCookie: svc_session=ann\r\n\r\n');
        await client.until(({ received }) => received.includes('\r\n\r\n'));
        if (then === 'gone') sessions.delete('ann');
        else sessions.set('ann', then);
        await client.until(({ received }) => received.endsWith('0\r\n\r\n'));
        client.close();
      }
    } finally {
      await own.stop();
    }
  });

  it('end when their source ends, while the connection stays open', async () => {
    const client = await listen('few');
    await client.until(({ received }) => received.includes('data: only\n\n') && received.endsWith('0\r\n\r\n'));
    const broken = await listen('broken');
    await broken.until(({ received }) => received.endsWith('0\r\n\r\n'));
    expect(test.log.lines.map(({ message }) => message)).to.deep.equal(['a stream failed: Error: no more']);
    expect([client.closed, broken.closed]).to.deep.equal([false, false]);
  });

  it('are limited per account', async () => {
    const [first] = [await listen('all'), await listen('watched')];
    const third = await test.ask('GET', '/events/all', { headers: { cookie: 'svc_session=session-member' } });
    expect([third.status, third.code, third.headers['retry-after']]).to.deep.equal([429, 'rate_limited', '30']);
    expect((await listen('all', 'admin')).received).to.match(/^HTTP\/1\.1 200 /);
    first.close();
    await waitUntil('the place is free', async () => {
      const again = await listen('all');
      return again.received.startsWith('HTTP/1.1 200 ');
    });
  });

  it('end immediately when the service stops', async () => {
    const client = await listen('all');
    // A stream that held it up would take all of that, which this test has not.
    await test.stop(600_000);
    await client.until(({ closed }) => closed);
    expect(client.received).to.match(/0\r\n\r\n$/);
    await waitUntil('the source has ended', () => sources.ended === 1);
    await test.start();
  });
});
