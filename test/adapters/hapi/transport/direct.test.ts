/** Direct answers are those that hapi would give, header by header (decisions/020). */
import { request, type IncomingHttpHeaders } from 'node:http';
import { expect } from 'chai';
import joi from 'joi';
import { ServiceError } from '../../../../kernel/errors.js';
import { text, type RouteSpec } from '../../../../ports/http.js';
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

describe('hapi: direct answers', () => {
  let server: TestServer;

  before(async () => {
    server = await (await TestServer.create({ routes: [direct] })).start();
  });
  after(() => server.stop());

  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> =>
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
      sent.on('error', reject).end();
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

  it('leaves to hapi what is not plain: conditions, compression, parts, HEAD, other methods, fragments', async () => {
    const path = `${direct.path}?word=a`;
    expect((await ask(path, { 'if-none-match': '"a"' })).status).to.equal(304);
    expect((await ask(path, { 'accept-encoding': 'gzip' })).headers['content-encoding']).to.equal('gzip');
    const head = await ask(path, {}, 'HEAD');
    expect([head.status, head.body]).to.deep.equal([200, '']);
    expect((await ask(path, {}, 'DELETE')).status).to.equal(405);
    expect((await ask(`${direct.path}/?word=a`)).status).to.equal(404);
  });

  it('gives its place back, and counts', async () => {
    for (let n = 0; n < 300; n++) await ask(`${direct.path}?word=${n % 3 === 0 ? 'throw' : 'a'}`);
    expect((await ask(`${direct.path}?word=a`)).status).to.equal(200);
  });
});
