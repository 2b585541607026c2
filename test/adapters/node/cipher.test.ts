import { expect } from 'chai';
import fc from 'fast-check';
import { DataCipher } from '../../../adapters/node/cipher.js';

describe('DataCipher', () => {
  const cipher = new DataCipher('k'.repeat(32));

  it('decrypts what it encrypted for the same purpose', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (plain, purpose) => {
        expect(cipher.open(cipher.seal(plain, purpose), purpose)).to.equal(plain);
      }),
    );
  });

  it('encrypts the same text differently each time', () => {
    expect(cipher.seal('a', 'totp')).to.not.equal(cipher.seal('a', 'totp'));
  });

  it('rejects texts of another purpose or key, and tampered, truncated or foreign texts', () => {
    const sealed = cipher.seal('secret', 'totp');
    expect(() => cipher.open(sealed, 'webhook')).to.throw('another key or for another purpose, or was modified');
    expect(() => new DataCipher('x'.repeat(32)).open(sealed, 'totp')).to.throw('another key');
    const at = sealed.length - 2;
    const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1);
    expect(() => cipher.open(changed, 'totp')).to.throw('another key');
    expect(() => cipher.open(sealed.slice(0, 20), 'totp')).to.throw('the text is not encrypted');
    expect(() => cipher.open('v2.' + sealed.slice(3), 'totp')).to.throw('the text is not encrypted');
    expect(() => cipher.open('', 'totp')).to.throw('the text is not encrypted');
  });

  it('derives one key per purpose, identical in every process that shares the data key', () => {
    expect(cipher.derive('cursor')).to.have.lengthOf(32);
    expect(cipher.derive('cursor')).to.deep.equal(new DataCipher('k'.repeat(32)).derive('cursor'));
    expect(cipher.derive('cursor')).to.not.deep.equal(cipher.derive('device'));
  });

  it('rejects a short data key', () => {
    expect(() => new DataCipher('short')).to.throw(TypeError);
  });
});
