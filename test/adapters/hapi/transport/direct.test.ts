/** Direct answers are those that hapi would give, header by header (decisions/020). */
import { EventEmitter, once } from 'node:events';
import { request, type IncomingHttpHeaders } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import joi from 'joi';
import { ServiceError } from '../../../../kernel/errors.js';
import { Reply, text, type RouteSpec } from '../../../../ports/http.js';
import { until } from '../../../harness.js';
import { TestServer } from '../support.js';

interface Got {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

const LONG = 'x'.repeat(4_000);

const direct: RouteSpec = {
  method: 'GET',
  path: '/api/test/v1/direct',
  summary: 'A direct route',
  access: 'public',
  direct: true,
  input: { query: joi.object({ word: joi.string().max(10).required(), many: joi.array().items(joi.string()) }) },
  handle: ({ query, id }) => {
    const word = query['word'] as string;
    if (word === 'throw') throw new ServiceError('not_found', 'There is no such word.');
    if (word === 'fail') throw new Error('broken');
    if (word === 'later') return Promise.resolve({ word });
    if (word === 'rejected') return Promise.reject(new ServiceError('conflict', 'Not now.'));
    if (word === 'object') return { word, many: query['many'] ?? null };
    return text(`${word} ${LONG} ${id.length}`, 'application/json; charset=utf-8').header('etag', `"${word}"`);
  },
};

/** `held`: a handler waits; `go`: its test lets it go on. */
const gate = new EventEmitter();

const report: RouteSpec = {
  method: 'POST',
  path: '/api/test/v1/{number}/report/',
  aliases: ['/api/test/v1/report'],
  summary: 'A direct report',
  access: { scope: 'test:report' },
  direct: true,
  cors: true,
  input: {
    params: joi.object({ number: joi.number() }),
    body: joi.object({ word: joi.string().max(5_000).required() }),
  },
  status: [200, 201],
  limits: { inflate: true, bytes: 8_000 },
  handle: async ({ body, params }) => {
    const { word } = body as { word: string };
    if (word === 'nothing') return new Reply(204, null);
    if (word === 'broken') throw new Error('broken');
    if (word === 'conflict') throw new ServiceError('conflict', 'Not now.');
    if (word === 'held') {
      const go = once(gate, 'go');
      gate.emit('held');
      await go;
    }
    return new Reply(word === 'new' ? 201 : 200, { word, number: params['number'] ?? null }).header('x-own', 'yes');
  },
};

describe('hapi: direct answers', () => {
  let server: TestServer;

  before(async () => {
    const dotted: RouteSpec = {
      ...direct,
      path: '/api/test/v1/a.b/{number}',
      input: {},
      handle: () => ({ dotted: true }),
    };
    const optional: RouteSpec = { ...dotted, path: '/api/test/v1/optional/{number?}' };
    server = await (await TestServer.create({ routes: [direct, report, dotted, optional] })).start();
  });
  after(() => server.stop());

  const ask = (
    path: string,
    headers: Record<string, string> = {},
    method = 'GET',
    payload?: string | Buffer,
  ): Promise<Got> =>
    new Promise((resolve, reject) => {
      const sent = request(
        `${server.url}${path}`,
        { method, headers: { 'x-request-id': 'the-same-id', ...headers } },
        (response) => {
          let body = '';
          response.setEncoding('utf8').on('data', (piece: string) => (body += piece));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
        },
      );
      sent.on('error', reject).end(payload);
    });
  /** The same question, asked the whole way round: the condition holds never. */
  const round = (path: string): Promise<Got> => ask(path, { 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' });

  const shown = ({ status, headers, body }: Got): object => {
    const { date: _date, ...rest } = headers;
    return { status, headers: rest, body };
  };

  for (const query of [
    'word=a',
    'word=a&unknown=1&__proto__=2&constructor=3',
    'word=object&many=1&many=2',
    'word=object&many=1',
    'word=later',
    'word=throw',
    'word=fail',
    'word=rejected',
    'word=%C3%A4+%20b',
    'word=%',
    'word=',
    'word=a&word=b',
    'other=1',
    `word=${'x'.repeat(50)}`,
    '',
  ]) {
    it(`answers ?${query} as hapi does`, async () => {
      const path = `${direct.path}${query === '' ? '' : `?${query}`}`;
      expect(shown(await ask(path))).to.deep.equal(shown(await round(path)));
    });
  }

  it('passes conditions, compression, ranges, HEAD, other methods and fragments to hapi', async () => {
    const path = `${direct.path}?word=a`;
    expect((await ask(path, { 'if-none-match': '"a"' })).status).to.equal(304);
    expect((await ask(path, { 'accept-encoding': 'gzip' })).headers['content-encoding']).to.equal('gzip');
    const head = await ask(path, {}, 'HEAD');
    expect([head.status, head.body]).to.deep.equal([200, '']);
    expect((await ask(path, {}, 'DELETE')).status).to.equal(405);
    expect((await ask(`${direct.path}/?word=a`)).status).to.equal(404);
  });

  for (const path of ['a.b/1', 'axb/1', 'a.b/x', 'optional', 'optional/7']) {
    it(`does not handle other addresses: ${path}`, async () => {
      expect(shown(await ask(`/api/test/v1/${path}`))).to.deep.equal(shown(await round(`/api/test/v1/${path}`)));
    });
  }

  it('releases its slot, and counts', async () => {
    for (let n = 0; n < 300; n++) await ask(`${direct.path}?word=${n % 3 === 0 ? 'throw' : 'a'}`);
    expect((await ask(`${direct.path}?word=a`)).status).to.equal(200);
  });

  describe('with a credential and a body', () => {
    const path = '/api/test/v1/report';
    const bearer = { authorization: 'Bearer master:test:report' };
    const json = { 'content-type': 'application/json' };
    const never = { 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' };

    const cases: [what: string, path: string, headers: Record<string, string>, payload: string | Buffer][] = [
      ['200', path, { ...bearer, ...json }, '{"word":"a"}'],
      ['201', path, { ...bearer, ...json }, '{"word":"new"}'],
      ['204', path, { ...bearer, ...json }, '{"word":"nothing"}'],
      ['a parameter in its path', '/api/test/v1/17/report/', { ...bearer, ...json }, '{"word":"a"}'],
      ['a parameter in escapes', '/api/test/v1/1%37/report/', { ...bearer, ...json }, '{"word":"a"}'],
      ['a parameter that is no number', '/api/test/v1/x/report/', { ...bearer, ...json }, '{"word":"a"}'],
      ['a query', `${path}?a=1&a=2`, { ...bearer, ...json }, '{"word":"a"}'],
      ['an answer worth compressing', path, { ...bearer, ...json }, JSON.stringify({ word: LONG })],
      ['chunks', path, { ...bearer, ...json, 'transfer-encoding': 'chunked' }, '{"word":"a"}'],
      ['a compressed body', path, { ...bearer, ...json, 'content-encoding': 'gzip' }, gzipSync('{"word":"a"}')],
      ['no credential', path, json, '{"word":"a"}'],
      ['an unknown credential', path, { ...json, authorization: 'Bearer what' }, '{"word":"a"}'],
      ['a credential without the scope', path, { ...json, authorization: 'Bearer master:other:read' }, '{"word":"a"}'],
      ['a wrong field', path, { ...bearer, ...json }, '{"word":5}'],
      ['broken JSON', path, { ...bearer, ...json }, '{"word":'],
      ['another type', path, { ...bearer, 'content-type': 'text/plain' }, '{"word":"a"}'],
      ['too long a body', path, { ...bearer, ...json }, JSON.stringify({ word: 'x'.repeat(9_000) })],
      ['no body', path, bearer, ''],
      ['a refusal of the handler', path, { ...bearer, ...json }, '{"word":"conflict"}'],
      ['a fault', path, { ...bearer, ...json }, '{"word":"broken"}'],
      ['another origin', path, { ...bearer, ...json, origin: 'https://elsewhere.example' }, '{"word":"a"}'],
    ];
    for (const [what, at, headers, payload] of cases) {
      for (const encoding of [undefined, 'gzip', 'identity']) {
        it(`answers as hapi does: ${what}, Accept-Encoding ${encoding ?? 'absent'}`, async () => {
          const all = { ...headers, ...(encoding !== undefined && { 'accept-encoding': encoding }) };
          const straight = await ask(at, all, 'POST', payload);
          expect(shown(straight)).to.deep.equal(shown(await ask(at, { ...all, ...never }, 'POST', payload)));
        });
      }
    }

    it('leaves pre-flights and other methods to hapi', async () => {
      const asked = { origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' };
      const preflight = await ask(path, asked, 'OPTIONS');
      expect([preflight.status, preflight.headers['access-control-allow-origin']]).to.deep.equal([204, '*']);
      const wrong = await ask(path, bearer, 'PUT', '{}');
      expect([wrong.status, wrong.headers.allow]).to.deep.equal([405, 'POST, OPTIONS']);
    });

    it('sends 100 Continue to clients that wait for it', async () => {
      const connection = server.connect();
      await connection.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer.authorization}\r\nExpect: 100-continue\r\n` +
          'Content-Type: application/json\r\nContent-Length: 12\r\n\r\n',
      );
      await connection.until(({ received }) => received.includes('100 Continue'));
      await connection.write('{"word":"a"}');
      await connection.until(({ received }) => received.includes('HTTP/1.1 200'));
      connection.socket.destroy();
    });

    it('survives a client that disconnects within the body or before the response', async () => {
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer.authorization}\r\nContent-Type: application/json\r\n`;
      const cut = server.connect();
      await cut.write(`${head}Content-Length: 100\r\n\r\n{"word":`);
      cut.socket.destroy();
      const waits = once(gate, 'held');
      const gone = server.connect();
      await gone.write(`${head}Content-Length: 15\r\n\r\n{"word":"held"}`);
      await waits;
      gone.socket.destroy();
      await gone.until(({ closed }) => closed);
      gate.emit('go');
      expect((await ask(path, { ...bearer, ...json }, 'POST', '{"word":"a"}')).status).to.equal(200);
      expect(
        server.log.lines.filter(({ level, data }) => level === 'error' && String(data['err']).includes('socket')),
      ).to.deep.equal([]);
    });

    it('finishes requests under way when it stops, and closes', async () => {
      const own = await (await TestServer.create({ routes: [report] })).start();
      const waits = once(gate, 'held');
      const connection = own.connect();
      await connection.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer.authorization}\r\nContent-Type: application/json\r\n` +
          'Content-Length: 15\r\n\r\n{"word":"held"}',
      );
      await waits;
      const stopped = own.stop(5_000);
      await until('new connections are refused', () =>
        fetch(own.url).then(
          () => false,
          () => true,
        ),
      );
      gate.emit('go');
      await stopped;
      await connection.until(({ closed }) => closed);
      expect(connection.received).to.include('HTTP/1.1 200').and.include('connection: close');
      expect(connection.received).to.include('"word":"held"');
    });
  });
});
