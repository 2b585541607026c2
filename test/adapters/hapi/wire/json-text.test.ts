/**
 * Members that are JSON already are sent as they are: byte for byte and header for header what
 * objects would have become.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { toSuccessJson } from '../../../../adapters/hapi/wire/envelope.js';
import { JsonText, Reply, type RouteSpec, type SharedBytes } from '../../../../ports/http/index.js';
import { TestServer } from '../support.js';

const text = (value: unknown): JsonText => new JsonText(JSON.stringify(value));
const bytes = (value: unknown): JsonText => new JsonText(new TextEncoder().encode(JSON.stringify(value)));
const textOf = (body: string | SharedBytes): string =>
  typeof body === 'string' ? body : Buffer.concat(body.parts).toString('utf8');

const ITEMS = Array.from({ length: 60 }, (_, i) => ({ id: `i${i}`, title: `ünïcode “${i}” \u2028 ${'x'.repeat(30)}` }));
const ANSWERS: Record<string, (member: (value: unknown) => unknown) => object> = {
  list: (member) => ({ items: member(ITEMS), next_cursor: null, has_more: false }),
  two: (member) => ({ a: 1, items: member([]), left: undefined, more: member({ b: [1] }), z: 'z' }),
  liar: (member) => ({ status: member('open'), items: member(ITEMS) }),
  only: (member) => ({ items: member(ITEMS) }),
};

describe('hapi: responses with pre-serialized JSON', () => {
  let test: TestServer;
  before(async () => {
    const route = (path: string, answer: object, more: Partial<RouteSpec> = {}): RouteSpec => ({
      method: 'GET',
      path,
      summary: 'test',
      access: 'public',
      handle: () => answer,
      ...more,
    });
    const pairs = Object.entries(ANSWERS).flatMap(([name, answer]) => [
      route(`/api/t/v1/${name}/text`, answer(text)),
      route(`/api/t/v1/${name}/bytes`, answer(bytes)),
      route(
        `/api/t/v1/${name}/plain`,
        answer((value) => value),
      ),
    ]);
    const bare = [
      route('/api/t/v1/bare/text', { items: text(ITEMS) }, { bare: true }),
      route('/api/t/v1/bare/bytes', { items: bytes(ITEMS) }, { bare: true }),
      route('/api/t/v1/bare/plain', { items: ITEMS }, { bare: true }),
      route('/api/t/v1/reply/text', new Reply(201, { items: text(ITEMS) })),
      route('/api/t/v1/reply/bytes', new Reply(201, { items: bytes(ITEMS) })),
      route('/api/t/v1/reply/plain', new Reply(201, { items: ITEMS })),
    ];
    test = await TestServer.create({ routes: [...pairs, ...bare] });
    await test.start();
  });
  after(() => test.stop());

  for (const name of [...Object.keys(ANSWERS), 'bare', 'reply']) {
    for (const [how, method, headers] of [
      ['whole', 'GET', {}],
      ['HEAD', 'HEAD', {}],
      ['compressed', 'GET', { 'accept-encoding': 'gzip' }],
      ['in part', 'GET', { range: 'bytes=5-20' }],
    ] as const) {
      it(`sends the same response as plain data: ${name}, ${how}`, async () => {
        const [plain, ...made] = await Promise.all(
          ['plain', 'text', 'bytes'].map((kind) =>
            fetch(`${test.url}/api/t/v1/${name}/${kind}`, {
              method,
              headers: { 'accept-encoding': 'identity', 'x-request-id': 'request-1', ...headers },
            }),
          ),
        );
        if (plain === undefined) throw new Error('no answer');
        const shown = (answer: Response): unknown =>
          [...answer.headers].filter(([header]) => header !== 'date' && !header.startsWith('ratelimit-'));
        const expected = await plain.text();
        for (const one of made) {
          expect(one.status).to.equal(plain.status);
          expect(shown(one)).to.deep.equal(shown(plain));
          expect(await one.text()).to.equal(expected);
        }
      });
    }
  }

  it('serializes any members', () => {
    const names = fc
      .string({ minLength: 1, maxLength: 6 })
      .filter((name) => name !== '__proto__' && !/^\d+$/.test(name));
    fc.assert(
      fc.property(fc.dictionary(names, fc.jsonValue()), fc.array(names), fc.array(names), (data, texts, buffers) => {
        const mixed = Object.fromEntries(
          Object.entries(data).map(([name, value], i) => [
            name,
            buffers.includes(name) ? bytes(value) : i === 0 || texts.includes(name) ? text(value) : value,
          ]),
        );
        const { status: _outcome, ...rest } = data;
        expect(textOf(toSuccessJson(mixed))).to.equal(JSON.stringify({ status: 'success', ...rest }));
      }),
    );
  });
});
