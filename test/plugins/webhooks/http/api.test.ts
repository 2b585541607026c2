/** `/api/webhooks/v1` behind the real kernel and the real HTTP adapter (contract 70, API). */
import type { LookupAddress } from 'node:dns';
import 'reflect-metadata';
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { HostResolver } from '../../../../adapters/node/host-resolver.js';
import { NodeOutbound } from '../../../../adapters/node/outbound.js';
import webhooks from '../../../../plugins/webhooks/plugin.js';
import { waitUntil } from '../../../harness.js';
import { HttpFixture, type Answer } from '../../access/http-fixture.js';
import { Receiver, status } from '../receiver.js';

const BASE = '/api/webhooks/v1';
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

interface Shown {
  id: string;
  [field: string]: unknown;
}

const resolve = async (name: string): Promise<LookupAddress[]> =>
  name === 'meta.internal' ? [{ address: '169.254.169.254', family: 4 }] : new HostResolver().resolve(name);

describe('webhooks: API', function () {
  let fixture: HttpFixture;
  let store: MemoryStore;
  let manage: string;
  let to: Receiver;

  beforeEach(async () => {
    store = new MemoryStore();
    fixture = await HttpFixture.open({
      store,
      plugins: [webhooks],
      parts: { outbound: new NodeOutbound({ resolve }) },
    });
    manage = await fixture.token(['webhooks:manage', 'projects:manage']);
    to = await Receiver.open(status(200, {}, 'thanks'));
    for (const slug of ['shop', 'blog']) await fixture.api('POST', '/api/projects/v1/projects', manage, { slug });
  });
  afterEach(async () => {
    await fixture.stop();
    await to.close();
  });

  const call = (method: Method, path: string, body?: object, bearer: string | null = manage): Promise<Answer> =>
    fixture.api(method, BASE + path, bearer, body);
  const outcome = ({ status: code, json }: Answer): [number, string | undefined] => [code, json.error?.code];
  const create = async (more: object = {}, bearer = manage): Promise<Shown> => {
    const answer = await call('POST', '/webhooks', { name: 'receiver', url: to.url, events: '*', ...more }, bearer);
    expect(answer.status, answer.text).to.equal(201);
    return answer.json['webhook'] as Shown;
  };
  const emit = async (event: object = {}): Promise<void> => {
    const whole = {
      id: `evt_${Math.random()}`,
      event: 'bug.created',
      timestamp: fixture.clock.iso(),
      data: { ref: 'a' },
    };
    expect(await fixture.harness.kernel.events.emit({ project_slug: null, ...whole, ...event })).to.equal(true);
  };

  it('creates a webhook with a generated secret, shown once and stored encrypted', async () => {
    const answer = await call('POST', '/webhooks', { name: 'chat', url: to.url, events: 'bug.created, bug.critical' });
    expect(answer.status).to.equal(201);
    expect(answer.headers['cache-control']).to.equal('no-store');
    const secret = answer.json['secret'] as string;
    expect(secret).to.match(/^whsec_/);
    const webhook = answer.json['webhook'] as Shown;
    expect(webhook).to.deep.include({
      name: 'chat',
      url: to.url,
      project_slug: null,
      events: 'bug.created,bug.critical',
      enabled: true,
      has_secret: true,
      previous_secret_until: null,
      failure_count: 0,
      disabled_reason: null,
      last_delivery: null,
    });
    const again = await call('GET', `/webhooks/${webhook.id}`);
    expect(again.json['webhook']).to.deep.equal(webhook);
    expect(again.text).to.not.include(secret);
    const stored = await store.collection('webhooks_webhooks').get(webhook.id);
    expect(JSON.stringify(stored)).to.not.include(secret.slice(6));
  });

  it('does not show a secret set by the caller', async () => {
    const answer = await call('POST', '/webhooks', { name: 'a', url: to.url, events: '*', secret: 'given-secret' });
    expect(answer.json).to.not.have.property('secret');
    expect(answer.text).to.not.include('given-secret');
  });

  const bad: [string, object, number, string, string][] = [
    ['an unknown event', { events: 'bug.created,no.such' }, 422, 'validation_failed', 'events'],
    ['webhook.test', { events: 'webhook.test' }, 422, 'validation_failed', 'events'],
    ['no event', { events: ' , ' }, 422, 'validation_failed', 'events'],
    ['another scheme', { url: 'ftp://receiver.example/' }, 422, 'validation_failed', 'url'],
    ['user info', { url: 'https://user:pass@receiver.example/' }, 422, 'validation_failed', 'url'],
    ['a metadata address', { url: 'http://169.254.169.254/latest' }, 422, 'validation_failed', 'url'],
    ['a mapped one', { url: 'http://[::ffff:169.254.169.254]/' }, 422, 'validation_failed', 'url'],
    ['a NAT64 one', { url: 'http://[64:ff9b::a9fe:a9fe]/' }, 422, 'validation_failed', 'url'],
    ['a 6to4 one', { url: 'http://[2002:a9fe:a9fe::1]/' }, 422, 'validation_failed', 'url'],
    ['a decimal one', { url: 'http://2852039166/' }, 422, 'validation_failed', 'url'],
    ['a local NAT64 one', { url: 'http://[64:ff9b:1::a9fe:a9fe]/' }, 422, 'validation_failed', 'url'],
    ['the metadata address of Oracle', { url: 'http://192.0.0.192/' }, 422, 'validation_failed', 'url'],
    ['its IPv6 form', { url: 'http://[fd00:c1::a9fe:a9fe]/' }, 422, 'validation_failed', 'url'],
    ['the wire server of Azure', { url: 'http://168.63.129.16/' }, 422, 'validation_failed', 'url'],
    ['the metadata address of Google', { url: 'http://[fd20:ce::254]/' }, 422, 'validation_failed', 'url'],
    ['the unspecified address', { url: 'http://[::]/' }, 422, 'validation_failed', 'url'],
    ['0/8', { url: 'http://0.0.0.0/' }, 422, 'validation_failed', 'url'],
    ['no URL', { url: 'receiver' }, 422, 'validation_failed', 'url'],
    ['a short secret', { secret: 'abc' }, 422, 'validation_failed', 'secret'],
    ['no secret and no key', { secret: null }, 422, 'validation_failed', 'secret'],
    ['a project that is not there', { project_slug: 'none' }, 422, 'unknown_project', 'project_slug'],
    ['an empty name', { name: '' }, 422, 'validation_failed', 'name'],
  ];
  for (const [what, fields, code, error, field] of bad) {
    it(`rejects ${what} at POST and PATCH`, async () => {
      const { id } = await create();
      const body = { name: 'a', url: to.url, events: '*', ...fields };
      for (const answer of [await call('POST', '/webhooks', body), await call('PATCH', `/webhooks/${id}`, fields)]) {
        expect(outcome(answer)).to.deep.equal([code, error]);
        expect(answer.json.error?.fields).to.have.property(field);
      }
      expect((await call('GET', '/webhooks')).json['items']).to.have.length(1);
    });
  }

  it('allows a webhook without secret and key only while it is disabled', async () => {
    const { id } = await create({ secret: null, enabled: false });
    expect(outcome(await call('POST', `/webhooks/${id}/enable`))).to.deep.equal([422, 'validation_failed']);
    expect(outcome(await call('PATCH', `/webhooks/${id}`, { enabled: true }))).to.deep.equal([
      422,
      'validation_failed',
    ]);
    expect((await call('PATCH', `/webhooks/${id}`, { enabled: true, secret: 'now-there-is-one' })).status).to.equal(
      200,
    );
  });

  it('requires the scope webhooks:manage', async () => {
    const other = await fixture.token(['projects:read']);
    expect(outcome(await call('GET', '/webhooks', undefined, other))).to.deep.equal([403, 'insufficient_scope']);
    expect(outcome(await call('GET', '/webhooks', undefined, null))).to.deep.equal([401, 'unauthorized']);
  });

  it('lists with pages and a total, newest first', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) ids.unshift((await create({ name: `n${i}` })).id);
    const first = (await call('GET', '/webhooks?limit=2&include_total=true')).json;
    expect(first).to.include({ has_more: true, total: 3 });
    const second = (await call('GET', `/webhooks?limit=2&cursor=${String(first['next_cursor'])}`)).json;
    const all = [...(first['items'] as Shown[]), ...(second['items'] as Shown[])];
    expect(all.map(({ id }) => id)).to.deep.equal(ids);
    expect(second).to.include({ has_more: false, next_cursor: null });
    expect(outcome(await call('GET', '/webhooks?nope=1'))).to.deep.equal([400, 'invalid_request']);
    expect(outcome(await call('GET', '/webhooks?cursor=xx'))).to.deep.equal([400, 'invalid_cursor']);
  });

  it('returns 404 for missing webhooks', async () => {
    for (const [method, path] of [
      ['GET', '/webhooks/none'],
      ['PATCH', '/webhooks/none'],
      ['DELETE', '/webhooks/none'],
      ['POST', '/webhooks/none/test'],
      ['POST', '/webhooks/none/rotate'],
      ['POST', '/webhooks/none/enable'],
      ['GET', '/webhooks/none/deliveries'],
      ['POST', '/deliveries/none/redeliver'],
    ] as const) {
      const answer = await call(method, path, method === 'PATCH' ? {} : undefined);
      expect(outcome(answer), `${method} ${path}`).to.deep.equal([404, 'not_found']);
    }
  });

  it('delivers an emitted event, logs it, and shows the result', async () => {
    const { id } = await create();
    await emit({ event: 'bug.critical', data: { ref: 'shop-1' }, project_slug: 'shop' });
    await waitUntil('the delivery', async () => {
      const items = (await call('GET', `/webhooks/${id}/deliveries`)).json['items'] as Shown[];
      return items[0]?.['state'] === 'success';
    });
    const listed = (await call('GET', `/webhooks/${id}/deliveries?state=success&event=bug.critical`)).json;
    const [delivery] = listed['items'] as (Shown & { attempts: object[] })[];
    expect(delivery).to.include({ webhook_id: id, event: 'bug.critical', project_slug: 'shop', attempt_count: 1 });
    expect(delivery?.attempts[0]).to.include({ attempt: 1, status_code: 200, error: null, excerpt: 'thanks' });
    const webhook = (await call('GET', `/webhooks/${id}`)).json['webhook'] as Shown;
    expect(webhook['last_delivery']).to.include({ event: 'bug.critical', state: 'success', status_code: 200 });
    const log = (await call('GET', '/events?event=bug.critical')).json['items'] as Shown[];
    expect(log).to.have.length(1);
    const data = { ref: 'shop-1', url: 'http://aos.test/bugs/shop-1' };
    expect(log[0]).to.deep.include({ event: 'bug.critical', project_slug: 'shop', data });
    expect((await call('GET', '/events?event=bug.created')).json['items']).to.deep.equal([]);
    expect((await call('GET', `/events?until=${fixture.clock.iso()}`)).json['items']).to.deep.equal([]);
    expect((await call('GET', `/events?since=${fixture.clock.iso()}&project_slug=shop`)).json['items']).to.have.length(
      1,
    );
    expect(outcome(await call('GET', '/events?since=soon'))).to.deep.equal([400, 'invalid_request']);
    expect(outcome(await call('GET', `/webhooks/${id}/deliveries?state=lost`))).to.deep.equal([400, 'invalid_request']);
  });

  it('test returns 200 with the receiver’s response, also after a failure', async () => {
    const { id } = await create({ enabled: false });
    const good = await call('POST', `/webhooks/${id}/test`);
    expect(good.status).to.equal(200);
    expect(good.json['delivery']).to.include({ status_code: 200, error: null, excerpt: 'thanks' });
    to.answer = status(500, {}, 'no');
    const failed = await call('POST', `/webhooks/${id}/test`);
    expect(failed.status).to.equal(200);
    expect(failed.json['delivery']).to.include({ status_code: 500, error: 'HTTP 500', excerpt: 'no' });
  });

  it('rotates the secret, shows it once, and signs with the previous secret for 24 hours', async () => {
    const { id } = await create({ secret: 'the-first-secret' });
    const answer = await call('POST', `/webhooks/${id}/rotate`);
    expect(answer.status).to.equal(200);
    expect(answer.json['secret']).to.match(/^whsec_/);
    const until24 = new Date(fixture.clock.now() + 24 * 3_600_000).toISOString();
    expect(answer.json['webhook']).to.include({ previous_secret_until: until24 });
    await call('POST', `/webhooks/${id}/test`);
    expect(to.got[0]?.headers).to.have.property('x-svc-signature-previous');
    expect(to.got[0]?.headers['webhook-signature']?.split(' ')).to.have.length(2);
    fixture.clock.forward(24 * 3_600_000 + 1);
    await call('POST', `/webhooks/${id}/test`);
    expect(to.got[1]?.headers).to.not.have.property('x-svc-signature-previous');
  });

  it('lists unknown fields of an action', async () => {
    const { id } = await create();
    for (const action of ['test', 'rotate', 'enable']) {
      const answer = await call('POST', `/webhooks/${id}/${action}`, { secret: 'a-secret-of-mine' });
      expect(answer.status, action).to.equal(200);
      expect(answer.json['warnings'], action).to.deep.equal(['secret is no field of this call']);
      expect((await call('POST', `/webhooks/${id}/${action}`)).json['warnings'], action).to.equal(undefined);
    }
  });

  it('rejects a filter by a non-existent event', async () => {
    const { id } = await create();
    for (const path of ['/events', `/webhooks/${id}/deliveries`]) {
      for (const event of ['bug.created', 'agent.requested', 'webhook.test'])
        expect((await call('GET', `${path}?event=${event}`)).status, event).to.equal(200);
      const answer = await call('GET', `${path}?event=bug.creatde`);
      expect(outcome(answer)).to.deep.equal([400, 'invalid_request']);
      expect(answer.json.error?.fields).to.have.all.keys('event');
    }
  });

  it('redelivers a delivery', async () => {
    const { id } = await create();
    await emit();
    await waitUntil('the first', () => to.got.length === 1);
    const deliveries = async (): Promise<Shown[]> =>
      (await call('GET', `/webhooks/${id}/deliveries?state=success`)).json['items'] as Shown[];
    await waitUntil('its record', async () => (await deliveries()).length === 1);
    const [delivery] = await deliveries();
    const answer = await call('POST', `/deliveries/${delivery?.id}/redeliver`);
    expect(answer.json['delivery']).to.include({ id: delivery?.id, state: 'pending' });
    await waitUntil('the second', () => to.got.length === 2);
    expect(to.got[1]?.headers['x-svc-delivery']).to.equal(delivery?.id);
  });

  it('limits a project token to its project’s webhooks', async () => {
    const bound = await fixture.token(['webhooks:manage'], 'shop');
    const all = await create();
    const blog = await create({ project_slug: 'blog' });
    const own = await create({}, bound);
    expect(own['project_slug']).to.equal('shop');
    const listed = (await call('GET', '/webhooks', undefined, bound)).json['items'] as Shown[];
    expect(listed.map(({ id }) => id)).to.deep.equal([own.id]);
    for (const { id } of [all, blog]) {
      for (const [method, path] of [
        ['GET', ''],
        ['PATCH', ''],
        ['DELETE', ''],
        ['POST', '/test'],
        ['POST', '/rotate'],
        ['POST', '/enable'],
        ['GET', '/deliveries'],
      ] as const) {
        const answer = await call(
          method,
          `/webhooks/${id}${path}`,
          method === 'PATCH' ? { name: 'x' } : undefined,
          bound,
        );
        expect(outcome(answer), `${method} ${path}`).to.deep.equal([404, 'not_found']);
      }
    }
    const wide = { name: 'a', url: to.url, events: '*' };
    for (const project_slug of ['', null, 'blog'])
      expect(outcome(await call('POST', '/webhooks', { ...wide, project_slug }, bound))[0]).to.equal(403);
    expect(outcome(await call('PATCH', `/webhooks/${own.id}`, { project_slug: '' }, bound))[0]).to.equal(403);
    await emit({ project_slug: 'blog' });
    await emit({ project_slug: 'shop' });
    const log = (await call('GET', '/events', undefined, bound)).json['items'] as Shown[];
    expect(log.map((event) => event['project_slug'])).to.deep.equal(['shop']);
    expect(outcome(await call('GET', '/events?project_slug=blog', undefined, bound))[0]).to.equal(403);
  });

  it('hides responses of private addresses from a project token', async () => {
    const bound = await fixture.token(['webhooks:manage'], 'shop');
    const { id } = await create({}, bound);
    await emit({ project_slug: 'shop' });
    const attempts = async (bearer: string): Promise<object[]> => {
      const items = (await call('GET', `/webhooks/${id}/deliveries`, undefined, bearer)).json['items'];
      return (items as { attempts: object[] }[])[0]?.attempts ?? [];
    };
    await waitUntil('the attempt', async () => (await attempts(manage)).length === 1);
    expect((await attempts(manage))[0]).to.include({ status_code: 200, excerpt: 'thanks' });
    const [seen] = await attempts(bound);
    expect(seen).to.include({ status_code: 200, excerpt: null }).and.not.have.property('public');
    const tested = await call('POST', `/webhooks/${id}/test`, undefined, bound);
    expect(tested.json['delivery']).to.include({ status_code: 200, excerpt: null });
    const [delivery] = (await call('GET', `/webhooks/${id}/deliveries`)).json['items'] as Shown[];
    const again = await call('POST', `/deliveries/${delivery?.id}/redeliver`, undefined, bound);
    expect(again.status).to.equal(200);
    expect(again.text).to.not.include('thanks');
  });

  it('hides addresses that are not allowed from a project token', async () => {
    const bound = await fixture.token(['webhooks:manage'], 'shop');
    const { id } = await create({ url: 'http://meta.internal/x' }, bound);
    await emit({ project_slug: 'shop' });
    const errors = async (bearer: string): Promise<unknown[]> => {
      const listed = await call('GET', `/webhooks/${id}/deliveries`, undefined, bearer);
      const [delivery] = listed.json['items'] as { attempts: { error: unknown }[] }[];
      return delivery?.attempts.map(({ error }) => error) ?? [];
    };
    await waitUntil('the attempt', async () => (await errors(manage)).length === 1);
    const whole = 'blocked: meta.internal: the address 169.254.169.254 is never allowed';
    const bare = 'blocked: the address is not allowed';
    expect([await errors(manage), await errors(bound)]).to.deep.equal([[whole], [bare]]);
    for (const [bearer, error] of [
      [manage, whole],
      [bound, bare],
    ] as const) {
      const tested = await call('POST', `/webhooks/${id}/test`, undefined, bearer);
      expect(tested.json['delivery']).to.include({ error });
    }
  });

  it('hides deliveries from a project token that predate the binding of the webhook to its project', async () => {
    const bound = await fixture.token(['webhooks:manage'], 'shop');
    const { id } = await create();
    await emit({ project_slug: 'blog' });
    await waitUntil('the delivery', async () => {
      const items = (await call('GET', `/webhooks/${id}/deliveries`)).json['items'] as Shown[];
      return items[0]?.['state'] === 'success';
    });
    await call('PATCH', `/webhooks/${id}`, { project_slug: 'shop' });
    const listed = await call('GET', `/webhooks/${id}/deliveries?include_total=true`, undefined, bound);
    expect(listed.json).to.deep.include({ items: [], total: 0 });
    const webhook = (await call('GET', `/webhooks/${id}`, undefined, bound)).json['webhook'] as Shown;
    expect(webhook['last_delivery']).to.equal(null);
  });

  it('allows subscribing to events of contract 70 before their plugin is installed', async () => {
    const names = 'license.created,license.changed,license.expiring,license.expired,license.machine_pending';
    expect(await create({ events: `release.halted,${names}` })).to.include({ events: `release.halted,${names}` });
  });

  it('deletes a webhook with its deliveries', async () => {
    const { id } = await create();
    await emit();
    expect((await call('DELETE', `/webhooks/${id}`)).json).to.include({ deleted: true });
    expect(outcome(await call('GET', `/webhooks/${id}`))).to.deep.equal([404, 'not_found']);
    expect(await store.collection('webhooks_deliveries').count()).to.equal(0);
  });
});
