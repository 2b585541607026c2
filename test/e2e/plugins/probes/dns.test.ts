/** DNS probes of a real name server (contract 30, probes). */
import { createSocket } from 'node:dgram';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { validateProbe } from '../../../../plugins/probes/model/probe-schema.js';
import type { ProbeResult } from '../../../../plugins/probes/model/probe-result.js';
import { probesOn } from '../../../plugins/probes/fixture.js';
import { nameServer, type NameServer } from './name-server.js';

describe('probes: DNS (with dnsmasq)', function () {
  let server: NameServer;

  before(async function () {
    const found = await nameServer();
    if (found === null) this.skip();
    else server = found;
  });
  after(() => server?.stop());

  const requested = (more: object, servers: readonly string[] = [server.address]): Promise<ProbeResult> =>
    probesOn(new MemoryStore(), { servers }).asker.run(validateProbe({ kind: 'dns', ...more }));

  it('read records of a real name server', async () => {
    const records: [name: string, type: string, excerpt: string][] = [
      ['web.probe.test', 'A', '10.1.2.3'],
      ['web.probe.test', 'AAAA', 'fd00::3'],
      ['www.probe.test', 'CNAME', 'web.probe.test'],
      ['www.probe.test', 'A', '10.1.2.3'],
      ['probe.test', 'TXT', 'v=spf1 -all'],
      ['long.probe.test', 'TXT', 'first second'],
      ['probe.test', 'MX', '10 mail.probe.test'],
    ];
    for (const [host, record_type, excerpt] of records) {
      const seen = await requested({ host, record_type });
      expect(seen, `${record_type} ${host}`).to.include({ ok: true, excerpt, message: `${host}: ${excerpt}` });
      expect(seen.response_ms).to.be.a('number');
    }
    const service = await requested({
      host: '_sip._tcp.probe.test',
      record_type: 'SRV',
      expected_record: 'sip.probe.test',
    });
    expect(service, service.message).to.include({ ok: true });
  });

  it('compare complete records, in any spelling and order (W21)', async () => {
    const expects = async (host: string, record_type: string, expected_record: string): Promise<boolean> =>
      (await requested({ host, record_type, expected_record })).ok;
    for (const [host, type, expected, ok] of [
      ['web.probe.test', 'A', '10.1.2.3', true],
      ['web.probe.test', 'A', '10.1.2.', false],
      ['web.probe.test', 'A', '0', false],
      ['web.probe.test', 'A', '0.1.2.3', false],
      ['web.probe.test', 'AAAA', 'FD00:0:0:0:0:0:0:3', true],
      ['www.probe.test', 'CNAME', 'WEB.probe.test.', true],
      ['probe.test', 'MX', '10 Mail.probe.test.', true],
      ['probe.test', 'MX', '20 mail.probe.test', false],
      ['_sip._tcp.probe.test', 'SRV', '1 2 5060 sip.probe.test', true],
    ] as const)
      expect(await expects(host, type, expected), `${type} ${host} ${expected}`).to.equal(ok);
  });

  it('query the configured DNS server of the probe, and check its response', async () => {
    const web = http.createServer((_request, response) => response.end('ok'));
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    const { port } = web.address() as AddressInfo;
    const { asker } = probesOn(new MemoryStore());
    const resolver = server.address;
    try {
      for (const [host, ok, message] of [
        ['here.probe.test', true, /./],
        ['nowhere.probe.test', false, /has no address/],
        ['meta.probe.test', false, /never allowed/],
      ] as const)
        for (const probe of [
          { kind: 'http', url: `http://${host}:${port}/` },
          { kind: 'tcp', host, port },
        ]) {
          const seen = await asker.run(validateProbe({ ...probe, resolver }));
          expect(seen.message, probe.kind).to.match(message);
          expect(seen.ok, `${probe.kind} ${host}: ${seen.message}`).to.equal(ok);
        }
      const record = validateProbe({ kind: 'dns', host: 'here.probe.test', resolver, expected_record: '127.0.0.1' });
      expect(await asker.run(record)).to.include({ ok: true });
    } finally {
      web.close();
    }
  });

  it('report the actual records when a record differs', async () => {
    const of = { host: 'probe.test', record_type: 'TXT' };
    expect(await requested({ ...of, expected_record: '-all' })).to.include({ ok: true });
    expect(await requested({ ...of, expected_record: '~all' })).to.include({
      ok: false,
      message: 'No record of probe.test contains ~all: v=spf1 -all',
    });
  });

  it('report no records for a missing name, and for a name without this record type', async () => {
    for (const [host, record_type] of [
      ['nowhere.probe.test', 'A'],
      ['web.probe.test', 'TXT'],
    ] as const) {
      expect(await requested({ host, record_type })).to.include({
        ok: false,
        message: `${host} has no record of type ${record_type}`,
        excerpt: null,
      });
    }
  });

  it('distinguish a server that refuses the query, a slow server, and an unreachable server', async () => {
    expect((await requested({ host: 'shop.example' })).message).to.equal(
      'shop.example cannot be resolved: the name server refused the query (EREFUSED)',
    );
    const slow = await requested({ host: 'a.slow.test', timeout_ms: 400 });
    expect(slow).to.include({ ok: false, response_ms: null });
    expect(slow.message).to.match(/within 400 ms$/);
    const gone = createSocket('udp4');
    await new Promise<void>((resolve) => gone.bind(0, '127.0.0.1', resolve));
    const { port } = gone.address();
    await new Promise<void>((resolve) => gone.close(() => resolve()));
    const nobody = await requested({ host: 'web.probe.test', timeout_ms: 10_000 }, [`127.0.0.1:${port}`]);
    expect(nobody.ok).to.equal(false);
    expect(nobody.message).to.match(/no name server responds \(ECONNREFUSED\)|did not respond in time \(ETIMEOUT\)/);
  });
});
