/** The pure parts: signatures, the schedule, payloads, names and ids (contract 70). */
import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { buildDeliveryId } from '../../../../plugins/webhooks/model/delivery.js';
import { MAX_PAYLOAD_BYTES, buildPayload, addPageUrl } from '../../../../plugins/webhooks/model/stored-event.js';
import { parseEventList, listSubscribableEvents } from '../../../../plugins/webhooks/model/event-names.js';
import {
  getDeliveryRetryDelay,
  RETRY_DELAYS_MS,
  parseRetryAfter,
} from '../../../../plugins/webhooks/model/retry-schedule.js';
import {
  createWebhookSecret,
  signBody,
  buildSignatureHeaders,
  getStandardKey,
  signStandard,
} from '../../../../plugins/webhooks/sending/signature.js';

const SECRET = 'whsec_test_0123456789abcdef';
const BODY =
  '{"id":"evt_01","event":"monitor.down","timestamp":"2026-09-21T14:13:20.000Z","project_slug":null,"data":{"source":"web-1","state":"down"}}';

describe('webhook signatures', () => {
  it('match the vector of contract 70', () => {
    expect(signBody(SECRET, 1_790_000_000, BODY)).to.equal(
      'sha256=eeb25b15ef5c53ebf553f6d8ff535f15e3d9450ee8f37da2b879c4241508e993',
    );
  });

  it('match the example of the Standard Webhooks specification', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const signature = signStandard(secret, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330, '{"test": 2432232314}');
    expect(signature).to.equal('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('use the base64 part as key when it is 24 to 64 bytes, otherwise the text', () => {
    const of = (bytes: number): string => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`;
    for (const bytes of [24, 32, 64])
      expect(getStandardKey(of(bytes)), `${bytes}`).to.deep.equal(Buffer.alloc(bytes, 7));
    for (const secret of [of(23), of(65), SECRET, 'plain text', Buffer.alloc(32, 7).toString('base64')])
      expect(getStandardKey(secret), secret).to.deep.equal(Buffer.from(secret));
  });

  it('use generated secrets of 256 bits, each unique', () => {
    const [a, b] = [createWebhookSecret(), createWebhookSecret()];
    expect(a)
      .to.match(/^whsec_[A-Za-z0-9+/]{43}=$/)
      .and.not.equal(b);
    expect(getStandardKey(a)).to.have.length(32);
  });

  it('include the previous secret while there is one', () => {
    const signed = { event_id: 'evt_01', timestamp: 1_790_000_000, body: BODY };
    const headers = buildSignatureHeaders('new-secret', SECRET, signed);
    expect(headers['x-svc-signature-previous']).to.equal(signBody(SECRET, signed.timestamp, BODY));
    const hmac = (key: string): string =>
      `v1,${createHmac('sha256', key).update(`evt_01.1790000000.${BODY}`).digest('base64')}`;
    expect(headers['webhook-signature']).to.equal(`${hmac('new-secret')} ${hmac(SECRET)}`);
    expect(buildSignatureHeaders('new-secret', null, signed)).to.not.have.property('x-svc-signature-previous');
  });
});

describe('retry schedule', () => {
  const plain = { status_code: 500, retry_after_ms: null };

  it('follows the contract with 20 % jitter, and ends after eight retries', () => {
    expect(RETRY_DELAYS_MS.map((ms) => ms / 1000)).to.deep.equal([10, 60, 300, 900, 3600, 10_800, 21_600, 43_200]);
    RETRY_DELAYS_MS.forEach((ms, i) => {
      expect(getDeliveryRetryDelay(i + 1, plain, 0)).to.equal(ms * 0.8);
      expect(getDeliveryRetryDelay(i + 1, plain, 0.5)).to.equal(ms);
      expect(getDeliveryRetryDelay(i + 1, plain, 0.999_999_99)).to.be.closeTo(ms * 1.2, 1);
    });
    expect(getDeliveryRetryDelay(9, plain, 0.5)).to.equal(null);
  });

  it('ends the delivery immediately for 410', () => {
    expect(getDeliveryRetryDelay(1, { status_code: 410, retry_after_ms: null }, 0.5)).to.equal(null);
  });

  for (const status_code of [429, 503]) {
    it(`${status_code} waits at least a minute, and up to twice the delay as requested`, () => {
      const wait = (failures: number, requested: number | null, random = 0.5): number | null =>
        getDeliveryRetryDelay(failures, { status_code, retry_after_ms: requested }, random);
      expect(wait(1, null)).to.equal(60_000);
      expect(wait(1, null, 0)).to.equal(60_000);
      expect(wait(1, 5_000)).to.equal(60_000);
      expect(wait(1, 90_000)).to.equal(90_000);
      expect(wait(1, 3_600_000)).to.equal(120_000);
      expect(wait(3, 590_000)).to.equal(590_000);
      expect(wait(3, 700_000)).to.equal(600_000);
    });
  }

  it('ignores Retry-After of other responses', () => {
    expect(getDeliveryRetryDelay(1, { status_code: 500, retry_after_ms: 90_000 }, 0.5)).to.equal(10_000);
  });

  it('parses Retry-After as seconds or a date only', () => {
    const now = Date.parse('2026-11-20T08:15:30Z');
    expect(parseRetryAfter('120', now)).to.equal(120_000);
    expect(parseRetryAfter('Fri, 20 Nov 2026 08:16:30 GMT', now)).to.equal(60_000);
    expect(parseRetryAfter('Fri, 20 Nov 2026 08:10:00 GMT', now)).to.equal(0);
    expect(parseRetryAfter('99999999999', now), 'three thousand years').to.equal(99_999_999_999_000);
    for (const bad of [undefined, '', 'soon', '-5', '1.5', '9'.repeat(21)])
      expect(parseRetryAfter(bad, now), String(bad)).to.equal(null);
    fc.assert(fc.property(fc.string(), (text) => (parseRetryAfter(text, now) ?? 0) >= 0));
  });
});

describe('payloads', function () {
  const event = { id: 'evt_1', event: 'bug.created', timestamp: '2026-11-20T08:15:30.123Z', project_slug: null };

  it('contain the fields of the contract, in order', () => {
    const body = buildPayload({ ...event, data: { ref: 'a-1' } });
    expect(body).to.equal(
      '{"id":"evt_1","event":"bug.created","timestamp":"2026-11-20T08:15:30.123Z","project_slug":null,"data":{"ref":"a-1"}}',
    );
  });

  for (const [name, data, url] of [
    ['bug.created', { ref: 'shop-17' }, '/bugs/shop-17'],
    ['bug.critical', { ref: 'shop-17' }, '/bugs/shop-17'],
    ['bug.resolved', { ref: 'shop-17' }, '/bugs/shop-17'],
    ['feature.created', { ref: 'shop-17' }, '/bugs/shop-17'],
    ['error.rate_exceeded', { ref: 'shop-17' }, '/bugs/shop-17'],
    ['agent.requested', { ref: 'shop-17' }, '/bugs/shop-17'],
    ['monitor.down', { source: 'shop/web 1' }, '/monitors/shop%2Fweb%201'],
    ['monitor.recovered', { source: 'web-1' }, '/monitors/web-1'],
    [
      'release.published',
      { product: 'shop', version: '1.2', channel: 'stable', platform: 'any' },
      '/releases?product=shop&channel=stable&platform=any',
    ],
    ['release.halted', { product: 'shop', channel: 'beta' }, '/releases?product=shop&channel=beta'],
    [
      'release.rolled_back',
      { product: 'shop', channel: 'beta', platform: null },
      '/releases?product=shop&channel=beta',
    ],
    ['license.expired', { id: 'l-1' }, '/licenses/l-1'],
    ['webhook.test', { webhook_id: 'w-1' }, '/webhooks/w-1'],
  ] as const) {
    it(`of ${name} link to the corresponding page`, () =>
      expect(addPageUrl({ event: name, data }, 'https://aos.example/').data).to.deep.equal({
        ...data,
        url: `https://aos.example${url}`,
      }));
  }

  it('of other events leave the data and a page set by a plugin unchanged', () => {
    for (const [name, data] of [
      ['chat.said', { ref: 'a-1' }],
      ['constructor.x', { ref: 'a-1' }],
      ['nodot', { ref: 'a-1' }],
      ['bug.created', { ref: 17 }],
      ['bug.created', null],
      ['bug.created', 'text'],
      ['bug.created', { ref: 'a-1', url: 'https://own.example/1' }],
    ] as const)
      expect(addPageUrl({ event: name, data }, 'https://aos.example').data, name).to.deep.equal(data);
  });

  it('preserve the full URL when long texts are truncated', () => {
    const source = 'ä'.repeat(100);
    const reported = addPageUrl(
      { ...event, event: 'monitor.down', data: { source, more: ['x'.repeat(90_000)] } },
      'https://a.example',
    );
    const { data } = JSON.parse(buildPayload(reported)) as { data: { url: string } };
    expect(data.url).to.equal(`https://a.example/monitors/${encodeURIComponent(source)}`);
  });

  it('are JSON of at most 20 kB for any event', () => {
    const long = fc.string({ minLength: 1, maxLength: 3, unit: 'binary' }).map((text) => text.repeat(5_000));
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue(),
          fc.dictionary(fc.string(), fc.oneof(long, fc.array(long, { maxLength: 3 })), { maxKeys: 3 }),
        ),
        (data) => {
          const body = buildPayload({ ...event, data });
          expect(Buffer.byteLength(body)).to.be.at.most(MAX_PAYLOAD_BYTES);
          expect(JSON.parse(body)).to.include(event);
        },
      ),
      { numRuns: 20 },
    );
    const cut = JSON.parse(buildPayload({ ...event, data: { id: 'i', title: 'x'.repeat(50_000), deep: {} } })) as {
      data: object;
    };
    expect(cut.data).to.deep.equal({ id: 'i', title: `${'x'.repeat(2_000)}…`, deep: {} });
  });
});

