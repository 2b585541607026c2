import { expect } from 'chai';
import { compareNamedVersions, parseNamedVersion, getVersionIdentity } from '../../lib/versions.js';

describe('lib: version names', () => {
  for (const [given, name, version, number] of [
    ['1.4.2', '1.4.2', '1.4.2', null],
    ['v1.4.2', '1.4.2', '1.4.2', null],
    ['V1.4.2', '1.4.2', '1.4.2', null],
    [' shop@v1.4.2 ', '1.4.2', '1.4.2', null],
    ['@acme/shop@1.4.2-rc.1', '1.4.2-rc.1', '1.4.2-rc.1', null],
    ['com.acme.shop@1.4.2+388', '1.4.2+388', '1.4.2', '388'],
    ['1.4.2+388.1', '1.4.2+388.1', '1.4.2', '388.1'],
    ['1.4.2+b7', '1.4.2+b7', '1.4.2', null],
    ['1.4.2+', '1.4.2+', null, null],
    ['shop@9fceb02d0ae598e9', '9fceb02d0ae598e9', null, null],
    ['vanilla-7', 'vanilla-7', null, null],
    ['2026.11_rc+1', '2026.11_rc+1', null, null],
    ['shop@', '', null, null],
  ] as const)
    it(`parses ${given}`, () => expect(parseNamedVersion(given)).to.deep.equal({ name, version, number }));

  for (const [a, order, b] of [
    ['v1.4.2', 0, '1.4.2'],
    ['shop@v1.4', 0, '1.4.0'],
    ['v1.4.3', 1, 'shop@1.4.2'],
    ['v1.4.1', -1, '1.4.2'],
    ['1.4.2+388', -1, '1.4.2+389'],
    ['1.4.2+1000', 1, '1.4.2+389'],
    ['1.4.2+388', 0, '1.4.2'],
    ['1.4.2+388', 0, '1.4.2+b7'],
    ['1.4.1+999', -1, '1.4.2+1'],
    ['9fceb02', 0, 'shop@9fceb02'],
    ['9fceb02', null, 'a94a8fe'],
    ['9fceb02', null, '1.4.2'],
  ] as const)
    it(`compares ${a} with ${b} as ${order}`, () => {
      expect(compareNamedVersions(a, b)).to.equal(order);
      expect(compareNamedVersions(b, a)).to.equal(order === null ? null : order === 0 ? 0 : -order);
    });

  it('returns one identity for equal versions, and leaves other text unchanged', () => {
    const same = ['1.4', 'v1.4.0', 'shop@1.4.0+388', '01.4'].map(getVersionIdentity);
    expect(new Set(same)).to.deep.equal(new Set(['1.4']));
    expect(['2', '2.0', 'v2.0.0'].map(getVersionIdentity)).to.deep.equal(['2', '2', '2']);
    expect(getVersionIdentity('shop@9fceb02')).to.equal('9fceb02');
  });
});
