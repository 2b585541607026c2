/**
 * Attempts against real receivers: what goes out, and what every kind of answer leads to (contract
 * 70, delivery).
 */
import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { RATE_EXCEEDED, type RateExceeded } from '../../../../ports/domain/bugs.js';
import { waitUntil } from '../../../harness.js';
import { Receiver, status } from '../receiver.js';
import { memoryFixture, type Fixture } from '../fixture.js';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const hmac = (text: string, key: string | Buffer, as: 'hex' | 'base64'): string =>
  createHmac('sha256', key).update(text).digest(as);

describe('webhook deliveries', function () {
  let fixture: Fixture;
  const receivers: Receiver[] = [];
  const receiver = async (answer?: Receiver['answer']): Promise<Receiver> => {
    const made = await Receiver.open(answer);
    receivers.push(made);
    return made;
  };

  beforeEach(async () => {
    fixture = await memoryFixture();
  });
  afterEach(async () => {
    await Promise.all(receivers.splice(0).map((one) => one.close()));
    await fixture.close();
  });

  const ended = async (): Promise<void> => {
    await fixture.workers.waitUntilIdle();
  };

  it('sends the payload with every header of the contract, verifiable with both schemes', async () => {
    const to = await receiver(status(200, {}, 'thank you'));
    const hook = await fixture.hook(to.url, { secret: SECRET });
    const earliest = Math.floor(Date.now() / 1000);
    const id = await fixture.emit({ project_slug: 'shop', data: { ref: 'shop-1', title: 'ü' } });
    await ended();
    expect(to.got).to.have.length(1);
    const { headers = {}, body = '' } = to.got[0] ?? {};
    expect(JSON.parse(body)).to.include({ id, event: 'bug.created', project_slug: 'shop' });
    expect(headers['content-type']).to.equal('application/json');
    expect(headers['user-agent']).to.equal('AOS/0.0.0-test');
    expect(headers['x-svc-event']).to.equal('bug.created');
    expect(headers['x-svc-attempt']).to.equal('1');
    const timestamp = headers['x-svc-timestamp'] ?? '';
    expect(Number(timestamp)).to.be.within(earliest, Date.now() / 1000);
    expect(headers['x-svc-signature']).to.equal(`sha256=${hmac(`${timestamp}.${body}`, SECRET, 'hex')}`);
    expect(headers).to.include({ 'webhook-id': id, 'webhook-timestamp': timestamp });
    const key = Buffer.from(SECRET.slice(6), 'base64');
    expect(headers['webhook-signature']).to.equal(`v1,${hmac(`${id}.${timestamp}.${body}`, key, 'base64')}`);
    const [delivery] = await fixture.deliveries(hook.id);
    expect(delivery).to.include({ id: headers['x-svc-delivery'], state: 'success', made: 1, event_id: id });
    expect(delivery?.attempts[0]).to.include({ attempt: 1, status_code: 200, error: null, excerpt: 'thank you' });
    expect(delivery).to.not.have.any.keys('lease_by', 'next_at');
  });

  it('sends only to enabled webhooks that subscribe to the event, of this project', async () => {
    const to = await receiver();
    const yes = [
      await fixture.hook(to.url),
      await fixture.hook(to.url, { events: 'bug.critical,bug.created' }),
      await fixture.hook(to.url, { project_slug: 'shop' }),
    ];
    await fixture.hook(to.url, { events: 'bug.critical' });
    await fixture.hook(to.url, { project_slug: 'blog' });
    await fixture.hook(to.url, { enabled: false });
    await fixture.emit({ project_slug: 'shop' });
    await ended();
    expect((await fixture.deliveries()).map((d) => d.webhook_id)).to.have.members(yes.map(({ id }) => id));
    await fixture.emit({ project_slug: null });
    await ended();
    expect(await fixture.deliveries(yes[2]?.id ?? '')).to.have.length(1);
  });

  it('sends error.rate_exceeded only to webhooks that select it, with the contract’s fields', async () => {
    const to = await receiver();
    await fixture.hook(to.url, { events: 'error.rate_exceeded', project_slug: 'shop' });
    const data: RateExceeded = { id: 'i', ref: 'shop-1', rule_id: 'r', count: 11, threshold: 10 };
    const id = await fixture.emit({ event: RATE_EXCEEDED.event, project_slug: 'shop', data });
    await fixture.emit({ event: 'bug.created', project_slug: 'shop' });
    await ended();
    expect(to.got).to.have.length(1);
    const { timestamp, ...reported } = JSON.parse(to.got[0]?.body ?? '') as Record<string, unknown>;
    expect(timestamp).to.match(/Z$/);
    const url = 'https://aos.example/bugs/shop-1';
    expect(reported).to.deep.equal({ id, event: 'error.rate_exceeded', project_slug: 'shop', data: { ...data, url } });
  });

  it('creates a single delivery for a repeated event', async () => {
    const to = await receiver();
    await fixture.hook(to.url);
    const id = await fixture.emit();
    await Promise.all([fixture.emit({ id }), fixture.emit({ id }), fixture.emit({ id })]);
    await ended();
    await fixture.turn();
    expect(to.got).to.have.length(1);
    expect(await fixture.deps.events.count()).to.equal(1);
  });

  it('retries a failure with the same ids and the next attempt number', async () => {
    const to = await receiver(status(500, {}, 'broken'));
    const hook = await fixture.hook(to.url);
    const id = await fixture.emit();
    await ended();
    let [delivery] = await fixture.deliveries(hook.id);
    expect(delivery).to.include({ state: 'retrying', made: 1, counted: true });
    expect(delivery?.attempts[0]).to.include({ status_code: 500, error: 'HTTP 500', excerpt: 'broken' });
    await fixture.turn();
    expect(to.got, 'not before its time').to.have.length(1);
    to.answer = status(204);
    fixture.clock.advance(10_500);
    await fixture.turn();
    expect(to.got).to.have.length(2);
    const [first, second] = to.got;
    expect(second?.headers['x-svc-attempt']).to.equal('2');
    expect(second?.headers['x-svc-delivery']).to.equal(first?.headers['x-svc-delivery']);
    expect(second?.headers['webhook-id']).to.equal(id);
    expect(second?.body).to.equal(first?.body);
    expect(Number(second?.headers['x-svc-timestamp'])).to.be.greaterThan(Number(first?.headers['x-svc-timestamp']));
    [delivery] = await fixture.deliveries(hook.id);
    expect(delivery).to.include({ state: 'success', made: 2 });
  });

  it('gives up after nine attempts', async () => {
    const to = await receiver(status(500));
    const hook = await fixture.hook(to.url);
    await fixture.emit();
    await ended();
    for (let i = 0; i < 12; i++) {
      fixture.clock.advance(13 * 3_600_000);
      await fixture.turn();
    }
    expect(to.got).to.have.length(9);
    expect((await fixture.deliveries(hook.id))[0]).to.include({ state: 'exhausted', made: 9 });
    expect((await fixture.deps.webhooks.get(hook.id))?.failures, 'counted once').to.equal(1);
  });

  const outcomes: [string, Receiver['answer'], RegExp, number | null, string][] = [
    ['a redirect', status(302, { location: 'http://127.0.0.1:1/' }), /^HTTP 302: redirects/, 302, 'retrying'],
    ['410', status(410), /^HTTP 410$/, 410, 'exhausted'],
    ['a reset', ({ response }) => response.socket?.resetAndDestroy(), /^reset: /, null, 'retrying'],
    ['no HTTP', ({ response }) => response.socket?.end('hello\r\n\r\n'), /^reset: /, null, 'retrying'],
  ];
  for (const [what, answer, error, code, state] of outcomes) {
    it(`treats ${what} as a failure`, async () => {
      const to = await receiver(answer);
      const hook = await fixture.hook(to.url);
      await fixture.emit();
      await ended();
      const [delivery] = await fixture.deliveries(hook.id);
      expect(delivery?.state).to.equal(state);
      expect(delivery?.attempts[0]?.error).to.match(error);
      expect(delivery?.attempts[0]?.status_code).to.equal(code);
      expect(to.got).to.have.length(1);
    });
  }

  it('reads 64 KiB of an endless body and stores 2 KiB', async () => {
    let sent = 0;
    const to = await receiver(({ response }) => {
      response.writeHead(200);
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(16_384))) sent += 16_384;
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    const hook = await fixture.hook(to.url);
    await fixture.emit();
    await ended();
    const [delivery] = await fixture.deliveries(hook.id);
    expect(delivery?.state).to.equal('success');
    expect(delivery?.attempts[0]?.excerpt).to.have.length(2_048);
    expect(sent).to.be.lessThan(8 * 1024 * 1024);
  });

  it('fails at the deadline of the whole attempt when a receiver never responds', async () => {
    const to = await receiver(() => undefined);
    fixture.deps.outbound = new (class {
      constructor(private readonly real: typeof fixture.deps.outbound) {}
      checkUrl: typeof fixture.deps.outbound.checkUrl = (url, policy) => this.real.checkUrl(url, policy);
      request: typeof fixture.deps.outbound.request = (request) => {
        expect(request).to.include({ connectTimeoutMs: 5_000, timeoutMs: 15_000, maxBytes: 65_536 });
        return this.real.request({ ...request, timeoutMs: 200 });
      };
    })(fixture.deps.outbound);
    const hook = await fixture.hook(to.url);
    await fixture.emit();
    await ended();
    expect((await fixture.deliveries(hook.id))[0]?.attempts[0]?.error).to.match(/^timeout: /);
  });

  it('verifies TLS certificates', async () => {
    const to = await receiver();
    const hook = await fixture.hook(to.url.replace('http:', 'https:'));
    await fixture.emit();
    await ended();
    expect((await fixture.deliveries(hook.id))[0]?.attempts[0]?.error).to.match(/^tls: /);
  });

  it('waits for the Retry-After of a 503', async () => {
    const to = await receiver(status(503, { 'retry-after': '100' }));
    const hook = await fixture.hook(to.url);
    await fixture.emit();
    await ended();
    const [delivery] = await fixture.deliveries(hook.id);
    const wait = Date.parse(delivery?.next_at ?? '') - Date.parse(delivery?.attempts[0]?.at ?? '');
    expect(wait).to.be.within(100_000, 101_000);
  });

  it('blocks a delivery to a forbidden address without retrying or counting it', async () => {
    await fixture.close();
    fixture = await memoryFixture({ outbound: { resolve: async () => [{ address: '169.254.169.254', family: 4 }] } });
    const hook = await fixture.hook('http://metadata.example.test/');
    await fixture.emit();
    await ended();
    const [delivery] = await fixture.deliveries(hook.id);
    expect(delivery).to.include({ state: 'blocked', made: 1, counted: false });
    expect(delivery).to.not.have.property('next_at');
    expect((await fixture.deps.webhooks.get(hook.id))?.failures).to.equal(0);
  });

  it('signs with security.webhook_key when the webhook has no secret', async () => {
    await fixture.close();
    fixture = await memoryFixture({ change: { webhook_key: 'the-key-of-the-service' } });
    const to = await receiver();
    await fixture.hook(to.url, { secret: null });
    await fixture.emit();
    await ended();
    const { headers = {}, body = '' } = to.got[0] ?? {};
    const signed = `${headers['x-svc-timestamp']}.${body}`;
    expect(headers['x-svc-signature']).to.equal(`sha256=${hmac(signed, 'the-key-of-the-service', 'hex')}`);
  });

  it('responds to the producer before any receiver has responded', async () => {
    const to = await receiver(() => undefined);
    await fixture.hook(to.url);
    // No receiver ever answers: a producer that waited for one would wait longer than this test may
    // take.
    for (let i = 0; i < 20; i++) await fixture.emit();
    await waitUntil('the first attempt', () => to.got.length === 1);
    fixture.clock.advance(9_000);
    await waitUntil(
      'rows of what waits',
      async () => (await fixture.deps.deliveries.count({ state: 'pending' })) === 20,
    );
  });

  it('processes a backlog in a single worker, each delivery once', async () => {
    const to = await receiver();
    let under = 0;
    let most = 0;
    to.answer = ({ response }) => {
      most = Math.max(most, ++under);
      setImmediate(() => {
        under -= 1;
        response.writeHead(204).end();
      });
    };
    const hook = await fixture.hook(to.url);
    await Promise.all(Array.from({ length: 100 }, () => fixture.emit()));
    await waitUntil('all delivered', () => to.got.length === 100);
    await fixture.turn();
    expect(to.got).to.have.length(100);
    expect(most, 'one attempt at a time').to.equal(1);
    expect((await fixture.deliveries(hook.id)).every((d) => d.state === 'success')).to.equal(true);
  });
});
