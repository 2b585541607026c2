/**
 * What a project token sees of internal networks (contract 70, amendments): nothing that only their
 * members know.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { NodeReach } from '../../../adapters/node/reach/reach.js';
import { toTrialView } from '../../../plugins/probes/probe-routes.js';
import { parseReverseName } from '../../../plugins/probes/model/reverse-name.js';
import { validateProbe } from '../../../plugins/probes/model/probe-schema.js';
import { EMPTY_RESULT, toVisibleResult, type ProbeResult } from '../../../plugins/probes/model/probe-result.js';
import type { WatchdogApi } from '../../../ports/domain/watchdog.js';
import { probesOn } from './fixture.js';

const PRIVATE = '10.0.0.53';
const PUBLIC = '9.9.9.9';

describe('project token', () => {
  /** Asks a DNS server that returns one record. */
  const lookUp = (probe: object, record: string): Promise<ProbeResult> => {
    const own = probesOn(new MemoryStore());
    const reach = new NodeReach();
    reach.lookup = async () => ({ records: [record], duration_ms: 1 });
    Object.assign(own.deps, { reach });
    return own.asker.run(validateProbe({ kind: 'dns', ...probe }));
  };

  for (const [host, record_type, resolver, record, isShown] of [
    ['shop.example', 'A', null, '93.184.216.34', true],
    ['shop.example', 'A', null, '10.1.2.3', false],
    ['shop.example', 'A', PUBLIC, '93.184.216.34', true],
    ['shop.example', 'A', PUBLIC, '10.1.2.3', false],
    ['shop.example', 'A', PRIVATE, '93.184.216.34', false],
    ['shop.example', 'AAAA', `${PRIVATE}:53`, '2606:4700::1111', false],
    ['shop.example', 'AAAA', '[fd00::53]:53', '2606:4700::1111', false],
    ['shop.example', 'TXT', PUBLIC, 'secret', true],
    ['shop.example', 'TXT', '[2620:fe::fe]:53', 'secret', true],
    ...['TXT', 'PTR', 'CNAME', 'NS', 'MX', 'SRV', 'SOA', 'CAA'].flatMap(
      (type) =>
        [
          ['corp.internal', type, PRIVATE, 'secret', false],
          ['corp.internal', type, null, 'secret', false],
        ] as const,
    ),
    ['8.8.8.8.in-addr.arpa', 'PTR', PUBLIC, 'secret', true],
    ['3.2.1.10.in-addr.arpa', 'PTR', PUBLIC, 'secret', false],
    ['3.2.1.10.IN-ADDR.ARPA.', 'PTR', PUBLIC, 'secret', false],
    ['168.192.in-addr.arpa', 'NS', PUBLIC, 'secret', false],
    ['d.f.ip6.arpa', 'NS', PUBLIC, 'secret', false],
    [`${'1.'.repeat(30)}d.f.ip6.arpa`, 'PTR', PUBLIC, 'secret', false],
  ] as const)
    it(`${isShown ? 'sees' : 'does not see'} ${record} for ${record_type} ${host} from ${resolver ?? 'the system'}`, async () => {
      const seen = await lookUp({ host, record_type, resolver }, record);
      expect(seen.excerpt, 'of the whole service').to.equal(record);
      const shown = JSON.stringify(toTrialView(seen, 0, 'public'));
      if (isShown) expect(shown).to.include(record);
      else expect(shown).not.to.include(record);
    });

  it('extracts the address from a reverse DNS name', () => {
    for (const [name, address] of [
      ['4.3.2.1.in-addr.arpa', '1.2.3.4'],
      ['_dns-sd._udp.0.2.1.10.in-addr.arpa.', '10.1.2.0'],
      ['0-25.2.1.10.in-addr.arpa', '10.1.2.0'],
      ['in-addr.arpa', '0.0.0.0'],
      ['8.b.d.0.1.0.0.2.ip6.arpa', '2001:0db8:0000:0000:0000:0000:0000:0000'],
      ['shop.example', null],
      ['in-addr.arpa.shop.example', null],
    ] as const)
      expect(parseReverseName(name), name).to.equal(address);
  });

  describe('redirects', () => {
    let server: http.Server;
    before(async () => {
      server = http.createServer((_request, response) =>
        response.writeHead(302, { location: 'http://db.internal/' }).end(),
      );
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    });
    after(() => {
      server.closeAllConnections();
      server.close();
    });

    /** A service that takes what loopback answers for public, or for private. */
    const fixture = (isPublic = true): ReturnType<typeof probesOn> => {
      const resolve = async (name: string): Promise<{ address: string; family: number }[]> => {
        if (name === 'db.internal' && !isPublic) throw Object.assign(new Error(), { code: 'ENOTFOUND' });
        return [{ address: name === 'db.internal' ? '10.1.2.3' : '127.0.0.1', family: 4 }];
      };
      const own = probesOn(new MemoryStore(), { resolve });
      const { outbound } = own.deps;
      const request: typeof outbound.request = async (given) => ({
        ...(await outbound.request(given)),
        public: isPublic,
      });
      Object.assign(own.deps, { outbound: { checkUrl: () => null, request } });
      return own;
    };
    const probe = (): object => ({
      kind: 'http',
      url: `http://shop.example:${(server.address() as AddressInfo).port}/`,
      redirects: 1,
    });

    it('follows a redirect of a public host without showing the internal address in the response', async () => {
      const seen = await fixture().asker.run(validateProbe(probe()));
      expect(seen.message).to.include('10.1.2.3');
      expect(toTrialView(seen, 0, 'public')).to.include({ ok: false, message: 'The address is not allowed' });
    });

    it('follows a redirect of a private host without showing whether a name exists', async () => {
      const seen = await fixture(false).asker.run(validateProbe(probe()));
      expect(seen.message).to.equal('db.internal cannot be resolved: ENOTFOUND');
      expect(toTrialView(seen, 0, 'public')).to.include({ message: 'The name cannot be resolved: ENOTFOUND' });
    });

    it('hides the internal address in the monitor’s message', async () => {
      for (const project of ['shop', null]) {
        const own = fixture();
        const watchdog: Pick<WatchdogApi, 'find'> = {
          find: async () => ({ project }) as Awaited<ReturnType<WatchdogApi['find']>>,
        };
        Object.assign(own.deps.watchdog, watchdog);
        await own.probes.save('web', await own.probes.prepare(probe(), 'web'));
        for (let second = 0; second < 150 && own.told.length === 0; second++) {
          own.clock.advance(1_000);
          await own.prober.runTick();
          await own.prober.waitUntilIdle();
        }
        await own.prober.stop();
        const [{ message } = { message: '' }] = own.told;
        if (project === null) expect(message).to.include('10.1.2.3');
        else expect(message).to.match(/^The address is not allowed/);
      }
    });
  });

  it('hides names in the certificate of a private host', () => {
    const certificate = { subject: 'vault.corp.internal', issuer: 'Corp CA', valid_until: '2027-01-01T00:00:00.000Z' };
    const seen = { ...EMPTY_RESULT, ok: true, message: 'ok', certificate };
    expect(toVisibleResult({ ...seen, public: true }, 'public').certificate).to.deep.equal(certificate);
    expect(toVisibleResult(seen, 'all').certificate).to.deep.equal(certificate);
    for (const sight of ['public', 'none'] as const)
      expect(toVisibleResult(seen, sight).certificate).to.deep.equal({ ...certificate, subject: '', issuer: '' });
  });
});
