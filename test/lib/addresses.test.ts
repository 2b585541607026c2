import { expect } from 'chai';
import fc from 'fast-check';
import { getClientNetwork, getOperatorNetwork } from '../../lib/addresses.js';

describe('lib: addresses', () => {
  for (const [address, network] of [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:0207', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
    ['unknown', 'unknown'],
    ['127.1', '127.1'],
  ] as const)
    it(`maps ${address || 'an empty text'} to the network ${network || 'of no name'}`, () =>
      expect(getClientNetwork(address)).to.equal(network));

  it('returns a network for every address', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        expect(getClientNetwork(address)).to.match(/^([0-9a-f]{1,4}:){3}[0-9a-f]{1,4}::\/64$|^\d+\.\d+\.\d+\.\d+$/);
      }),
    );
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(getClientNetwork(address)).to.equal(address);
      }),
    );
  });

  it('maps every address of a /64 to one network, in every spelling', () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    const groups = fc.array(group, { minLength: 4, maxLength: 4 });
    const spell = (parts: number[], pad: number, upper: boolean): string => {
      const text = parts.map((part) => part.toString(16).padStart(pad, '0')).join(':');
      return upper ? text.toUpperCase() : text;
    };
    // Outside of 0000::/16, where addresses of IPv4 hosts lie.
    const network = groups.map(([first = 0, ...rest]) => [first | 0x2000, ...rest]);
    fc.assert(
      fc.property(network, groups, groups, fc.nat(4), fc.boolean(), (of, one, other, pad, upper) => {
        expect(getClientNetwork(spell([...of, ...one], pad, upper))).to.equal(
          getClientNetwork(spell([...of, ...other], 1, false)),
        );
      }),
    );
  });
});

describe('lib: network of an operator', () => {
  for (const [address, site] of [
    ['192.0.2.200', '192.0.2.0/24'],
    ['::ffff:192.0.2.7', '192.0.2.0/24'],
    ['2001:db8:1:2::a', '2001:db8:1::/48'],
    ['2001:DB8:0001:ffff::', '2001:db8:1::/48'],
    ['::1', '0:0:0::/48'],
    ['proxy.internal', 'proxy.internal'],
    ['', ''],
  ] as const)
    it(`maps ${address || 'no address'} to ${site || 'none'}`, () =>
      expect(getOperatorNetwork(address)).to.equal(site));
});
