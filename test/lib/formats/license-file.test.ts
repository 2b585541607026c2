/** License files against every changed byte, every clock, and the published vectors. */
import { createHash, createPrivateKey, createPublicKey, hkdfSync, sign, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { FILE_CARRIERS } from '../../support/license-carriers.js';
import { verifyLicenseFile } from '../../../lib/formats/license-file.js';
import { formatLicenseFile, LICENSE_FILE_SIGNED_PREFIX } from '../../../lib/formats/license-text.js';

const file = new URL('../../fixtures/vectors/license-files.json', import.meta.url);

interface Vector {
  name: string;
  license_key: string;
  kid: string;
  alg: 'ed25519' | 'rsa-sha256';
  public_key: string;
  file: string;
}
const vectors = JSON.parse(await readFile(file, 'utf8')) as Vector[];
const NOW = Date.parse('2026-11-22T08:00:00.000Z');

/** `security.license_key` as contract 50 reads it. */
function privateKey(text: string): KeyObject {
  if (text.includes('-----BEGIN')) return createPrivateKey(text);
  const seed = Buffer.from(hkdfSync('sha256', text, '', 'aos/lic/ed25519/v1', 32));
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  return createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
}

const signed = (key: KeyObject, alg: string, text: string): string =>
  sign(alg === 'ed25519' ? null : 'sha256', Buffer.from(text), key).toString('base64');

describe('license files', function () {
  for (const { name, license_key, kid, alg, public_key, file: text } of vectors) {
    describe(name, () => {
      const check = (changed: string, more: object = {}) =>
        verifyLicenseFile(changed, public_key, { product: 'shop', machineId: 'web-1', now: NOW, ...more });

      it('verifies, and contains the id of the configured key', () => {
        const { valid, payload } = check(text);
        expect(valid).to.equal(true);
        expect(payload).to.include({ product: 'shop', machine_id: 'web-1', schema: 1 });
        const own = createPublicKey(privateKey(license_key));
        const der = own.export({ type: 'spki', format: 'der' });
        expect(createHash('sha256').update(der).digest('hex').slice(0, 16)).to.equal(kid);
        expect(own.export({ type: 'spki', format: 'pem' })).to.equal(public_key);
      });

      it('rejects every changed, missing or added character of the block', () => {
        const start = text.indexOf('\n') + 1;
        const end = text.indexOf('\n-----END');
        const inserted = (at: number, more: string): string => text.slice(0, at) + more + text.slice(at);
        for (let at = start; at < end; at++) {
          if (text[at] === '\n') continue;
          const without = text.slice(0, at) + text.slice(at + 1);
          const other = text[at] === 'A' ? 'B' : 'A';
          for (const changed of [without, inserted(at, 'A')]) expect(check(changed).valid, `at ${at}`).to.equal(false);
          expect(check(text.slice(0, at) + other + text.slice(at + 1)).valid, `${other} at ${at}`).to.equal(false);
        }
      });

      for (const [carrier, carry] of Object.entries(FILE_CARRIERS))
        it(`accepts ${carrier}`, () => expect(check(carry(text))).to.include({ valid: true }));

      it('is invalid before and after its validity period, even when the clock moved backwards', () => {
        expect(check(text, { now: NOW - 3_600_001 }).reason).to.equal('not_yet_valid');
        expect(check(text, { now: Date.parse('2020-01-01') }).reason).to.equal('not_yet_valid');
        expect(check(text, { now: NOW + 30 * 86_400_000 }).reason).to.equal('file_expired');
        expect(check(text, { product: 'blog' }).reason).to.equal('wrong_product');
        expect(check(text, { machineId: 'web-2' }).reason).to.equal('wrong_machine');
      });

      it('rejects a file signed with another key or algorithm', () => {
        const others = vectors.filter((one) => one.kid !== kid).map((one) => one.public_key);
        for (const other of others) expect(verifyLicenseFile(text, other, { now: NOW }).reason).to.equal('unknown_key');
        expect(verifyLicenseFile(text, [...others, public_key], { now: NOW }).valid).to.equal(true);
        const inner = JSON.parse(Buffer.from(text.split('\n').slice(1, -2).join(''), 'base64').toString()) as {
          enc: string;
          sig: string;
        };
        const wrong = alg === 'ed25519' ? 'rsa-sha256' : 'ed25519';
        expect(check(formatLicenseFile({ ...inner, alg: wrong, kid })).valid).to.equal(false);
        const key = privateKey(license_key);
        const bare = formatLicenseFile({ ...inner, sig: signed(key, alg, inner.enc), alg, kid });
        expect(check(bare).reason, 'signed without the purpose').to.equal('wrong_signature');
        const enc = Buffer.from('{"schema":2}').toString('base64');
        const later = formatLicenseFile({ enc, sig: signed(key, alg, LICENSE_FILE_SIGNED_PREFIX + enc), alg, kid });
        expect(check(later).reason).to.equal('unknown_schema');
      });
    });
  }

  it('rejects texts that are not license files', () => {
    const pem = vectors[0]?.public_key ?? '';
    for (const text of ['', 'x', '-----BEGIN LICENSE FILE-----\n-----END LICENSE FILE-----\n', 'A'.repeat(1_000_000)])
      expect(verifyLicenseFile(text, pem)).to.deep.equal({ valid: false, reason: 'malformed' });
  });
});
