/** Records of DNS are compared by what they mean (contract 30, amendments: probes). */
import { expect } from 'chai';
import { matchRecords } from '../../../../plugins/probes/model/dns-records.js';
import type { RecordType } from '../../../../ports/network-probe.js';

const LETTERS = '0 issue "letsencrypt.org"';
const NEVER = '128 issuewild ";"';

const CASES: readonly [type: RecordType, records: string[], expected: string, matches: boolean][] = [
  ['A', ['10.0.0.11'], '10.0.0.1', false],
  ['A', ['10.0.0.11'], '0', false],
  ['A', ['10.0.0.11', '10.0.0.1'], ' 10.0.0.1 ', true],
  ['A', ['10.0.0.1', '10.0.0.2'], '10.0.0.2,10.0.0.1', true],
  ['A', ['10.0.0.1', '10.0.0.2'], '10.0.0.2, 10.0.0.3', false],
  ['A', ['110.0.0.1'], '10.0.0.1', false],
  ['AAAA', ['2001:db8::1'], '2001:0DB8:0000:0000:0000:0000:0000:0001', true],
  ['AAAA', ['2001:db8:0:0:0:0:0:1'], '2001:db8::1', true],
  ['AAAA', ['2001:db8::1'], '2001:db8::', false],
  ['AAAA', ['2001:db8::11'], '2001:db8::1', false],
  ['CNAME', ['web.example.org'], 'Web.Example.ORG.', true],
  ['CNAME', ['web.example.org.'], 'web.example.org', true],
  ['CNAME', ['my-web.example.org'], 'web.example.org', false],
  ['CNAME', ['xn--mnchen-3ya.example'], 'münchen.example', true],
  ['NS', ['ns2.example.org', 'NS1.example.org'], 'ns1.example.org., ns2.example.org.', true],
  ['PTR', ['host.example.org'], 'example.org', false],
  ['MX', ['10 mail.example.org'], '10 MAIL.example.org.', true],
  ['MX', ['10 mail.example.org'], 'mail.example.org', true],
  ['MX', ['10 mail.example.org'], '010  mail.example.org', true],
  ['MX', ['110 mail.example.org'], '10 mail.example.org', false],
  ['MX', ['10 mail.example.org', '20 spare.example.org'], '20 spare.example.org,10 mail.example.org', true],
  ['SRV', ['1 2 5060 sip.example.org'], '1 2 5060 SIP.example.org.', true],
  ['SRV', ['1 2 5060 sip.example.org'], 'sip.example.org', true],
  ['SRV', ['1 2 5060 sip.example.org'], 'sip.example.org:5060', true],
  ['SRV', ['1 2 5060 sip.example.org'], '5060 sip.example.org', true],
  ['SRV', ['1 2 5060 sip.example.org'], '1 2 506 sip.example.org', false],
  ['SOA', ['ns.example.org host.example.org 7 1 2 3 4'], 'NS.example.org. host.example.org. 7 1 2 3 4', true],
  ['SOA', ['ns.example.org host.example.org 7 1 2 3 4'], 'ns.example.org', true],
  ['SOA', ['ns.example.org host.example.org 7 1 2 3 4'], 'ns.example.org host.example.org 8 1 2 3 4', false],
  ['CAA', [LETTERS], '0 issue "letsencrypt.org"', true],
  ['CAA', [LETTERS], '0 ISSUE LetsEncrypt.org', true],
  ['CAA', [LETTERS], 'issue "letsencrypt.org"', true],
  ['CAA', [LETTERS], 'letsencrypt.org', true],
  ['CAA', [LETTERS], '0 issuewild "letsencrypt.org"', false],
  ['CAA', [LETTERS], 'issuewild letsencrypt.org', false],
  ['CAA', [NEVER, LETTERS], 'issuewild ";"', true],
  ['CAA', ['0 issue "crypt.org"'], 'letsencrypt.org', false],
  ['TXT', ['v=spf1 include:a.example -all'], 'include:a.example', true],
  ['TXT', ['v=spf1 -all'], '"v=spf1 " "-all"', true],
  ['TXT', ['a,b'], 'a,b', true],
  ['TXT', ['token=ABC'], 'token=abc', false],
  ['A', ['10.0.0.1'], ',', false],
];

describe('matchRecords', () => {
  for (const [type, records, expected, matches] of CASES)
    it(`${matches ? 'finds' : 'does not find'} ${expected} among ${type} ${records.join(' | ')}`, () => {
      expect(matchRecords(type, records, expected)).to.equal(matches);
    });
});
