/**
 * Fields that a call does not know are ignored, and told in `warnings` of the answer (contract 00,
 * envelope).
 */
import { expect } from 'chai';
import joi from 'joi';
import { created, JsonText, Reply, text, type RouteSpec } from '../../../../ports/http/index.js';
import { TestServer } from '../support.js';

const shared = Object.freeze({ id: 'a', warnings: Object.freeze(['the package is large']) });
const body = joi.object({ name: joi.string(), set: joi.object({ title: joi.string() }), tags: joi.object() });
const route = (path: string, handle: RouteSpec['handle'], more: Partial<RouteSpec> = {}): RouteSpec => ({
  method: 'POST',
  path: `/api/t/v1/${path}`,
  summary: 'test',
  access: 'public',
  input: { body },
  handle,
  ...more,
});

describe('hapi: unknown fields', () => {
  let test: TestServer;
  before(async () => {
    test = await TestServer.create({
      routes: [
        route('plain', ({ body: taken }) => ({ taken })),
        route('created', () => created({ id: 'a' })),
        route('shared', () => shared),
        route('spliced', () => ({ item: new JsonText('{"a":1}') })),
        route('text', () => text('OK')),
        route('none', () => new Reply(204, null)),
        route('unwell', () => new Reply(503, { healthy: false })),
        route('bare', () => ({ status: 'inactive', released: true }), { bare: true }),
        route('signed', () => ({ status: 'active', signature: 'x' }), { bare: true }),
      ],
    });
  });
  after(() => test.stop());

  const post = async (path: string, sent: unknown): Promise<Record<string, unknown>> => {
    const payload = typeof sent === 'string' ? sent : JSON.stringify(sent);
    const answer = await test.server.inject({
      method: 'POST',
      url: `/api/t/v1/${path}`,
      headers: { 'content-type': 'application/json' },
      payload,
    });
    return answer.payload.startsWith('{')
      ? (JSON.parse(answer.payload) as Record<string, unknown>)
      : { text: answer.payload };
  };
  const CUSTOMER = ['customer is no field of this call'];

  it('are reported next to the data at every depth of the schema, and never passed to the handler', async () => {
    expect(await post('plain', { name: 'a', customer: 1, set: { titel: 'x' }, tags: { any: 1 } })).to.deep.equal({
      status: 'success',
      taken: { name: 'a', set: {}, tags: { any: 1 } },
      warnings: [...CUSTOMER, 'set.titel is no field of this call'].toSorted(),
    });
    expect(await post('plain', { name: 'a' })).to.deep.equal({ status: 'success', taken: { name: 'a' } });
  });

  it('include __proto__ and constructor in every spelling, which have no effect', async () => {
    const sent = '{"name":"a","__proto__":{"x":1},"constructor":{"prototype":{"y":1}},"set":{"\\u005f_proto__":1}}';
    expect(await post('plain', sent)).to.deep.equal({
      status: 'success',
      taken: { name: 'a', set: {} },
      warnings: ['set.__proto__', '__proto__', 'constructor'].map((name) => `${name} is no field of this call`),
    });
    expect((await post('plain', '{"constructor":1}'))['warnings']).to.deep.equal([
      'constructor is no field of this call',
    ]);
    expect(({} as Record<string, unknown>)['x']).to.equal(undefined);
  });

  it('are listed after the warnings of the handler, whose response is unchanged', async () => {
    expect((await post('shared', { customer: 1 }))['warnings']).to.deep.equal(['the package is large', ...CUSTOMER]);
    expect(shared.warnings).to.have.length(1);
    expect((await post('shared', {}))['warnings']).to.deep.equal(['the package is large']);
  });

  it('are reported in created responses, in spliced responses, and without the envelope', async () => {
    expect(await post('created', { customer: 1 })).to.deep.equal({ status: 'success', id: 'a', warnings: CUSTOMER });
    expect(await post('spliced', { customer: 1 })).to.deep.equal({
      status: 'success',
      item: { a: 1 },
      warnings: CUSTOMER,
    });
    expect(await post('bare', { customer: 1 })).to.deep.equal({
      status: 'inactive',
      released: true,
      warnings: CUSTOMER,
    });
  });

  it('are not reported in signed responses, texts and errors', async () => {
    expect(await post('signed', { customer: 1 })).to.deep.equal({ status: 'active', signature: 'x' });
    expect(await post('text', { customer: 1 })).to.deep.equal({ text: 'OK' });
    expect(await post('none', { customer: 1 })).to.deep.equal({ text: '' });
    expect(await post('unwell', { customer: 1 })).to.not.have.property('warnings');
    const wrong = await post('plain', { name: 7, customer: 1 });
    expect(wrong).to.not.have.property('warnings');
    expect(wrong['error']).to.deep.include({ code: 'validation_failed' });
  });
});
