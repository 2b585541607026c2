import { expect } from 'chai';
import fc from 'fast-check';
import { cleanText } from '../../../../lib/text/clean-text.js';
import { cleanJson } from '../../../../plugins/bugs/text/clean-report.js';
import type { Json } from '../../../../ports/store/index.js';
import { memoryFixture, report, settled } from '../fixture.js';

describe('bugs: sanitizing external text', () => {
  it('leaves well-formed text unchanged and repairs all other text', () => {
    expect(cleanText('a\u{1f600}b\n\u0001')).to.equal('a\u{1f600}b\n\u0001');
    expect(cleanText('a\0b\ud83dc\ude00')).to.equal('a\ufffdb\ufffdc\ufffd');
    expect(cleanJson({ 'k\0': ['\0', 1, null, { x: true }] })).to.deep.equal({
      'k\ufffd': ['\ufffd', 1, null, { x: true }],
    });
  });

  it('returns the same value when nothing is malformed, and takes linear time otherwise', () => {
    const whole = { a: [{ b: 'x' }, null, 1], c: { d: [] } };
    expect(cleanJson(whole)).to.equal(whole);
    let deep: Json = '\0';
    for (let i = 0; i < 60; i++) deep = i % 2 === 0 ? { a: 'x', deep } : ['\0', deep];
    expect(JSON.stringify(cleanJson(deep))).to.not.include('\\u0000');
  });

  it('survives a UTF-8 round trip for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const clean = cleanText(text);
        expect(Buffer.from(clean, 'utf8').toString('utf8')).to.equal(clean);
        expect(clean).to.not.include('\0');
      }),
    );
  });

  it('stores a report that contains malformed text', async () => {
    const fixture = await memoryFixture();
    const done = await fixture.bugs.record(report({ title: 'x\ud800', client_ref: 'r\0', tags: ['\0'] }), {
      texts: true,
    });
    expect(done.item).to.deep.include({ title: 'x\ufffd', client_ref: 'r\ufffd', tags: ['\ufffd'] });
    await settled(fixture);
  });
});
