import { expect } from 'chai';
import joi from 'joi';
import type { RouteSpec } from '../../../../ports/http/index.js';
import { TestServer } from '../support.js';

const query = joi.object({
  limit: joi.number().integer().min(1).max(200).default(50),
  status: joi.array().items(joi.string().valid('open', 'closed')),
  q: joi.string(),
  include_total: joi.boolean(),
});
const route = (path: string, more: Partial<RouteSpec>): RouteSpec => ({
  method: 'GET',
  path: `/api/t/v1/${path}`,
  summary: 'test',
  access: 'public',
  input: { query },
  handle: (request) => ({ query: request.query }),
  ...more,
});

describe('hapi: query parameters', () => {
  let test: TestServer;
  before(async () => {
    test = await TestServer.create({
      routes: [
        route('strict', { strictQuery: true }),
        route('loose', {}),
        route('none', { input: {}, strictQuery: true }),
        route('bare', { bare: true }),
      ],
    });
  });

  it('converts values, fills in defaults, and returns lists for repeated and single values', async () => {
    const both = await test.ask('GET', '/api/t/v1/strict?limit=10&status=open&status=closed&include_total=true');
    expect(both.body.query).to.deep.equal({ limit: 10, status: ['open', 'closed'], include_total: true });
    const single = await test.ask('GET', '/api/t/v1/strict?status=open&q=a%20b+c');
    expect(single.body.query).to.deep.equal({ limit: 50, status: ['open'], q: 'a b c' });
  });

  it('rejects unknown parameters on a strict route, and lists the supported parameters', async () => {
    const unknown = await test.ask('GET', '/api/t/v1/strict?statsu=open&constructor=1');
    expect([unknown.status, unknown.code]).to.deep.equal([400, 'invalid_request']);
    expect(unknown.fields['statsu']).to.equal(
      'is not a parameter of this path; allowed: limit, status, q, include_total',
    );
    expect((await test.ask('GET', '/api/t/v1/none?a=1')).fields['a']).to.equal(
      'is not a parameter of this path; it has none',
    );
    expect((await test.ask('GET', '/api/t/v1/loose?statsu=open&__proto__=1')).body.query).to.deep.equal({ limit: 50 });
  });

  for (const [search, field] of [
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=x', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['q=a&q=b', 'q'],
    ['q=', 'q'],
    ['status=opne', 'status'],
    ['status=open&status=opne', 'status.1'],
    ['include_total=maybe', 'include_total'],
  ] as const) {
    it(`rejects ${search}`, async () => {
      for (const path of ['strict', 'loose']) {
        const bad = await test.ask('GET', `/api/t/v1/${path}?${search}`);
        expect([bad.status, bad.code, Object.keys(bad.fields)]).to.deep.equal([400, 'invalid_request', [field]]);
      }
    });
  }

  it('reports the same errors on bare routes, without the envelope', async () => {
    const bad = await test.ask('GET', '/api/t/v1/bare?limit=0');
    expect([bad.status, bad.body.status, Object.keys(bad.body['fields'] ?? {})]).to.deep.equal([
      400,
      'invalid_request',
      ['limit'],
    ]);
  });

  it('accepts unusual percent-encodings', async () => {
    for (const search of ['q=%', 'q=%zz', 'q=%ff', '%=1', '&&&', '=', 'q=a=b=c', '?q=1']) {
      expect((await test.ask('GET', `/api/t/v1/loose?${search}`)).status, search).to.be.oneOf([200, 400]);
    }
  });
});
