import { expect } from 'chai';
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { decodeCanonicalBase64 } from '../../../lib/formats/base64.js';
import { KeyRefused } from '../../../lib/formats/public-key.js';
import { hasTrustedChain, isSignedBy, parsePublicKey, type Predecessor } from '../../../lib/formats/signature.js';

const pemOf = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }) as string;
const rsa = (bits = 2_048): { publicKey: KeyObject; privateKey: KeyObject } =>
  generateKeyPairSync('rsa', { modulusLength: bits });
const signed = (bytes: Uint8Array, key: KeyObject): string => sign('sha256', bytes, key).toString('base64');

describe('signatures', () => {
  const one = rsa();
  const bytes = Buffer.from('{"schema":1}');

  it('verify exactly the bytes that were signed', () => {
    const key = parsePublicKey(pemOf(one.publicKey));
    const signature = signed(bytes, one.privateKey);
    expect(isSignedBy(key, bytes, signature)).to.equal(true);
    expect(isSignedBy(key, Buffer.from('{"schema":1} '), signature)).to.equal(false);
    expect(isSignedBy(parsePublicKey(pemOf(rsa().publicKey)), bytes, signature)).to.equal(false);
  });

  it('use the algorithm of the key', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const key = parsePublicKey(pemOf(publicKey));
    expect(key.algorithm).to.equal('ed25519');
    expect(isSignedBy(key, bytes, sign(null, bytes, privateKey).toString('base64'))).to.equal(true);
    expect(isSignedBy(key, bytes, signed(bytes, one.privateKey))).to.equal(false);
  });

  it('accept only canonical base64', () => {
    const signature = signed(bytes, one.privateKey);
    const key = parsePublicKey(pemOf(one.publicKey));
    for (const other of [`${signature}\n`, ` ${signature}`, signature.replace(/=+$/, ''), `${signature}AAAA`, '', 'x'])
      expect(isSignedBy(key, bytes, other), other).to.equal(false);
    expect(String.fromCharCode(...(decodeCanonicalBase64('QQ==') ?? []))).to.equal('A');
    expect(decodeCanonicalBase64('QR==')).to.equal(null);
    expect(decodeCanonicalBase64('QQ')).to.equal(null);
  });

  it('reject invalid, weak and private keys, and other key types', () => {
    const rejected = [
      '',
      'hello',
      pemOf(rsa(1_024).publicKey),
      one.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey),
      '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n',
      pemOf(one.publicKey) + pemOf(one.publicKey),
      'x'.repeat(20_000),
    ];
    for (const pem of rejected) expect(() => parsePublicKey(pem), pem.slice(0, 40)).to.throw(KeyRefused);
  });

  describe('chain of predecessors', () => {
    const keys = [rsa(), rsa(), rsa()];
    const pems = keys.map(({ publicKey }) => pemOf(publicKey));
    const at = (i: number): { publicKey: KeyObject; privateKey: KeyObject } => keys[i] ?? one;
    const der = (i: number): Buffer => at(i).publicKey.export({ type: 'spki', format: 'der' });
    const predecessor = (earlier: number, successor: number): Predecessor => ({
      public_key: pems[earlier] ?? '',
      signature: signed(der(successor), at(earlier).privateKey),
    });
    const pin = (i: number): string => parsePublicKey(pems[i] ?? '').spkiSha256;
    const current = parsePublicKey(pems[2] ?? '');
    const chain = [predecessor(1, 2), predecessor(0, 1)];

    it('is followed from every key in the chain', () => {
      expect([0, 1, 2].map((i) => hasTrustedChain(pin(i), current, chain))).to.deep.equal([true, true, true]);
    });

    it('is not followed from a key outside the chain', () => {
      expect(hasTrustedChain(parsePublicKey(pemOf(one.publicKey)).spkiSha256, current, chain)).to.equal(false);
      expect(hasTrustedChain('', current, chain)).to.equal(false);
    });

    it('is not followed over a missing, forged or reordered link', () => {
      expect(hasTrustedChain(pin(0), current, [predecessor(0, 1)])).to.equal(false);
      expect(hasTrustedChain(pin(0), current, [...chain].reverse())).to.equal(false);
      const forged = { public_key: pems[0] ?? '', signature: signed(der(1), at(1).privateKey) };
      expect(hasTrustedChain(pin(0), current, [predecessor(1, 2), forged])).to.equal(false);
      expect(hasTrustedChain(pin(0), current, [{ public_key: 'no key', signature: '' }, ...chain])).to.equal(false);
    });
  });
});
