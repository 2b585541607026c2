/** Addresses by table (contract 70, delivery, egress). */
import { expect } from 'chai';
import fc from 'fast-check';
import { findAddressBlock, checkUrl } from '../../../adapters/node/egress.js';
import type { EgressPolicy } from '../../../ports/outbound.js';

const privateOk: EgressPolicy = { mode: 'private-ok', allow: [] };
const publicOnly: EgressPolicy = { mode: 'public-only', allow: [] };

const ALWAYS = [
  '0.0.0.0',
  '0.1.2.3',
  '169.254.169.254',
  '169.254.0.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '100.100.100.200',
  '::',
  'fe80::1',
  'febf::1',
  'ff02::1',
  'fd00:ec2::254',
  'fd00:ec2::23',
  '192.0.0.192',
  '168.63.129.16',
  'fd20:ce::254',
  'fd00:c1::a9fe:a9fe',
  '::ffff:168.63.129.16',
  '64:ff9b::192.0.0.192',
  '64:ff9b:1::169.254.169.254',
  '64:ff9b:1:a9fe:a9:fe00::',
  '64:ff9b:1:a9:fe:a9fe::',
  '64:ff9b:1:0:a9:fea9:fe00:0',
  '64:ff9b:1:abcd:0:5678:a9fe:a9fe',
  '::ffff:169.254.169.254',
  '::ffff:0.0.0.0',
  '64:ff9b::169.254.169.254',
  '64:ff9b::a9fe:a9fe',
  '2002:a9fe:a9fe::1',
  '2002:0001::',
  '::169.254.169.254',
  '2001:0:4136:e378:8000:63bf:5601:5601',
  'fe80::1%eth0',
];
const PRIVATE = [
  '127.0.0.1',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '::1',
  'fd12::1',
  'fc00::1',
  '::ffff:10.0.0.1',
  '64:ff9b::10.0.0.1',
  '2002:0a00:0001::',
  '2001:db8::1',
  '64:ff9b:1::8.8.8.8',
  '64:ff9b:1::10.0.0.1',
  '192.0.0.8',
  'fd20:ce::253',
  '4000::1',
  'fec0::1',
];
const PUBLIC = [
  '93.184.216.34',
  '8.8.8.8',
  '2606:2800:220:1::1',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '2002:0808:0808::',
];

describe('egress policy', () => {
  for (const address of ALWAYS) {
    it(`blocks ${address} regardless of the allow list`, () => {
      expect(findAddressBlock(address, privateOk)).to.equal(`the address ${address} is never allowed`);
      const all = { mode: 'public-only', allow: ['0.0.0.0/0', '::/0'] } as const;
      expect(findAddressBlock(address, all)).to.equal(`the address ${address} is never allowed`);
    });
  }
  for (const address of PRIVATE) {
    it(`allows ${address} unless only public addresses are allowed`, () => {
      expect(findAddressBlock(address, privateOk)).to.equal(null);
      expect(findAddressBlock(address, publicOnly)).to.equal(`the address ${address} is not a public one`);
    });
  }
  for (const address of PUBLIC) {
    it(`allows ${address} as public`, () => {
      expect(findAddressBlock(address, publicOnly)).to.equal(null);
    });
  }

  it('allows configured networks, including as IPv4-mapped addresses', () => {
    const policy: EgressPolicy = { mode: 'public-only', allow: ['10.0.0.0/8', 'fd12::/16', 'nonsense'] };
    expect(findAddressBlock('10.9.9.9', policy)).to.equal(null);
    expect(findAddressBlock('::ffff:10.9.9.9', policy)).to.equal(null);
    expect(findAddressBlock('fd12::5', policy)).to.equal(null);
    expect(findAddressBlock('192.168.0.1', policy)).to.equal('the address 192.168.0.1 is not a public one');
  });

  it('checks an IPv4 address identically in every notation', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.constantFrom(privateOk, publicOnly), (address, policy) => {
        const plain = findAddressBlock(address, policy) === null;
        expect(findAddressBlock(`::ffff:${address}`, policy) === null).to.equal(plain);
        expect(findAddressBlock(`64:ff9b::${address}`, policy) === null).to.equal(plain);
      }),
    );
  });

  const rejected: [url: string, fault: string, reason: RegExp][] = [
    ['ftp://example.org/', 'invalid_url', /^the URL must start with http/],
    ['file:///etc/passwd', 'invalid_url', /^the URL must start with http/],
    ['not a url', 'invalid_url', /^the URL is not valid$/],
    ['http://user:pw@example.org/', 'invalid_url', /^the URL must not contain a user name or password$/],
    ['http://user@example.org/', 'invalid_url', /^the URL must not contain a user name or password$/],
    ['http://169.254.169.254/latest', 'blocked', /never allowed$/],
    ['http://0xa9fea9fe/', 'blocked', /169\.254\.169\.254 is never allowed$/],
    ['http://2852039166/', 'blocked', /169\.254\.169\.254 is never allowed$/],
    ['http://0251.0376.0251.0376/', 'blocked', /169\.254\.169\.254 is never allowed$/],
    ['http://169.254.169.254./', 'blocked', /never allowed$/],
    ['http://0/', 'blocked', /0\.0\.0\.0 is never allowed$/],
    ['http://[::]/', 'blocked', /never allowed$/],
    ['http://[::ffff:169.254.169.254]/', 'blocked', /never allowed$/],
    ['http://[fd00:ec2::254]/', 'blocked', /never allowed$/],
  ];
  for (const [url, fault, reason] of rejected) {
    it(`rejects ${url}: ${fault}`, () => {
      const verdict = checkUrl(url, privateOk);
      expect(verdict).to.include({ fault });
      expect((verdict as { reason: string }).reason).to.match(reason);
    });
  }

  it('accepts host names and permitted addresses', () => {
    for (const url of ['http://example.org/x?y#z', 'https://127.0.0.1:8443/', 'http://[::1]:80/']) {
      expect(checkUrl(url, privateOk)).to.be.instanceOf(URL);
    }
  });
});
