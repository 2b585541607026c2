import { expect } from 'chai';
import fc from 'fast-check';
import { createAddressResolver } from '../../../../adapters/hapi/wire/client-address.js';
import { parseCookies, formatSetCookie } from '../../../../adapters/hapi/wire/cookies.js';
import { Failure } from '../../../../adapters/hapi/wire/failure.js';
import { parseForm } from '../../../../adapters/hapi/body/form.js';
import { parseJson } from '../../../../adapters/hapi/body/json.js';
import { getCpuTimeMs } from '../../../support/cpu-time.js';

const json = async (value: unknown): Promise<unknown> => parseJson(Buffer.from(JSON.stringify(value)));

describe('hapi: body parsers', () => {
  it('parses what JSON.stringify writes', async () => {
    const value = fc.jsonValue({ maxDepth: 20 }).filter((sample) => !JSON.stringify(sample).includes('__proto__'));
    await fc.assert(
      fc.asyncProperty(value, async (sample) => {
        expect(await json(sample)).to.deep.equal(JSON.parse(JSON.stringify(sample)));
      }),
    );
  });

  it('never throws for any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const value = await parseJson(Buffer.from(bytes));
        if (value instanceof Failure) expect(value.code).to.equal('invalid_json');
      }),
    );
  });

  it('rejects 100,000 levels of nesting of any kind, anywhere, before parsing', async () => {
    const deep = (open: string, close: string): string => open.repeat(100_000) + '1' + close.repeat(100_000);
    for (const nested of [
      deep('[', ']'),
      deep('{"a":', '}'),
      '['.repeat(100_000),
      `{"x":[1,2],"y":${deep('[', ']')}}`,
    ]) {
      const { parse } = JSON;
      let parsed = 0;
      JSON.parse = (...given) => (parsed++, parse(...given) as unknown);
      const value = await Promise.resolve(parseJson(Buffer.from(nested), 50_000)).finally(() => (JSON.parse = parse));
      expect(value).to.be.instanceOf(Failure).with.property('code', 'invalid_json');
      expect(parsed).to.equal(0);
    }
  });

  it('treats brackets within strings as text', async () => {
    for (const text of ['['.repeat(1_000), '{'.repeat(100), '\\"['.repeat(100)]) {
      expect(await json({ text, list: [[text]] })).to.deep.equal({ text, list: [[text]] });
    }
  });

  it('parses large arrays element by element, with the same result as JSON.parse', async () => {
    const element = { text: 'x,]"\\'.repeat(1_000), list: [[1, { a: '[' }], []], '': null };
    const large = Array.from({ length: 300 }, (_, i) => ({ ...element, i }));
    expect(await json(large)).to.deep.equal(large);
    const spaced = Buffer.from(` \n[ ${large.map((one) => JSON.stringify(one)).join(' , ')} ]\t`);
    expect(await parseJson(spaced)).to.deep.equal(large);
    expect(await json({ large })).to.deep.equal({ large });
  });

  for (const [name, wrap] of [
    ['a trailing comma', (one: string) => `[${one},]`],
    ['a missing element', (one: string) => `[${one},,1]`],
    ['a missing end', (one: string) => `[${one},1`],
    ['something behind it', (one: string) => `[${one},1]x`],
    ['mixed brackets', (one: string) => `[${one},{"a":1]}]`],
  ] as const) {
    it(`rejects a large array with ${name}`, async () => {
      const value = await parseJson(Buffer.from(wrap(JSON.stringify('y'.repeat(400_000)))));
      expect(value).to.be.instanceOf(Failure).with.property('code', 'invalid_json');
    });
  }

  it('parses large objects and strings in chunks, with the same result as JSON.parse', async function () {
    const part = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.jsonValue({ maxDepth: 3 }).filter((sample) => !JSON.stringify(sample).includes('__proto__')),
      fc.constantFrom('\\', '"', '\\"', '\n', 'ü€😀', ',]}"', '\u2028'),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.tuple(
            fc.string().filter((key) => key !== '__proto__'),
            part,
          ),
          { minLength: 1 },
        ),
        fc.constantFrom(JSON.stringify, (value: unknown) => JSON.stringify(value, null, 2)),
        async (members, write) => {
          const text = members
            .map(([, value]) => (typeof value === 'string' ? value : JSON.stringify(value)))
            .join('.');
          const long = `${text}.`.repeat(Math.ceil(300_000 / (text.length + 1)));
          const sample = { ...Object.fromEntries(members), long, inner: { long, list: [long, {}] }, [long]: [] };
          const written = write(sample);
          expect(await parseJson(Buffer.from(written), 1e6)).to.deep.equal(JSON.parse(written));
        },
      ),
      { numRuns: 6 },
    );
  });

  for (const [name, wrap] of [
    ['a trailing comma', (one: string) => `{"a":${one},}`],
    ['two commas', (one: string) => `{"a":${one},,"b":1}`],
    ['no name', (one: string) => `{${one}}`],
    ['a number for a name', (one: string) => `{1:${one}}`],
    ['two colons', (one: string) => `{"a"::${one}}`],
    ['two objects', (one: string) => `{"a":${one}},{"b":${one}}`],
    ['a text that does not end', (one: string) => `{"a":${one.slice(0, -1)}\\"}`],
    ['a raw line feed in a text', (one: string) => `{"a":${one.replace('y', '\n')}}`],
    ['half an escape', (one: string) => `{"a":${one.slice(0, -1)}\\u00"}`],
    ['another end', (one: string) => `{"a":${one}]`],
  ] as const) {
    it(`rejects a large object with ${name}`, async () => {
      const value = await parseJson(Buffer.from(wrap(JSON.stringify('y'.repeat(400_000)))));
      expect(value).to.be.instanceOf(Failure).with.property('code', 'invalid_json');
    });
  }

  it('uses the last of two members with the same name, including in large objects', async () => {
    const long = 'y'.repeat(400_000);
    expect(await parseJson(Buffer.from(`{"a":1,"b":"${long}","a":2}`))).to.deep.equal({ a: 2, b: long });
    expect(await parseJson(Buffer.from(`{"__proto__":{"x":1},"b":"${long}"}`))).to.deep.equal({ b: long });
    expect(await parseJson(Buffer.from(`{ ${' '.repeat(300_000)} }`))).to.deep.equal({});
  });

  for (const [name, value] of [
    ['a list of reports', Array.from({ length: 100 }, () => ({ stack: 'at f (x.js:1:2)\n'.repeat(5_000) }))],
    ['one object with one text', { error_message: 'x\n'.repeat(2_600_000) }],
    ['many texts in a context', { context: { list: Array.from({ length: 40_000 }, () => 'ä\n'.repeat(48)) } }],
  ] as const) {
    it(`yields to the event loop repeatedly with 8 MiB of ${name}`, async () => {
      const bytes = Buffer.from(JSON.stringify(value));
      expect(bytes.length).to.be.within(7e6, 9e6);
      await parseJson(bytes, 50_000);
      let longest = 0;
      const began = getCpuTimeMs();
      let seen = began;
      const look = (): void => {
        longest = Math.max(longest, getCpuTimeMs() - seen);
        seen = getCpuTimeMs();
      };
      const parsed = parseJson(bytes, 50_000) as Promise<unknown>;
      const state = { done: false };
      void parsed.finally(() => (state.done = true));
      while (!state.done) {
        await new Promise((resolve) => setImmediate(resolve));
        look();
      }
      expect(await parsed).to.deep.equal(value);
      // Both in processor time of this thread, so that a slow machine changes neither's part of the
      // other.
      expect(longest, `of ${seen - began} ms`).to.be.below((seen - began) / 3);
    });
  }

  it('yields to the event loop while it parses 8 MiB', async () => {
    const bytes = Buffer.from(
      JSON.stringify(Array.from({ length: 100 }, () => ({ stack: 'at f (x.js:1:2)\n'.repeat(5_000) }))),
    );
    expect(bytes.length).to.be.above(7 * 1024 * 1024);
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await parseJson(bytes);
    clearInterval(timer);
    expect(turns).to.be.above(2);
  });

  it('parses forms into objects without a prototype, with repeated fields as lists', () => {
    expect(parseForm(Buffer.from('a=1&b=x+y%20%C3%BC&a=2&a=3&__proto__=z&c'))).to.deep.equal({
      a: ['1', '2', '3'],
      b: 'x y ü',
      c: '',
    });
    expect(parseForm(Buffer.from('a&'.repeat(5_000)))).to.be.instanceOf(Failure);
    fc.assert(fc.property(fc.string(), (text) => void parseForm(Buffer.from(text))));
  });

  it('parses the cookies that it writes, and tolerates any header', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const header = formatSetCookie({ name: 'svc_x', value }, false);
        expect(header).to.match(/^svc_x=[^;\s]*; Path=\/; HttpOnly; SameSite=Lax$/);
        expect(parseCookies(`a=b; ${header.split(';')[0]}; c`, false)['svc_x']).to.equal(value);
        const secure = formatSetCookie({ name: 'svc_x', value }, true);
        expect(secure).to.match(/^__Host-svc_x=[^;\s]*; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
        expect(parseCookies(`a=b; svc_x=planted; ${secure.split(';')[0]}; c`, true)).to.deep.equal({ svc_x: value });
      }),
    );
    fc.assert(fc.property(fc.string(), fc.boolean(), (header, secure) => void parseCookies(header, secure)));
    expect(() => formatSetCookie({ name: 'a b', value: '' }, false)).to.throw(TypeError);
    expect(formatSetCookie({ name: 'a', value: null }, true)).to.equal(
      '__Host-a=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure',
    );
    expect(parseCookies('__Host-__proto__=a; __Host-=b', true)).to.deep.equal({});
  });

  it('trusts proxies from the right, up to the configured number', () => {
    const read = createAddressResolver(['10.0.0.0/8', '::1', '2001:db8::/32']);
    const cases: [peer: string, forwarded: string | undefined, address: string][] = [
      ['1.2.3.4', '5.6.7.8', '1.2.3.4'],
      ['10.1.1.1', undefined, '10.1.1.1'],
      ['10.1.1.1', '5.6.7.8', '5.6.7.8'],
      ['::ffff:10.1.1.1', '5.6.7.8', '5.6.7.8'],
      ['::1', '9.9.9.9, 5.6.7.8, 10.2.2.2', '5.6.7.8'],
      ['10.1.1.1', '5.6.7.8:4711', '5.6.7.8'],
      ['10.1.1.1', '[2a00::1]:443', '2a00::1'],
      ['2001:db8::5', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
      ['10.1.1.1', 'unknown', '10.1.1.1'],
      ['10.1.1.1', 'evil, 10.0.0.9', '10.0.0.9'],
      ['10.1.1.1', '', '10.1.1.1'],
    ];
    for (const [peer, forwarded, address] of cases)
      expect(read(peer, forwarded), `${peer} ${forwarded}`).to.equal(address);
    for (const bad of ['10.0.0.0/33', 'proxy.local', '10.0.0.0/8/8', '::1/x', ''])
      expect(() => createAddressResolver([bad]), bad).to.throw(TypeError, JSON.stringify(bad));
  });
});
