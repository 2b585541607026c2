import { expect } from 'chai';
import fc from 'fast-check';
import { addressReader, limitKey } from '../../../adapters/hapi/address.js';
import { parseCookies, setCookie } from '../../../adapters/hapi/cookies.js';
import { Failure } from '../../../adapters/hapi/failure.js';
import { parseForm } from '../../../adapters/hapi/form.js';
import { parseJson } from '../../../adapters/hapi/json.js';

const json = async (value: unknown): Promise<unknown> => parseJson(Buffer.from(JSON.stringify(value)));

describe('hapi: parsers', () => {
  it('parses what JSON.stringify writes', async () => {
    const value = fc.jsonValue({ maxDepth: 20 }).filter((sample) => !JSON.stringify(sample).includes('__proto__'));
    await fc.assert(
      fc.asyncProperty(value, async (sample) => {
        expect(await json(sample)).to.deep.equal(JSON.parse(JSON.stringify(sample)));
      }),
    );
  });

  it('never throws, whatever the bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const value = await parseJson(Buffer.from(bytes));
        if (value instanceof Failure) expect(value.code).to.equal('invalid_json');
      }),
    );
  });

  it('parses large arrays element by element, to the same value', async () => {
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
    it(`refuses a large array with ${name}`, async () => {
      const value = await parseJson(Buffer.from(wrap(JSON.stringify('y'.repeat(400_000)))));
      expect(value).to.be.instanceOf(Failure).with.property('code', 'invalid_json');
    });
  }

  it('gives the event loop back while it parses 8 MiB', async () => {
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

  it('parses forms, with repeated fields as lists and no prototype', () => {
    expect(parseForm(Buffer.from('a=1&b=x+y%20%C3%BC&a=2&a=3&__proto__=z&c'))).to.deep.equal({
      a: ['1', '2', '3'],
      b: 'x y ü',
      c: '',
    });
    expect(parseForm(Buffer.from('a&'.repeat(5_000)))).to.be.instanceOf(Failure);
    fc.assert(fc.property(fc.string(), (text) => void parseForm(Buffer.from(text))));
  });

  it('reads back the cookies it writes, and survives any header', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const header = setCookie({ name: 'svc_x', value }, false);
        expect(header).to.match(/^svc_x=[^;\s]*; Path=\/; HttpOnly; SameSite=Lax$/);
        expect(parseCookies(`a=b; ${header.split(';')[0]}; c`)['svc_x']).to.equal(value);
      }),
    );
    fc.assert(fc.property(fc.string(), (header) => void parseCookies(header)));
    expect(() => setCookie({ name: 'a b', value: '' }, false)).to.throw(TypeError);
    expect(setCookie({ name: 'a', value: null, path: '/x; Domain=evil' }, true)).to.equal(
      'a=; Path=/x Domain=evil; Max-Age=0; HttpOnly; SameSite=Lax; Secure',
    );
  });

  it('believes proxies from the right, as far as they are trusted', () => {
    const read = addressReader(['10.0.0.0/8', '::1', '2001:db8::/32']);
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
      expect(() => addressReader([bad]), bad).to.throw(TypeError, JSON.stringify(bad));
  });

  it('counts a /64 of IPv6 addresses as one', () => {
    expect(limitKey('1.2.3.4')).to.equal('1.2.3.4');
    expect(limitKey('2001:db8:1:2:3:4:5:6')).to.equal('2001:db8:1:2::/64');
    expect(limitKey('2001:db8:1:2::9')).to.equal('2001:db8:1:2::/64');
    expect(limitKey('2001:db8::9')).to.equal('2001:db8:0:0::/64');
    expect(limitKey('::1')).to.equal('0:0:0:0::/64');
    expect(limitKey('fe80::1%eth0')).to.equal('fe80:0:0:0::/64');
  });
});
