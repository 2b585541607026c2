/** Contract 40, versions: grammar and order. */
import { expect } from 'chai';
import fc from 'fast-check';
import { compareVersions, isVersion, isSameVersion, stripBuildMetadata } from '../../lib/versions.js';

const BIG = '9'.repeat(400);

describe('lib: versions', () => {
  for (const good of ['1', '1.2', '1.2.3.4.5.6', '0.0.0', '1.0-rc.1', '1-a', `${BIG}.1`, '01.2', `1-${'x'.repeat(40)}`])
    it(`accepts ${good.slice(0, 20)}`, () => expect(isVersion(good)).to.equal(true));

  for (const bad of [
    '',
    'v1',
    '1.',
    '.1',
    '1..2',
    '1.2.3.4.5.6.7',
    '1.2-',
    `1-${'x'.repeat(41)}`,
    '1.2 ',
    '1.2\n',
    '1.2+b',
    '१.२',
  ])
    it(`rejects ${JSON.stringify(bad).slice(0, 20)}`, () => expect(isVersion(bad)).to.equal(false));

  const ORDERED = [
    ['0.9', '1.0-1'],
    ['1.0-1', '1.0-2'],
    ['1.0-2', '1.0-10'],
    ['1.0-10', '1.0-alpha'],
    ['1.0-alpha', '1.0-alpha.1'],
    ['1.0-alpha.1', '1.0-alpha.beta'],
    ['1.0-alpha.beta', '1.0-beta'],
    ['1.0-beta', '1.0-rc.2'],
    ['1.0-rc.2', '1.0-rc.11'],
    ['1.0-rc.11', '1.0'],
    ['1.0', '1.0.0.0.0.1'],
    ['1.9.0', '1.10.0'],
    ['1.9007199254740992', '1.9007199254740993'],
    [`1.${BIG}`, `1.1${'0'.repeat(400)}`],
    ['1.B', '1.a'].map((v) => v.replace('.', '-')),
  ] as const;
  for (const [below, above] of ORDERED)
    it(`orders ${below?.slice(0, 20)} below ${above?.slice(0, 20)}`, () => {
      expect(compareVersions(below ?? '', above ?? '')).to.be.below(0);
      expect(compareVersions(above ?? '', below ?? '')).to.be.above(0);
    });

  for (const [a, b] of [
    ['1.2', '1.2.0'],
    ['1', '1.0.0.0.0.0'],
    ['01.002', '1.2'],
    ['1.0-rc.1', '1-rc.01'],
  ] as const)
    it(`treats ${a} as equal to ${b}`, () => expect(isSameVersion(a, b)).to.equal(true));

  it('defines a total order', () => {
    const version = fc
      .tuple(
        fc.array(fc.nat(12), { minLength: 1, maxLength: 6 }),
        fc.option(fc.array(fc.constantFrom('1', '2', '10', 'a', 'rc', 'A-'), { minLength: 1, maxLength: 3 })),
      )
      .map(([numbers, suffix]) => numbers.join('.') + (suffix === null ? '' : `-${suffix.join('.')}`));
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(isVersion(a)).to.equal(true);
        expect(Math.sign(compareVersions(a, b))).to.equal(0 - Math.sign(compareVersions(b, a)));
        const [x, y, z] = [a, b, c].sort(compareVersions);
        expect(compareVersions(x ?? '', z ?? '')).to.be.at.most(0);
        expect(compareVersions(y ?? '', z ?? '')).to.be.at.most(0);
      }),
    );
  });

  it('ignores build metadata, including when the plus arrives as a space (S08)', () => {
    for (const text of ['1.2.3+0a1b2c3', '1.2.3+388', '1.2.3 0a1b2c3', '1.2.3'])
      expect(stripBuildMetadata(text)).to.equal('1.2.3');
    expect(stripBuildMetadata('1.2.3-rc.1+build.5')).to.equal('1.2.3-rc.1');
    for (const text of ['1.2.3+', '1.2.3+a b', '+1']) expect(isVersion(stripBuildMetadata(text)), text).to.equal(false);
  });
});
