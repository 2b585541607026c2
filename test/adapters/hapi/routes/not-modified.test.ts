/** Small answers with an entity tag: 304 by the handler itself. */
import { expect } from 'chai';
import { Reply, type RouteSpec } from '../../../../ports/http/index.js';
import { TestServer } from '../support.js';

describe('hapi: 304 responses', () => {
  const data = { text: 'x'.repeat(3_000) };
  const route: RouteSpec = {
    method: 'GET',
    path: '/api/t/v1/document',
    summary: 'test',
    access: 'public',
    limits: { rate: 'none' },
    handle: ({ headers }) =>
      (headers['if-none-match'] === '"v1"' ? new Reply(304, null) : new Reply(200, data))
        .header('etag', '"v1"')
        .header('cache-control', 'no-cache'),
  };
  let test: TestServer;
  before(async () => {
    test = await TestServer.create({ routes: [route] });
    await test.start();
  });
  after(() => test.stop());

  it('carry the ETag and Cache-Control of the handler, over a keep-alive connection', async () => {
    const whole = await fetch(`${test.url}/api/t/v1/document`);
    expect([whole.status, whole.headers.get('etag'), whole.headers.get('cache-control')]).to.deep.equal([
      200,
      '"v1"',
      'no-cache',
    ]);
    expect(await whole.json()).to.deep.equal({ status: 'success', ...data });
    const client = test.connect();
    for (let i = 1; i <= 2; i++) {
      await client.write('GET /api/t/v1/document HTTP/1.1\r\nHost: a\r\nIf-None-Match: "v1"\r\n\r\n');
      await client.until(({ received }) => received.split('HTTP/1.1 304').length === i + 1);
    }
    const head = client.received.toLowerCase();
    expect(head).to.contain('etag: "v1"').and.to.contain('cache-control: no-cache').and.to.contain('x-request-id: ');
    expect(head).not.to.contain('\r\ncontent-type:');
    expect(client.received.endsWith('\r\n\r\n')).to.equal(true);
    client.close();
  });

  it('match an ETag that a proxy has weakened, one of several ETags, and an asterisk', async () => {
    const ask = (tags: string): Promise<Response> =>
      fetch(`${test.url}/api/t/v1/document`, { headers: { 'if-none-match': tags } });
    for (const tags of ['W/"v1"', '"v0", "v1"', 'W/"v0",W/"v1"', '*']) {
      const answer = await ask(tags);
      expect([answer.status, answer.headers.get('etag'), await answer.text()], tags).to.deep.equal([304, '"v1"', '']);
      expect(answer.headers.get('content-type'), tags).to.equal(null);
    }
    for (const tags of ['"v0"', 'v1', 'W/"v11"']) expect((await ask(tags)).status, tags).to.equal(200);
    const headed = await fetch(`${test.url}/api/t/v1/document`, {
      method: 'HEAD',
      headers: { 'if-none-match': 'W/"v1"' },
    });
    expect([headed.status, headed.headers.get('etag')]).to.deep.equal([304, '"v1"']);
  });

  it('use a different ETag for compressed responses, which matches for the same request', async () => {
    const zipped = await fetch(`${test.url}/api/t/v1/document`, { headers: { 'accept-encoding': 'gzip' } });
    expect(zipped.headers.get('content-encoding')).to.equal('gzip');
    const tag = zipped.headers.get('etag') ?? '';
    const again = await fetch(`${test.url}/api/t/v1/document`, {
      headers: { 'accept-encoding': 'gzip', 'if-none-match': tag },
    });
    expect([tag, again.status]).to.deep.equal([tag, 304]);
  });
});
