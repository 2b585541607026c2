/** Keys, states and precedence, as tables and properties (contract 50). */
import 'reflect-metadata';
import { expect } from 'chai';
import fc from 'fast-check';
import { formatCsvValue } from '../../../lib/text/csv.js';
import {
  KEY_ALPHABET,
  normalizeLicenseKey,
  computeCheckCharacter,
  getCredentialName,
  isKey,
  hashKey,
  maskKey,
  generateKey,
} from '../../../plugins/licensing/model/key.js';
import {
  getNextState,
  LICENSE_TRANSITIONS,
  STORED_STATES,
  getLicenseState,
  type LicenseTransition,
  type StoredState,
} from '../../../plugins/licensing/model/states.js';
import { evaluateLicense, type LicenseVerdict } from '../../../plugins/licensing/validation/license-status.js';
import { KEY_CARRIERS } from '../../support/license-carriers.js';
import vectors from '../../fixtures/vectors/license-keys.json' with { type: 'json' };

const key = fc
  .array(fc.constantFrom(...Array.from(KEY_ALPHABET)), { minLength: 24, maxLength: 24 })
  .map((characters) => normalizeLicenseKey(characters.join('') + computeCheckCharacter(characters.join(''))));

/** GF(32) once more, by tables of powers: the code under test multiplies step by step. */
function expectedCheck(characters: string): string {
  const power = [1];
  for (let i = 1; i < 31; i++) {
    const doubled = (power[i - 1] as number) * 2;
    power.push(doubled >= 32 ? doubled ^ 32 ^ 0b101 : doubled);
  }
  const times = (v: number, exponent: number): number =>
    v === 0 ? 0 : (power[(power.indexOf(v) + exponent) % 31] as number);
  let sum = 0;
  Array.from(characters).forEach((c, i) => (sum ^= times(KEY_ALPHABET.indexOf(c), i + 1)));
  return KEY_ALPHABET[sum] as string;
}

describe('license keys as entered', () => {
  const one = generateKey();
  for (const [carrier, carry] of Object.entries(KEY_CARRIERS))
    it(`accepts ${carrier} (S-dash)`, () => {
      expect(normalizeLicenseKey(carry(one))).to.equal(one);
      expect(isKey(normalizeLicenseKey(carry(one)))).to.equal(true);
    });
});

