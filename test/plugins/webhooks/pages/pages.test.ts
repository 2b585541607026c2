/** /webhooks in a browser, behind the real HTTP adapter (contracts 70 and 80). */
import 'reflect-metadata';
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { NodeOutbound } from '../../../../adapters/node/outbound.js';
import dashboard from '../../../../plugins/dashboard/plugin.js';
import webhooks from '../../../../plugins/webhooks/plugin.js';
import { waitUntil } from '../../../harness.js';
import type { WebhookDelivery } from '../../../../plugins/webhooks/model/delivery.js';
import type { Webhook } from '../../../../plugins/webhooks/model/webhook.js';
import { HttpFixture, type Browser } from '../../access/http-fixture.js';
import { PASSWORD } from '../../access/fixture.js';
import { Receiver, status } from '../receiver.js';

describe('webhooks: pages', function () {
  let fixture: HttpFixture;
  let store: MemoryStore;
  let browser: Browser;
  let to: Receiver;

  beforeEach(async () => {
    store = new MemoryStore();
    fixture = await HttpFixture.open({
      store,
      plugins: [webhooks, dashboard],
      parts: { outbound: new NodeOutbound() },
    });
    browser = await fixture.signedIn();
    to = await Receiver.open(status(200, {}, '<b>thanks</b>'));
  });
  afterEach(async () => {
    await fixture.stop();
    await to.close();
  });

  const form = (more: Record<string, string | string[]> = {}) => ({
    name: 'chat',
    url: to.url,
    project_slug: '',
    events: ['bug.created', 'bug.critical'],
    secret: '',
    enabled: 'true',
    ...more,
  });
  /** Makes one by the form; answers its page's path. */
  const create = async (more: Record<string, string | string[]> = {}): Promise<string> => {
    const answer = await browser.shown(await browser.post('/webhooks', form(more), '/webhooks/new'));
    expect(answer.status, answer.text).to.equal(200);
    const path = /\/webhooks\/[0-9a-f-]{36}/.exec(answer.text)?.[0];
    return path ?? expect.fail('no page of the webhook');
  };
  const emit = async (): Promise<void> => {
    const event = { id: 'evt_1', event: 'bug.created', timestamp: fixture.clock.iso(), project_slug: null };
    await fixture.harness.kernel.events.emit({ ...event, data: { ref: 'a-1', title: '<i>broken</i>' } });
  };
  const delivered = (state: string): Promise<void> =>
    waitUntil(state, async () => (await store.collection('webhooks_deliveries').count({ state })) === 1);

  it('explains how to add a webhook when there are none', async () => {
    const page = await browser.get('/webhooks');
    expect(page.status).to.equal(200);
    expect(page.text).to.include('No webhooks yet').and.include('href="/webhooks/new"');
  });

  it('offers every event with its description, and shows the secret once', async () => {
    const page = await browser.get('/webhooks/new');
    for (const name of ['*', 'bug.created', 'monitor.down', 'release.halted', 'error.rate_exceeded'])
      expect(page.text).to.include(`name="events" value="${name}"`);
    expect(page.text).to.include('A monitor went down');
    const made = await browser.shown(await browser.post('/webhooks', form(), '/webhooks/new'));
    expect(made.text)
      .to.include('Copy this secret now')
      .and.match(/whsec_[\w+/]{43}/);
    const path = /\/webhooks\/[0-9a-f-]{36}/.exec(made.text)?.[0] ?? '';
    const later = await browser.get(path);
    expect(later.status).to.equal(200);
    expect(later.text).to.not.include('whsec_').and.not.include('Copy this secret now');
    expect(later.text).to.include('bug.critical');
  });

  it('shows a rejected form again with its input', async () => {
    const rejected = await browser.post('/webhooks', form({ url: 'http://169.254.169.254/' }), '/webhooks/new');
    expect(rejected.status).to.equal(422);
    expect(rejected.text).to.include('never allowed').and.include('value="chat"').and.include('169.254.169.254');
    expect(rejected.text).to.match(/value="bug.critical" checked/);
    const none = await browser.post('/webhooks', { ...form(), events: [] }, '/webhooks/new');
    expect(none.status).to.equal(422);
    expect(none.text).to.include('must contain at least one event');
  });

  it('shows the result of the test button in place', async () => {
    const path = await create();
    const good = await browser.post(`${path}/test`, {}, path);
    expect(good.text).to.include('Test delivered: HTTP 200').and.include('&lt;b&gt;thanks&lt;/b&gt;');
    to.answer = status(500);
    const failed = await browser.post(`${path}/test`, {}, path);
    expect(failed.status).to.equal(200);
    expect(failed.text).to.include('Test failed').and.include('HTTP 500');
  });

  it('shows deliveries with attempts and bodies, and redelivers', async () => {
    const path = await create();
    await emit();
    await delivered('success');
    const list = await browser.get(`${path}?state=success`);
    const delivery = new RegExp(`${path}/deliveries/[0-9a-f-]{36}`).exec(list.text)?.[0] ?? '';
    const page = await browser.get(delivery);
    expect(page.status).to.equal(200);
    expect(page.text).to.include('Attempt 1').and.include('&lt;b&gt;thanks&lt;/b&gt;');
    expect(page.text).to.include('&lt;i&gt;broken&lt;/i&gt;').and.not.include('<i>broken');
    const again = await browser.post(`${delivery}/redeliver`, {}, delivery);
    expect(again.status).to.equal(303);
    await waitUntil('the second', () => to.got.length === 2);
    await delivered('success');
    const all = await browser.get('/webhooks');
    expect(all.text).to.include('HTTP 200');
    const log = await browser.get('/webhooks/events?event=bug.created&project_slug=');
    expect(log.text).to.include('evt_1').and.include('&lt;i&gt;broken&lt;/i&gt;');
    expect((await browser.get('/webhooks/events?event=bug.critical')).text).to.include('No events');
  });

  it('shows an automatically disabled webhook on Home, its list and its page, until enabled', async () => {
    const path = await create();
    const id = path.split('/').at(-1) ?? '';
    expect((await browser.get('/')).text).to.not.include('panel-webhooks.disabled');
    const set = {
      enabled: false,
      failures: 20,
      disabled_at: fixture.clock.iso(),
      disabled_reason: '20 consecutive deliveries failed.',
    };
    await store.collection('webhooks_webhooks').change({ id }, { set });
    for (const url of ['/', '/webhooks', path]) {
      const page = await browser.get(url);
      expect(page.text, url)
        .to.include('20 consecutive deliveries failed.')
        .and.match(/was disabled/);
    }
    const enabled = await browser.post(`${path}/enable`, {}, path);
    expect(enabled.status).to.equal(303);
    expect((await browser.get('/webhooks')).text).to.not.include('role="alert"');
    expect(await store.collection('webhooks_webhooks').get(id)).to.include({ enabled: true, failures: 0 });
  });

  it('edits, rotates, disables and deletes a webhook', async () => {
    const path = await create();
    const edited = await browser.post(`${path}/edit`, form({ name: 'other', events: ['*'] }));
    expect([edited.status, edited.headers['location']]).to.deep.equal([303, path]);
    expect((await browser.get(path)).text)
      .to.include('other')
      .and.include('all events');
    const rotated = await browser.shown(await browser.post(`${path}/rotate`, {}, path));
    expect(rotated.text).to.match(/whsec_[\w+/]{43}/);
    await browser.post(`${path}/disable`, {}, path);
    expect((await browser.get(path)).text).to.include(' Enable webhook</button>');
    const gone = await browser.post(`${path}/delete`, {}, path);
    expect(gone.headers['location']).to.equal('/webhooks');
    expect((await browser.get(path)).status).to.equal(404);
  });

  it('shows members names, events, states and deliveries, with scheme and host only, read-only', async () => {
    const path = await create({ url: `${to.url}hooks/token-in-the-path` });
    await emit();
    await delivered('success');
    await browser.post('/users', { username: 'mel', role: 'member', password: PASSWORD });
    const member = await fixture.signedIn('mel');
    const [list, page, log] = [
      await member.get('/webhooks'),
      await member.get(path),
      await member.get('/webhooks/events'),
    ];
    for (const answer of [list, page, log]) expect(answer.status, answer.text).to.equal(200);
    expect(list.text).to.include('chat').and.include(new URL(to.url).host).and.not.include('href="/webhooks/new"');
    expect(page.text).to.include('bug.critical').and.include(new URL(to.url).origin).and.include('success');
    expect(page.text).to.not.match(/<form[^>]*action="\/webhooks/);
    expect(log.text).to.include('evt_1');
    const delivery = new RegExp(`${path}/deliveries/[0-9a-f-]{36}`).exec(page.text)?.[0] ?? '';
    const shown = await member.get(delivery);
    expect(shown.status).to.equal(200);
    expect(shown.text).to.include('Attempt 1').and.not.include('thanks').and.not.include('/redeliver');
    for (const { text } of [list, page, log, shown]) expect(text).to.not.include('token-in-the-path');
    for (const name of ['/webhooks/new', `${path}/edit`]) expect((await member.get(name)).status, name).to.equal(403);
    const posts = ['/webhooks', `${path}/edit`, `${path}/test`, `${path}/rotate`, `${path}/enable`, `${path}/disable`];
    for (const name of [...posts, `${path}/delete`, `${delivery}/redeliver`])
      expect((await member.post(name, {}, path)).status, name).to.equal(403);
    expect(to.got).to.have.length(1);
  });

  describe('after failures', () => {
    const failing = async (): Promise<{ path: string; delivery: string }> => {
      const path = await create();
      to.answer = status(500, {}, 'broken');
      await emit();
      await delivered('retrying');
      const [delivery] = (await store.collection<WebhookDelivery>('webhooks_deliveries').find()).items;
      return { path, delivery: delivery?.id ?? '' };
    };
    const set = async (state: string): Promise<void> => {
      await store
        .collection<WebhookDelivery>('webhooks_deliveries')
        .change({ state: 'retrying' }, { set: { state: state as WebhookDelivery['state'] }, unset: ['next_at'] });
    };
    const breakIt = async (path: string): Promise<void> => {
      const set = { enabled: false, disabled_at: fixture.clock.iso(), disabled_reason: '20 deliveries failed' };
      await store.collection<Webhook>('webhooks_webhooks').change({ id: path.slice(10) }, { set });
    };

    for (const state of ['retrying', 'held', 'expired', 'exhausted'])
      it(`the list shows the last attempt as failed while its delivery is ${state}`, async () => {
        await failing();
        if (state !== 'retrying') await set(state);
        const list = await browser.get('/webhooks');
        expect(list.text).to.not.include('nothing sent yet');
        expect(list.text)
          .to.match(/bg-red-lt|text-danger/)
          .and.include('HTTP 500');
        expect(list.text).to.include(`· ${state} ·`);
      });

    it('re-enables from the banner of a disabled webhook, and redelivers its last delivery', async () => {
      const { path, delivery } = await failing();
      await set('held');
      await breakIt(path);
      for (const page of ['/webhooks', path]) {
        const { text } = await browser.get(page);
        expect(text, page).to.include(`action="${path}/enable"`).and.include('20 deliveries failed');
        expect(text, page).to.include(`name="redeliver" value="${delivery}"`);
      }
      to.answer = status(204);
      const answer = await browser.post(`${path}/enable`, { redeliver: delivery }, path);
      expect(answer.headers['location']).to.equal(`${path}/deliveries/${delivery}`);
      await delivered('success');
      const outcome = await browser.get(`${path}/deliveries/${delivery}`);
      expect(outcome.text)
        .to.include('Delivered: HTTP 204')
        .and.match(/role="status"/);
      expect(outcome.text).to.not.include('http-equiv="refresh"');
    });

    it('does not redeliver a delivery of another webhook on re-enabling', async () => {
      const { path, delivery } = await failing();
      const other = await create({ name: 'other' });
      const answer = await browser.post(`${other}/enable`, { redeliver: delivery }, path);
      expect(answer.status).to.equal(404);
    });

    it('updates the page of a delivery in progress automatically until its result', async () => {
      const { path, delivery } = await failing();
      const here = `${path}/deliveries/${delivery}`;
      expect((await browser.get(here)).text)
        .to.include('Attempt 1 failed')
        .and.include('Next attempt');
      let release = (): void => undefined;
      to.answer = ({ response }) => (release = () => response.writeHead(200).end('fine'));
      await browser.post(`${here}/redeliver`, {}, here);
      await waitUntil('the receiver has it', async () => to.got.length === 2);
      const waiting = await browser.get(here);
      expect(waiting.text)
        .to.include('http-equiv="refresh"')
        .and.match(/Sending…|Delivery in progress…/);
      release();
      await delivered('success');
      expect((await browser.get(here)).text).to.include('Delivered: HTTP 200');
    });
  });
});
