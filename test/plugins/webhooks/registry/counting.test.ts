/** The count to twenty, hold and resume, exactly as contract 70 counts. */
import { expect } from 'chai';
import { Receiver, status } from '../receiver.js';
import { ADMIN, memoryFixture, type Fixture } from '../fixture.js';

const DAY_MS = 24 * 3_600_000;

describe('webhooks disabled automatically', function () {
  let fixture: Fixture;
  let to: Receiver;

  beforeEach(async () => {
    fixture = await memoryFixture();
    to = await Receiver.open(status(500));
  });
  afterEach(async () => {
    await to.close();
    await fixture.close();
  });

  const events = async (n: number): Promise<void> => {
    for (let i = 0; i < n; i++) await fixture.emit();
    await fixture.turn();
  };
  const states = async (id: string): Promise<Record<string, number>> => {
    const all = await fixture.log.countByState(id);
    return Object.fromEntries(Object.entries(all).filter(([, n]) => n > 0));
  };
  const stored = async (id: string) => (await fixture.deps.webhooks.get(id)) ?? expect.fail('no webhook');

  it('are disabled at 20 failed deliveries, not at 19', async () => {
    const { id } = await fixture.hook(to.url);
    await events(19);
    expect(await stored(id)).to.include({ enabled: true, failures: 19, disabled_reason: null });
    await events(1);
    const hook = await stored(id);
    expect(hook).to.include({ enabled: false, failures: 20 });
    expect(hook.disabled_reason).to.equal('20 consecutive deliveries failed. Last error: HTTP 500');
    expect(await states(id)).to.deep.equal({ held: 20 });
    expect((await fixture.log.getHealth())['disabled']).to.deep.equal([
      { id, name: 'receiver', host: `127.0.0.1:${to.port}`, reason: hook.disabled_reason },
    ]);
    expect(fixture.log_lines.messages('warn')).to.deep.equal(['a webhook was disabled automatically']);
    expect(JSON.stringify(fixture.log_lines.lines)).to.not.include('/hook');
  });

  it('are announced once, by the reconciler with the same id after a crash', async () => {
    const { id } = await fixture.hook(to.url);
    const { emit } = fixture.deps;
    const ids: (string | undefined)[] = [];
    fixture.deps.emit = (event, data, options) => {
      ids.push(options?.id);
      return ids.length === 1 ? Promise.resolve(false) : emit(event, data, options);
    };
    await events(20);
    expect(fixture.emitted).to.deep.equal([]);
    await fixture.pause.reconcile();
    const { disabled_reason: reason } = await stored(id);
    expect(fixture.emitted).to.deep.equal([
      { event: 'webhook.disabled', data: { id, name: 'receiver', reason }, id: ids[0] },
    ]);
    expect(ids[0]).to.match(/^evt_/);
    await fixture.pause.reconcile();
    expect(fixture.emitted).to.have.length(1);
  });

  it('count a delivery once, at its first failed attempt', async () => {
    const { id } = await fixture.hook(to.url);
    await events(10);
    for (let i = 0; i < 3; i++) {
      fixture.clock.advance(600_000);
      await fixture.turn();
    }
    expect(to.got.length).to.be.greaterThan(30);
    expect(await stored(id)).to.include({ enabled: true, failures: 10 });
  });

  it('reset the count on any success, including a retry', async () => {
    const { id } = await fixture.hook(to.url);
    await events(19);
    to.answer = ({ response, n }) => response.writeHead(n === 20 ? 204 : 500).end();
    fixture.clock.advance(12_500);
    await fixture.turn();
    expect(await stored(id)).to.include({ enabled: true, failures: 0 });
    to.answer = status(500);
    await events(19);
    expect(await stored(id)).to.include({ enabled: true, failures: 19 });
  });

  it('hold pending deliveries, accept no new events, and resume within a day', async () => {
    const { id } = await fixture.hook(to.url);
    await Promise.all(Array.from({ length: 25 }, () => fixture.emit()));
    await fixture.turn();
    expect(to.got).to.have.length(20);
    expect(await states(id)).to.deep.equal({ held: 25 });
    await fixture.emit();
    expect(await states(id), 'an event that occurs while it is disabled').to.deep.equal({ held: 25 });

    fixture.clock.advance(DAY_MS - 60_000);
    expect(await fixture.registry.enable(ADMIN, id)).to.include({ enabled: true, failures: 0, disabled_reason: null });
    await fixture.turn();
    expect(to.got).to.have.length(45);
    expect(await stored(id), 'five had not counted yet').to.include({ enabled: true, failures: 5, resuming: false });
    expect(await states(id)).to.deep.equal({ retrying: 25 });
  });

  it('expire deliveries that were held for a day', async () => {
    const { id } = await fixture.hook(to.url);
    await events(20);
    fixture.clock.advance(DAY_MS + 1_000);
    await fixture.registry.enable(ADMIN, id);
    await fixture.turn();
    expect(to.got).to.have.length(20);
    expect(await states(id)).to.deep.equal({ expired: 20 });
  });

  it('hold deliveries without a reason when disabled by a user, with healthy status', async () => {
    const { id } = await fixture.hook(to.url);
    await events(2);
    await fixture.registry.disable(ADMIN, id);
    expect(await stored(id)).to.include({ enabled: false, disabled_reason: null });
    expect(await states(id)).to.deep.equal({ held: 2 });
    expect(await fixture.log.getHealth()).to.deep.equal({
      ok: true,
      queued: 0,
      oldest_age_seconds: null,
      disabled: [],
    });
    to.answer = status(204);
    await fixture.registry.change(ADMIN, id, { enabled: true });
    await fixture.turn();
    expect(await states(id)).to.deep.equal({ success: 2 });
  });

  it('complete a re-enable that was interrupted by a crash', async () => {
    const { id } = await fixture.hook(to.url);
    await events(2);
    await fixture.registry.disable(ADMIN, id);
    await fixture.deps.webhooks.change({ id }, { set: { enabled: true, resuming: true } });
    expect((await fixture.pause.reconcile()).map((hook) => hook.id)).to.deep.equal([id]);
    expect(await states(id)).to.deep.equal({ pending: 2 });
    expect(await fixture.pause.reconcile()).to.deep.equal([]);
  });

  it('allow uncounted test deliveries, and return the response', async () => {
    const { id } = await fixture.hook(to.url, { enabled: false });
    const answer = await fixture.registry.sendTest(ADMIN, id);
    expect(answer).to.include({ status_code: 500, error: 'HTTP 500', excerpt: '' });
    expect(to.got[0]?.headers).to.include({ 'x-svc-event': 'webhook.test', 'x-svc-attempt': '1' });
    expect(await stored(id)).to.include({ failures: 0 });
    expect(await fixture.deliveries()).to.deep.equal([]);
    await to.close();
    expect((await fixture.registry.sendTest(ADMIN, id)).error).to.match(/^connect: /);
    to = await Receiver.open();
  });

  it('redeliver with the same ids, but not while disabled', async () => {
    to.answer = status(410);
    const { id } = await fixture.hook(to.url);
    await events(1);
    const [delivery] = await fixture.deliveries(id);
    expect(delivery?.state).to.equal('exhausted');
    to.answer = status(204);
    await fixture.registry.redeliver(ADMIN, delivery?.id ?? '');
    await fixture.turn();
    const [first, second] = to.got;
    expect(second?.headers['x-svc-attempt']).to.equal('2');
    for (const name of ['x-svc-delivery', 'webhook-id']) expect(second?.headers[name]).to.equal(first?.headers[name]);
    expect(second?.body).to.equal(first?.body);
    expect(await states(id)).to.deep.equal({ success: 1 });
    await fixture.registry.disable(ADMIN, id);
    const rejected = await fixture.registry.redeliver(ADMIN, delivery?.id ?? '').catch((error: unknown) => error);
    expect(rejected).to.include({ code: 'conflict' });
  });

  it('store both logs for 14 days, and nothing of a deleted webhook', async () => {
    const { id } = await fixture.hook(to.url);
    const other = await fixture.hook(to.url);
    await events(2);
    await fixture.deps.webhooks.remove({ id: other.id });
    await fixture.log.removeExpired();
    expect(await fixture.deliveries()).to.have.length(2);
    fixture.clock.advance(14 * DAY_MS - 60_000);
    await fixture.log.removeExpired();
    expect([await fixture.deps.events.count(), await fixture.deps.deliveries.count({ webhook_id: id })]).to.deep.equal([
      2, 2,
    ]);
    fixture.clock.advance(61_000);
    await fixture.log.removeExpired();
    expect([await fixture.deps.events.count(), await fixture.deps.deliveries.count()]).to.deep.equal([0, 0]);
  });
});
