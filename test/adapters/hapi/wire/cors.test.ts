import { expect } from 'chai';
import { TestServer } from '../support.js';

describe('hapi: CORS', () => {
  let test: TestServer;
  before(async () => {
    const handle = (): object => ({});
    test = await TestServer.create({
      routes: [
        {
          method: 'POST',
          path: '/api/t/v1/report',
          summary: '',
          access: { scope: 'a:b', intake: true },
          cors: true,
          handle,
        },
        { method: 'POST', path: '/api/t/v1/other', summary: '', access: { scope: 'a:b' }, handle },
      ],
    });
  });

  it('returns 204 for preflight requests of intake paths', async () => {
    const headers = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
    const preflight = await test.ask('OPTIONS', '/api/t/v1/report', { headers });
    expect([preflight.status, preflight.text]).to.deep.equal([204, '']);
    expect(preflight.headers).to.include({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST, OPTIONS',
    });
    expect(preflight.headers['access-control-allow-headers']).to.contain('x-sentry-auth');
    expect(preflight.headers).to.not.have.property('access-control-allow-credentials');
    expect((await test.ask('OPTIONS', '/api/t/v1/other', { headers })).status).to.equal(405);
  });

  it('exposes responses and errors of intake paths to other origins, and of no other path', async () => {
    const headers = { origin: 'https://shop.example' };
    const ok = await test.ask('POST', '/api/t/v1/report', { bearer: 'intake:', headers });
    expect([ok.status, ok.headers['access-control-allow-origin']]).to.deep.equal([200, '*']);
    const rejected = await test.ask('POST', '/api/t/v1/report', { headers });
    expect([rejected.status, rejected.headers['access-control-allow-origin']]).to.deep.equal([401, '*']);
    const other = await test.ask('POST', '/api/t/v1/other', { bearer: 'master:a:b', headers });
    expect(other.headers).to.not.have.property('access-control-allow-origin');
  });
});
