import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import joi from 'joi';
import type { RouteSpec } from '../../../../ports/http/index.js';
import { zstdCompressSync } from '../limits/zlib.js';
import { NO_LIMITS, TestServer } from '../support.js';

const KIB = 1024;
const post = (path: string, more: Partial<RouteSpec>): RouteSpec => ({
  method: 'POST',
  path: `/api/t/v1/${path}`,
  summary: 'test',
  access: { scope: 'a:b' },
  input: { body: joi.object().unknown() },
  handle: ({ body }) => ({ body: body as object }),
  ...more,
});
const item = joi.object({
  name: joi.string().max(10).required(),
  size: joi.number().integer(),
  on: joi.boolean(),
  kind: joi.string().valid('a', 'b').default('a'),
  tags: joi.array().items(joi.string()),
  at: joi.object({ x: joi.number().required() }),
});

describe('hapi: request bodies', () => {
  let test: TestServer;
  before(async () => {
    test = await TestServer.create(
      {
        routes: [
          post('any', {}),
          post('item', { input: { body: item } }),
          post('many', { input: { body: joi.alternatives(item, joi.array().items(item).max(3)) } }),
          post('optional', { input: { body: joi.object({ a: joi.number().default(7) }), optionalBody: true } }),
          post('inflate', { limits: { inflate: true } }),
          post('loose', { limits: { payload: 'json-any-type' } }),
          post('raw', {
            input: {},
            limits: { payload: 'raw', inflate: true, bytes: 4 * KIB },
            handle: ({ body }) => ({ bytes: (body as Buffer).length }),
          }),
          post('beginning', {
            input: {},
            access: 'public',
            limits: { payload: 'raw', keptBytes: 100 },
            handle: ({ body }) => ({ text: (body as Buffer).toString() }),
          }),
          post('bare', { bare: true, access: 'public', input: { body: item } }),
          post('none', { input: {}, handle: ({ body }) => ({ body: body === null }) }),
        ],
      },
      { limits: { ...NO_LIMITS, json_bytes: 64 * KIB, inflated_bytes: 256 * KIB } },
    );
    await test.start();
  });
  after(() => test.stop());

  const bearer = 'master:a:b';
  const send = (path: string, payload: string | Buffer, type: string | null = 'application/json', headers = {}) =>
    test.ask('POST', `/api/t/v1/${path}`, {
      bearer,
      payload,
      headers: { ...(type !== null && { 'content-type': type }), ...headers },
    });

  it('accepts an object, drops unknown fields, and fills in defaults', async () => {
    const taken = await send(
      'item',
      '{"name":"x","unknown":{"y":1},"at":{"x":1,"z":2},"__proto__":{"a":1},"constructor":5}',
    );
    expect([taken.status, taken.body.body]).to.deep.equal([200, { name: 'x', at: { x: 1 }, kind: 'a' }]);
  });

  for (const [what, payload, headers, text] of [
    ['a short body', 'short', {}, 'short'],
    ['a body over every other limit', 'x'.repeat(1_200 * KIB), {}, 'x'.repeat(100)],
    ['a gzip body', gzipSync('0123456789'), { 'content-encoding': 'gzip' }, '0123456789'],
    ['a large gzip body', gzipSync(Buffer.alloc(4 << 20, 'y')), { 'content-encoding': 'gzip' }, 'y'.repeat(100)],
    ['a damaged body', 'no gzip', { 'content-encoding': 'gzip' }, ''],
    ['a body in an unknown encoding', 'x', { 'content-encoding': 'snappy' }, ''],
  ] as const)
    it(`passes the first bytes of ${what} to a route that stores only a prefix`, async () => {
      const taken = await send('beginning', payload, 'text/plain', headers);
      expect([taken.status, taken.body['text']]).to.deep.equal([200, text]);
      expect((await send('beginning', 'next', 'text/plain')).body['text'], 'the connection goes on').to.equal('next');
    });

  it('reports every invalid field, and rejects numbers and booleans sent as strings', async () => {
    const wrong = await send('item', '{"size":"5","on":"true","kind":"c","tags":["a",1],"at":{}}');
    expect([wrong.status, wrong.code]).to.deep.equal([422, 'validation_failed']);
    expect(wrong.fields).to.deep.equal({
      name: 'is required',
      size: 'must be a number',
      on: 'must be a boolean',
      kind: 'must be one of a, b',
      'tags.1': 'must be a string',
      'at.x': 'is required',
    });
  });

  it('accepts arrays only where the schema allows them', async () => {
    expect((await send('item', '[{"name":"x"}]')).code).to.equal('invalid_json');
    expect((await send('many', '[{"name":"x"},{"name":"y"}]')).body.body).to.have.length(2);
    expect((await send('many', '[{"name":"x"},{}]')).code).to.equal('validation_failed');
  });

  for (const [name, payload] of [
    ['half an object', '{"name":'],
    ['no JSON', 'name=x'],
    ['a string', '"x"'],
    ['null', 'null'],
    ['a number', '5'],
    ['nothing', ''],
    ['white space', '  '],
    ['NaN', '{"a":NaN}'],
    ['two documents', '{}{}'],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['UTF-16', Buffer.from('\ufeff{"name":"x"}', 'utf16le')],
    ['65 levels', `{"a":${'['.repeat(64)}${']'.repeat(64)}}`],
    ['30,000 levels', '['.repeat(30_000)],
  ] as const) {
    it(`returns 400 invalid_json for ${name}`, async () => {
      const bad = await send('any', payload);
      expect([bad.status, bad.code]).to.deep.equal([400, 'invalid_json']);
    });
  }

  it('returns invalid_request on a bare route: 400 unless the body is a JSON object, else 422', async () => {
    for (const [payload, status] of [
      ['{', 400],
      ['[]', 400],
      ['{}', 422],
    ] as const) {
      const bad = await test.ask('POST', '/api/t/v1/bare', {
        payload,
        headers: { 'content-type': 'application/json' },
      });
      expect([bad.status, bad.body.status]).to.deep.equal([status, 'invalid_request']);
    }
  });

  it('accepts a byte order mark, 64 levels of nesting, and non-ASCII text', async () => {
    expect((await send('item', '\ufeff{"name":"ü€😀"}')).body['body']?.['name']).to.equal('ü€😀');
    expect((await send('any', `{"a":${'['.repeat(63)}"[[[["${']'.repeat(63)}}`)).status).to.equal(200);
  });

  it('rejects __proto__ in every spelling', async () => {
    for (const key of ['__proto__', '\\u005f_proto__', '__\\u0070roto__', '__pr\\u006Fto__']) {
      const taken = await send(
        'any',
        `{"a":{"${key}":{"polluted":1},"b":2},"constructor":{"prototype":{"polluted":1}}}`,
      );
      expect(taken.text).to.equal('{"status":"success","body":{"a":{"b":2}}}');
    }
    expect({}).to.not.have.property('polluted');
  });

  it('requires application/json for JSON', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'nonsense',
      'application/json; charset=iso-8859-1',
    ]) {
      const wrong = await send('any', '{}', type);
      expect([wrong.status, wrong.code], type).to.deep.equal([415, 'unsupported_media_type']);
    }
    for (const type of ['application/json; charset=UTF-8', 'Application/JSON', 'application/problem+json', null]) {
      expect((await send('any', '{}', type)).status, String(type)).to.equal(200);
    }
    expect((await send('loose', '{}', 'text/plain')).status).to.equal(200);
  });

  it('accepts a missing body when it is optional', async () => {
    const none = await test.ask('POST', '/api/t/v1/optional', { bearer });
    expect(none.body.body).to.deep.equal({ a: 7 });
    expect((await send('optional', '{"a":1}')).body.body).to.deep.equal({ a: 1 });
    expect((await send('optional', '{"a":"x"}')).code).to.equal('validation_failed');
    expect((await test.ask('POST', '/api/t/v1/none', { bearer })).body.body).to.equal(true);
  });

  it('inflates gzip, deflate (both kinds) and br where the route allows it', async () => {
    const json = '{"name":"x"}';
    for (const [encoding, bytes] of [
      ['gzip', gzipSync(json)],
      ['x-gzip', gzipSync(json)],
      ['deflate', deflateSync(json)],
      ['deflate', deflateRawSync(json)],
      ['br', brotliCompressSync(json)],
      ['GZIP', gzipSync(json)],
      ['identity', Buffer.from(json)],
    ] as const) {
      const taken = await send('inflate', bytes, 'application/json', { 'content-encoding': encoding });
      expect([taken.status, taken.body.body], encoding).to.deep.equal([200, { name: 'x' }]);
    }
    expect((await send('any', gzipSync(json), 'application/json', { 'content-encoding': 'gzip' })).code).to.equal(
      'unsupported_media_type',
    );
    expect((await send('inflate', json, 'application/json', { 'content-encoding': 'compress' })).code).to.equal(
      'unsupported_media_type',
    );
    expect(
      (await send('inflate', gzipSync(json), 'application/json', { 'content-encoding': 'gzip, gzip' })).code,
    ).to.equal('unsupported_media_type');
  });

  it('inflates zstd when Node supports it, and otherwise lists the accepted encodings', async () => {
    const json = '{"name":"x"}';
    const zstd = { 'content-encoding': 'zstd' };
    if (zstdCompressSync === undefined) {
      const rejected = await send('inflate', json, 'application/json', zstd);
      expect([rejected.status, rejected.code]).to.deep.equal([415, 'unsupported_media_type']);
      expect(rejected.headers['accept-encoding']).to.equal('gzip, deflate, br');
      expect(rejected.body['error']?.['message']).to.contain('Node 22.15');
      return;
    }
    const taken = await send('inflate', zstdCompressSync(Buffer.from(json)), 'application/json', zstd);
    expect([taken.status, taken.body.body]).to.deep.equal([200, { name: 'x' }]);
    const bomb = await send('inflate', zstdCompressSync(Buffer.alloc(20 * KIB * KIB, 0x20)), 'application/json', zstd);
    expect([bomb.status, bomb.code]).to.deep.equal([413, 'payload_too_large']);
    const damaged = await send('inflate', json, 'application/json', zstd);
    expect([damaged.status, damaged.code]).to.deep.equal([400, 'invalid_request']);
  });

  it('stops inflating at the limit, and returns 400 for corrupt data', async () => {
    const bomb = gzipSync(Buffer.alloc(20 * KIB * KIB, 0x20));
    expect(bomb.length).to.be.below(64 * KIB);
    const large = await send('inflate', bomb, 'application/json', { 'content-encoding': 'gzip' });
    expect([large.status, large.code]).to.deep.equal([413, 'payload_too_large']);
    for (const [encoding, bytes] of [
      ['gzip', Buffer.from('{"name":"x"}')],
      ['gzip', gzipSync('{"name":"x"}').subarray(0, 20)],
      ['br', Buffer.from([0xff, 0xff, 0xff])],
    ] as const) {
      const damaged = await send('inflate', bytes, 'application/json', { 'content-encoding': encoding });
      expect([damaged.status, damaged.code]).to.deep.equal([400, 'invalid_request']);
    }
  });

  it('passes raw bytes up to the limit of the route', async () => {
    expect((await send('raw', Buffer.from([0xff, 0, 1]), null)).body.bytes).to.equal(3);
    expect((await send('raw', Buffer.alloc(5 * KIB), null)).code).to.equal('payload_too_large');
    expect((await test.ask('POST', '/api/t/v1/raw', { bearer })).body.bytes).to.equal(0);
  });

  it('returns 413 for a Content-Length above the limit', async () => {
    const large = await send('any', `{"a":"${'x'.repeat(70 * KIB)}"}`);
    expect([large.status, large.code]).to.deep.equal([413, 'payload_too_large']);
  });

  it('rejects a body with too many values', async () => {
    const roomy = await TestServer.create({ routes: [post('any', {})] });
    const many = await roomy.ask('POST', '/api/t/v1/any', {
      bearer,
      json: { a: Array.from({ length: 12_000 }, () => 0) },
    });
    expect([many.status, many.code]).to.deep.equal([400, 'invalid_json']);
  });

  describe('over raw sockets', () => {
    const head = (path: string, more: string[]): string =>
      [
        `POST /api/t/v1/${path} HTTP/1.1`,
        'Host: x',
        `Authorization: Bearer ${bearer}`,
        'Content-Type: application/json',
        ...more,
        '',
        '',
      ].join('\r\n');
    const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

    it('returns 413 as soon as a chunked body is too large, and drains it so that the response arrives', async () => {
      const connection = test.connect();
      await connection.write(head('any', ['Transfer-Encoding: chunked']));
      for (let i = 0; i < 200; i++) await connection.write(chunk('x'.repeat(16 * KIB)));
      await connection.write('0\r\n\r\n');
      await connection.until(({ received }) => received.includes('payload_too_large'));
      expect(connection.received).to.match(/^HTTP\/1\.1 413 /);
      expect(connection.received).to.match(/x-request-id: /i);
      expect(connection.error).to.equal(null);
      // The connection is still good.
      await connection.write(head('optional', ['Content-Length: 2']) + '{}');
      await connection.until(({ received }) => received.includes('"a":7'));
      connection.close();
    });

    it('returns 413 for an endless chunked body', async () => {
      const connection = test.connect();
      await connection.write(head('any', ['Transfer-Encoding: chunked']) + chunk('x'.repeat(100 * KIB)));
      await connection.until(({ received }) => received.includes('payload_too_large'));
      connection.close();
    });

    it('returns 413 or 401 by Content-Length before the body arrives', async () => {
      for (const [path, code] of [['any', 'payload_too_large']] as const) {
        const connection = test.connect();
        await connection.write(head(path, ['Content-Length: 100000000']));
        await connection.until(({ received }) => received.includes(code));
        expect(connection.received).to.match(/^HTTP\/1\.1 413 /);
        connection.close();
      }
      const stranger = test.connect();
      await stranger.write('POST /api/t/v1/any HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n');
      await stranger.until(({ received }) => received.includes('unauthorized'));
      stranger.close();
    });

    it('sends 100 Continue only for permitted requests', async () => {
      const welcome = test.connect();
      await welcome.write(head('any', ['Content-Length: 2', 'Expect: 100-continue']));
      await welcome.until(({ received }) => received.includes('100 Continue'));
      await welcome.write('{}');
      await welcome.until(({ received }) => received.includes('"status":"success"'));
      welcome.close();
      const rejected = test.connect();
      await rejected.write(
        'POST /api/t/v1/any HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n',
      );
      await rejected.until(({ received, closed }) => received.includes('unauthorized') && closed);
      expect(rejected.received).to.not.contain('100 Continue');
      expect(rejected.received).to.match(/connection: close/i);
    });

    it('returns 400 for a body that does not arrive in time', async () => {
      // A server of its own: anyone who else is late here is late because the machine is busy.
      const hasty = await (await TestServer.create({ routes: [post('any', {})] }, { bodyTimeoutMs: 150 })).start();
      const connection = hasty.connect();
      await connection.write(head('any', ['Content-Length: 20']) + '{"a":');
      await connection.until(({ received }) => received.includes('did not arrive'));
      expect(connection.received).to.match(/^HTTP\/1\.1 400 /);
      connection.close();
      await hasty.stop();
    });

    it('survives a client that disconnects mid-request', async () => {
      const connection = test.connect();
      await connection.write(head('any', ['Content-Length: 20']) + '{"a":');
      connection.close();
      await connection.until(({ closed }) => closed);
      expect((await test.ask('POST', '/api/t/v1/optional', { bearer })).status).to.equal(200);
      expect(test.log.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
    });

    it('returns an envelope for invalid HTTP', async () => {
      for (const [status, bytes] of [
        [400, 'nonsense\r\n\r\n'],
        [400, 'GET / HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n'],
        [431, `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`],
        [431, `GET /${'y'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
      ] as const) {
        const connection = test.connect();
        await connection.write(bytes);
        await connection.until(({ closed }) => closed);
        expect(connection.received).to.match(new RegExp(`^HTTP/1\\.1 ${status} [A-Z]`));
        expect(connection.received).to.match(/X-Request-Id: /);
        expect(JSON.parse(connection.received.split('\r\n\r\n')[1]!).error.code).to.equal('invalid_request');
      }
    });

    it('returns 400 for a malformed chunk', async () => {
      const connection = test.connect();
      await connection.write(head('any', ['Transfer-Encoding: chunked']) + 'zz\r\n');
      await connection.until(({ closed }) => closed);
      expect(connection.received).to.match(/^HTTP\/1\.1 400 /);
      expect(connection.received).to.contain('"invalid_request"');
    });

    it('answers pipelined requests in order, even when garbage follows', async () => {
      const connection = test.connect();
      const one = (a: number): string => head('optional', ['Content-Length: 7']) + `{"a":${a}}`;
      await connection.write(one(1) + one(2) + one(3) + 'garbage\r\n\r\n');
      await connection.until(({ received, closed }) => received.includes('invalid_request') && closed);
      const order = [...connection.received.matchAll(/"a":(\d)|invalid_request/g)].map((match) => match[0]);
      expect(order).to.deep.equal(['"a":1', '"a":2', '"a":3', 'invalid_request']);
    });

    it('answers an absolute request URI and an asterisk', async () => {
      const absolute = test.connect();
      await absolute.write('GET http://elsewhere/api/nowhere HTTP/1.1\r\nHost: Elsewhere:80\r\n\r\n');
      await absolute.until(({ received }) => received.includes('not_found'));
      absolute.close();
      const asterisk = test.connect();
      await asterisk.write('OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n');
      await asterisk.until(({ received }) => received.includes('"error"'));
      expect(asterisk.received).to.match(/^HTTP\/1\.1 4\d\d /);
      asterisk.close();
    });
  });
});
