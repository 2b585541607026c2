/**
 * The license service where much is asked at once: its 429, and, by the real program, who does not
 * wait for whom.
 */
import { expect } from 'chai';
import { ADMIN_ACCOUNT, TestService } from '../../../support/service.js';
import { BASE } from '../../../plugins/licensing/fixture.js';
import { startStopwatch } from '../../../support/cpu-time.js';

/** Long enough that no login of a busy machine misses it. */
const LOGIN_MS = 20_000;

describe('licensing under load', () => {
  let service: TestService | undefined;
  afterEach(async () => {
    await service?.dispose();
    service = undefined;
  });

  it('returns errors for rate-limited requests without the envelope, with Retry-After', async () => {
    const one = (service = await TestService.createInProcess({ SVC_LIMITS__PUBLIC_PER_MINUTE: '1' }));
    const question = { license_key: 'x', product: 'shop' };
    const get = `${BASE}/validate?key_sha256=${'0'.repeat(64)}&product=shop`;
    const requested: [string, string, unknown][] = [
      ['POST', `${BASE}/validate`, question],
      ['GET', get, undefined],
      ['POST', `${BASE}/file`, question],
      ['GET', `${BASE}/pubkey`, undefined],
    ];
    for (const [method, path, body] of requested) {
      let answer = await one.request(method, path, null, body);
      for (let n = 0; n < 50 && answer.status !== 429; n++) answer = await one.request(method, path, null, body);
      expect(answer.status, path).to.equal(429);
      expect(answer.body, path).to.have.all.keys('status', 'message');
      expect(answer.body['status'], path).to.equal('rate_limited');
      expect(Number(answer.headers.get('retry-after')), path).to.be.at.least(1);
    }
  });

  it('returns errors for rejected credentials in the same format', async () => {
    const one = (service = await TestService.createInProcess({ SVC_LIMITS__AUTH_FAILURES_PER_MINUTE: '1' }));
    const ask = () => one.request('POST', `${BASE}/deactivate`, 'wrong', { license_key: 'x' });
    let answer = await ask();
    expect(answer.status).to.equal(401);
    for (let n = 0; n < 50 && answer.status !== 429; n++) answer = await ask();
    expect(answer.status).to.equal(429);
    expect(answer.body).to.have.all.keys('status', 'message').and.include({ status: 'rate_limited' });
    expect(Number(answer.headers.get('retry-after'))).to.be.at.least(1);
  });

  it('completes a login while the keys of 300 licenses are hashed', async () => {
    const one = (service = await TestService.createStarted({ SVC_LIMITS__API_PER_MINUTE: '0' }));
    await one.createProject('shop');
    const manage = await one.createToken('license:manage');
    const made = await one.request('POST', `${BASE}/licenses`, manage, { product: 'shop', count: 300 });
    expect(made.status).to.equal(201);
    const items = made.body['items'] as { key: string }[];
    expect(items).to.have.length(300);
    const passed = startStopwatch();
    const login = await one.request('POST', '/api/setup/v1/login', null, { ...ADMIN_ACCOUNT });
    expect(login.status, JSON.stringify(login.body)).to.be.oneOf([200, 201]);
    expect(passed()).to.be.below(LOGIN_MS);
  });
});
