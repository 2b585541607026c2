import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { keyedHash } from '../../../lib/text/keyed-hash.js';

describe('keyedHash', () => {
  it('is HMAC-SHA-256, for any key and text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.array(fc.string({ unit: 'binary' })), (bytes, texts) => {
        const key = Buffer.from(bytes);
        const hashed = keyedHash(key);
        // One after the other: no call may change what another one answers.
        const all = texts.map((text) => hashed(text));
        expect(all).to.deep.equal(texts.map((text) => createHmac('sha256', key).update(text).digest()));
      }),
    );
  });

  it('refuses a key that it would have to hash first', () => {
    expect(() => keyedHash(Buffer.alloc(65))).to.throw(TypeError, 'at most 64 bytes');
  });
});