describe('names and ids', () => {
  it('accept every event of the contract before its plugin is installed', () => {
    const names = listSubscribableEvents(['bug.created', 'chat.said', 'webhook.test']).map(({ name }) => name);
    expect(names).to.have.members([
      'bug.created',
      'bug.critical',
      'bug.resolved',
      'feature.created',
      'monitor.down',
      'monitor.recovered',
      'monitor.alarm_closed',
      'monitor.warning',
      'monitor.certificate_expiring',
      'release.published',
      'release.halted',
      'release.rolled_back',
      'license.created',
      'license.changed',
      'license.expiring',
      'license.expired',
      'license.machine_pending',
      'error.rate_exceeded',
      'agent.requested',
      'chat.said',
    ]);
  });

  it('are parsed from comma-separated lists', () => {
    expect(parseEventList(' bug.created ,bug.critical,, bug.created')).to.deep.equal(['bug.created', 'bug.critical']);
    expect(parseEventList(['*'])).to.deep.equal(['*']);
    expect(parseEventList(',')).to.deep.equal([]);
  });

  it('are derived for a delivery from webhook and event, in UUIDv7 layout', () => {
    const id = buildDeliveryId('w', 'e', Date.parse('2026-11-20T08:15:30.123Z'));
    expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(buildDeliveryId('w', 'e', Date.parse('2026-11-20T08:15:30.123Z'))).to.equal(id);
    expect(parseInt(id.slice(0, 13).replace('-', ''), 16)).to.equal(Date.parse('2026-11-20T08:15:30.123Z'));
    const event = 'evt_019a9f8e-8d2b-7c11-9f6e-2b7a0c3d4e5f';
    expect(buildDeliveryId('w', event, 1))
      .to.equal(buildDeliveryId('w', event, 2))
      .and.match(/^019a9f8e-8d2b-7/);
    expect(buildDeliveryId('we', '', 0)).to.not.equal(buildDeliveryId('w', 'e', 0));
  });
});