describe('licensing: keys', () => {
  it('have the format of the contract, and a check character over GF(32)', () => {
    for (let i = 0; i < 200; i++) {
      const made = generateKey();
      expect(made).to.match(/^([23456789ABCDEFGHJKLMNPQRSTUVWXYZ]{5}-){4}[23456789ABCDEFGHJKLMNPQRSTUVWXYZ]{5}$/);
      expect(isKey(made)).to.equal(true);
      const characters = made.replaceAll('-', '');
      expect(expectedCheck(characters.slice(0, 24))).to.equal(characters[24]);
    }
  });

  it('match the published vectors', () => {
    for (const { key: text, valid, sha256, masked, name } of vectors) {
      const canonical = normalizeLicenseKey(text);
      expect(isKey(canonical), text).to.equal(valid);
      if (!valid) continue;
      expect(hashKey(canonical)).to.equal(sha256);
      expect(maskKey(canonical)).to.equal(masked);
      expect(getCredentialName(hashKey(canonical))).to.equal(name);
    }
  });

  it('are uniformly distributed over all characters', () => {
    const counts = new Map<string, number>();
    let byte = 0;
    for (let i = 0; i < 256; i++) {
      const made = generateKey((n) => Uint8Array.from({ length: n }, () => byte++ & 255));
      for (const c of made.replaceAll('-', '').slice(0, 24)) counts.set(c, (counts.get(c) ?? 0) + 1);
    }
    expect(counts.size).to.equal(32);
    expect(new Set(counts.values()).size).to.equal(1);
  });

  it('detect any single wrong character', () => {
    fc.assert(
      fc.property(key, fc.nat(24), fc.constantFrom(...Array.from(KEY_ALPHABET)), (good, at, other) => {
        const characters = Array.from(good.replaceAll('-', ''));
        if (characters[at] === other) return;
        characters[at] = other;
        expect(isKey(normalizeLicenseKey(characters.join('')))).to.equal(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it('detect any two adjacent swapped characters', () => {
    fc.assert(
      fc.property(key, fc.nat(23), (good, at) => {
        const characters = Array.from(good.replaceAll('-', ''));
        const [a = '', b = ''] = [characters[at], characters[at + 1]];
        if (a === b) return;
        [characters[at], characters[at + 1]] = [b, a];
        expect(isKey(normalizeLicenseKey(characters.join('')))).to.equal(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it('are accepted in any spacing, case and grouping', () => {
    fc.assert(
      fc.property(
        key,
        fc.array(fc.constantFrom(' ', '-', '\t', ''), { minLength: 26, maxLength: 26 }),
        (good, gaps) => {
          const typed =
            Array.from(good.replaceAll('-', ''))
              .map((c, i) => gaps[i] + c.toLowerCase())
              .join('') + gaps[25];
          expect(normalizeLicenseKey(typed)).to.equal(good);
        },
      ),
    );
  });

  it('reject any other text, in bounded time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        const canonical = normalizeLicenseKey(text);
        if (isKey(canonical)) expect(canonical).to.match(/^(.{5}-){4}.{5}$/);
      }),
    );
    for (const text of ['', ' ', 'A'.repeat(5_000_000), '-'.repeat(5_000_000)])
      expect(isKey(normalizeLicenseKey(text))).to.equal(false);
  });
});

describe('licensing: state table', () => {
  /** From the table of contract 50; what is not here is refused. */
  const TABLE: [StoredState, LicenseTransition, StoredState][] = [
    ['pending', 'approve', 'active'],
    ['pending', 'reject', 'revoked'],
    ['active', 'deactivate', 'inactive'],
    ['inactive', 'reactivate', 'active'],
    ['active', 'revoke', 'revoked'],
    ['inactive', 'revoke', 'revoked'],
    ['pending', 'extend', 'pending'],
    ['active', 'extend', 'active'],
    ['inactive', 'extend', 'inactive'],
  ];
  for (const from of STORED_STATES)
    for (const move of LICENSE_TRANSITIONS) {
      const to = TABLE.find(([state, by]) => state === from && by === move)?.[2] ?? null;
      it(`${from}: ${to === null ? `rejects ${move}` : `${move} leads to ${to}`}`, () =>
        expect(getNextState(from, move)).to.equal(to));
    }

  it('treats a license as expired from the exact moment of its end', () => {
    const at = Date.parse('2026-01-01T00:00:00.000Z');
    const license = { status: 'active', expires_at: '2026-01-01T00:00:00.000Z' } as const;
    expect(getLicenseState(license, at - 1)).to.equal('active');
    expect(getLicenseState(license, at)).to.equal('expired');
    expect(getLicenseState({ ...license, status: 'inactive' }, at)).to.equal('inactive');
    expect(getLicenseState({ ...license, expires_at: null }, at)).to.equal('active');
  });
});

describe('licensing: precedence of statuses', () => {
  const now = Date.parse('2026-06-01T00:00:00.000Z');
  const ENDED = '2026-05-01T00:00:00.000Z';
  /** Every combination of state, product and end: the first reason that holds. */
  const rows: [StoredState, boolean, boolean, LicenseVerdict][] = [
    ['revoked', true, true, 'revoked'],
    ['revoked', true, false, 'revoked'],
    ['revoked', false, true, 'revoked'],
    ['revoked', false, false, 'revoked'],
    ['inactive', true, true, 'inactive'],
    ['inactive', true, false, 'inactive'],
    ['inactive', false, true, 'inactive'],
    ['inactive', false, false, 'inactive'],
    ['pending', true, true, 'pending'],
    ['pending', true, false, 'pending'],
    ['pending', false, true, 'pending'],
    ['pending', false, false, 'pending'],
    ['active', true, true, 'product_mismatch'],
    ['active', true, false, 'product_mismatch'],
    ['active', false, true, 'expired'],
    ['active', false, false, 'active'],
  ];
  for (const [status, other, ended, expected] of rows)
    it(`returns ${expected} for ${status}${other ? ', another product' : ''}${ended ? ', ended' : ''}`, () => {
      const license = { status, product: 'shop', expires_at: ended ? ENDED : null };
      expect(evaluateLicense(license, other ? 'blog' : 'shop', now)).to.equal(expected);
    });
  it('returns invalid when there is no license', () => expect(evaluateLicense(null, 'shop', now)).to.equal('invalid'));
});

describe('licensing: CSV cells', () => {
  const rows: [Parameters<typeof formatCsvValue>[0], string][] = [
    ['=1+1', "'=1+1"],
    ['+49', "'+49"],
    ['-2', "'-2"],
    ['@sum', "'@sum"],
    ['\tx', '"\'\tx"'],
    // Signs of other widths, and behind what divides the line in other languages.
    ['\uff1d1+1', "'\uff1d1+1"],
    ['\uff0b49', "'\uff0b49"],
    ['\uff0d2', "'\uff0d2"],
    ['\uff20sum', "'\uff20sum"],
    ['\u2212cmd', "'\u2212cmd"],
    ['\u200b =1', "'\u200b =1"],
    ['\n=1', '"\'\n\'=1"'],
    ['a;=1+1', '"a;\'=1+1"'],
    ['a;"=1', '"a;""\'=1"'],
    ['a\t\uff1d1', '"a\t\'\uff1d1"'],
    ['a, +cmd|1', '"a, \'+cmd|1"'],
    ['a|@x', "a|'@x"],
    ['x;-2+3+cmd', '"x;\'-2+3+cmd"'],
    ['x = 1 - 2 @ y', 'x = 1 - 2 @ y'],
    [{ n: [1, -2] }, '"{""n"":[1,-2]}"'],
    ['\rx', '"\'\rx"'],
    ['a,b', '"a,b"'],
    ['a"b', '"a""b"'],
    ['=a"b', '"\'=a""b"'],
    ['two\nlines', '"two\nlines"'],
    [null, ''],
    [true, 'true'],
    [{ a: 1 }, '"{""a"":1}"'],
  ];
  for (const [value, expected] of rows)
    it(`formats ${JSON.stringify(value)} as a CSV cell`, () => expect(formatCsvValue(value)).to.equal(expected));
});
