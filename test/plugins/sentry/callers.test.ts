/**
 * What the two paths tell SDKs that send too much, and browsers of other origins (contract 21,
 * Sentry SDK intake).
 */
import { expect } from 'chai';
import { NO_LIMITS } from '../../adapters/hapi/support.js';
import { buildSentryEnvelope } from '../../support/sentry-envelope.js';
import { ENVELOPE, event, KEY, Fixture, STORE } from './fixture.js';

describe('sentry intake: limits', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await Fixture.create({
      limits: { ...NO_LIMITS, intake_per_minute: 6, intake_burst: 4, auth_failures_per_minute: 2 },
    });
  });
  after(() => fixture.stop());

  it('sends Retry-After and Sentry’s rate limit headers', async () => {
    const several = ['{}', ...[1, 2, 3].map(() => `{"type":"event"}\n${JSON.stringify(event())}`)].join('\n');
    expect((await fixture.post(ENVELOPE, several)).status).to.equal(200);
    expect((await fixture.post(ENVELOPE, buildSentryEnvelope(event()))).status).to.equal(200);
    for (const path of [ENVELOPE, STORE]) {
      const answer = await fixture.post(path, buildSentryEnvelope(event()));
      expect(answer.status).to.equal(429);
      const wait = String(answer.headers['retry-after']);
      expect(wait).to.match(/^\d+$/);
      expect(answer.headers['x-sentry-rate-limits']).to.equal(`${wait}:error:key`);
      expect(answer.headers['access-control-allow-origin']).to.equal('*');
      expect(answer.headers['access-control-expose-headers'])
        .to.include('retry-after')
        .and.to.include('x-sentry-rate-limits');
    }
  });

  it('sends the headers also after too many invalid keys', async () => {
    const wrong = { 'x-sentry-auth': 'Sentry sentry_key=wrong' };
    const statuses = [];
    for (let i = 0; i < 3; i++)
      statuses.push((await fixture.post(ENVELOPE, buildSentryEnvelope(event()), wrong)).status);
    expect(statuses).to.deep.equal([401, 401, 429]);
    const last = await fixture.post(ENVELOPE, buildSentryEnvelope(event()), wrong);
    expect(last.headers['x-sentry-rate-limits']).to.equal(`${String(last.headers['retry-after'])}::key`);
  });
});

describe('sentry intake: browsers of other origins', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await Fixture.create();
  });
  after(() => fixture.stop());

  for (const path of [ENVELOPE, STORE, '/api/errors/v1/report']) {
    it(`responds to a preflight request for ${path}`, async () => {
      const preflight = await fixture.server.ask('OPTIONS', path, {
        headers: {
          origin: 'https://shop.example.org',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'x-sentry-auth,content-type',
        },
      });
      expect(preflight.status).to.equal(204);
      expect(preflight.headers['access-control-allow-origin']).to.equal('*');
      expect(preflight.headers['access-control-allow-methods']).to.include('POST');
      expect(preflight.headers['access-control-allow-headers'])
        .to.include('x-sentry-auth')
        .and.to.include('content-type');
    });
  }

  it('exposes response headers', async () => {
    const origin = { origin: 'https://shop.example.org' };
    const good = await fixture.post(`${ENVELOPE}?sentry_key=${KEY}`, buildSentryEnvelope(event()), origin);
    const bad = await fixture.post(ENVELOPE, buildSentryEnvelope(event()), origin);
    expect([good.status, bad.status]).to.deep.equal([200, 401]);
    for (const { headers } of [good, bad]) expect(headers['access-control-allow-origin']).to.equal('*');
  });
});
