/**
 * Attacks by a token that may make probes: reading what addresses of the own network answer, and
 * reaching metadata services by kinds of probes that are not HTTP (contract 70, amendments).
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { NodeReach } from '../../../adapters/node/reach/reach.js';
import { waitUntil } from '../../harness.js';
import { TestService } from '../../support/service.js';

const MONITORS = '/api/watchdog/v1/monitors';
const SECRET = 'the password of the database is hunter2';

const NEVER = [
  '169.254.169.254',
  '169.254.1.1',
  '[fe80::1]',
  'fe80::1',
  '::ffff:169.254.169.254',
  '64:ff9b::a9fe:a9fe',
  'fd00:ec2::254',
  '100.100.100.200',
  '168.63.129.16',
  '0.0.0.0',
  '::',
  // Other spellings of 169.254.169.254.
  '2852039166',
  '0xa9fea9fe',
  '0xa9.0xfe.0xa9.0xfe',
  '0251.0376.0251.0376',
  '169.254.43518',
  '169.254.169.254.',
];
const LOOPBACK = ['127.0.0.1', '127.1', '0x7f000001', '::1', '[::1]', '::ffff:127.0.0.1', '10.0.0.1', 'fd12::1'];
const KINDS = [
  { kind: 'tcp', port: 80 },
  { kind: 'tls', port: 443 },
  { kind: 'icmp' },
  { kind: 'dns', record_type: 'A' },
  { kind: 'grpc' },
  { kind: 'redis' },
  { kind: 'postgresql' },
  { kind: 'mysql' },
  { kind: 'mongodb' },
];

describe('a token that probes the internal network', () => {
  let service: TestService;
  let inner: http.Server;
  let url: string;
  let bound: string;
  let whole: string;

  before(async () => {
    inner = http.createServer((request, response) => {
      if (request.url === '/away') response.writeHead(302, { location: `/inner?key=${encodeURIComponent(SECRET)}` });
      response.end(JSON.stringify({ secret: SECRET }));
    });
    await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(inner.address() as AddressInfo).port}`;
    service = await TestService.createInProcess();
    await service.createProject('shop');
    bound = await service.createToken('watchdog:manage', 'shop');
    whole = await service.createToken('watchdog:manage');
  });
  after(async () => {
    await service?.dispose();
    inner?.closeAllConnections();
    inner?.close();
  });

  const tried = async (token: string, probe: object): Promise<string> => {
    const { status, body } = await service.request('POST', '/api/probes/v1/try', token, { probe });
    expect(status, JSON.stringify(body)).to.equal(200);
    return JSON.stringify(body['seen']);
  };
  const quoting = { kind: 'http', json_path: 'secret', json_value: 'x' };

  it('shows no excerpt, value or redirect of a private address to a project token', async () => {
    for (const probe of [
      { kind: 'http', url },
      { kind: 'http', url, expected_status: '404' },
      { ...quoting, url },
      { kind: 'http', url: `${url}/away`, redirects: 1 },
      { kind: 'http', url: `${url}/away`, expected_status: '302' },
    ]) {
      const seen = await tried(bound, probe);
      expect(decodeURIComponent(seen)).not.to.include('hunter2');
      expect(JSON.parse(seen)).to.deep.include({ excerpt: null, redirects: [] });
    }
    expect(JSON.parse(await tried(bound, { kind: 'dns', host: 'localhost', record_type: 'A' }))).to.deep.include({
      excerpt: null,
    });
    expect(await tried(whole, { kind: 'http', url }), 'of the whole service').to.include('hunter2');
  });

  it('shows no value of a private address in the monitor message to a project token', async () => {
    const made = await service.request('POST', MONITORS, bound, {
      source: 'thief',
      project: 'shop',
      probe: { ...quoting, url, retries: 0 },
    });
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    let monitor = '';
    await waitUntil('it was asked', async () => {
      const { body } = await service.request('GET', `${MONITORS}/thief`, bound);
      monitor = JSON.stringify(body);
      return (body['monitor'] as { state: string }).state === 'down';
    });
    expect(monitor).to.include('secret has a different value').and.not.include('hunter2');
  });

  it('rejects link-local and metadata addresses for any kind, in any notation', async () => {
    for (const kind of KINDS) {
      for (const host of NEVER) {
        const probe = { ...kind, host };
        const answer = await service.request('POST', MONITORS, whole, { source: 'meta', probe });
        expect(answer.status, `${kind.kind} ${host}`).to.equal(422);
        expect((answer.body['error'] as { fields: object }).fields).to.have.property('probe.host');
      }
      const meta = { ...kind, host: NEVER[0] };
      expect((await service.request('POST', '/api/probes/v1/try', whole, { probe: meta })).status).to.equal(422);
      const probe = { ...kind, host: '127.0.0.1' };
      const made = await service.request('POST', MONITORS, whole, { source: `own-${kind.kind}`, probe });
      // A system without ping refuses the kind, and not the host.
      const fields = Object.keys((made.body['error'] as { fields?: object } | undefined)?.fields ?? {});
      if (kind.kind === 'icmp' && made.status === 422) expect(fields).to.deep.equal(['probe.kind']);
      else expect(made.status).to.equal(201);
    }
    for (const [probe, field] of [
      ...NEVER.flatMap((host) => [
        [
          { kind: 'websocket', url: `ws://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}/` },
          'url',
        ],
        [{ kind: 'http', url: 'http://a.test/', resolver: host }, 'resolver'],
      ]),
      [{ kind: 'websocket', url: 'http://a.test/' }, 'url'],
      [{ kind: 'websocket', url: 'ws://u:p@a.test/' }, 'url'],
      [{ kind: 'dns', host: 'a.test', resolver: '169.254.169.254:53' }, 'resolver'],
      [{ kind: 'dns', host: 'a.test', resolver: '[fd00:ec2::254]:53' }, 'resolver'],
      [{ kind: 'http', url: 'https://a.test/', ca_pem: 'no certificate' }, 'ca_pem'],
      [
        {
          kind: 'http',
          url: 'https://a.test/',
          ca_pem: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
        },
        'ca_pem',
      ],
    ] as [object, string][]) {
      const answer = await service.request('POST', MONITORS, whole, { source: 'meta', probe });
      expect(answer.status, JSON.stringify(probe)).to.equal(422);
      expect((answer.body['error'] as { fields: object }).fields).to.have.property(`probe.${field}`);
    }
    const patched = await service.request('PATCH', `${MONITORS}/own-tcp`, whole, {
      probe: { kind: 'tcp', host: '169.254.169.254', port: 80 },
    });
    expect(patched.status).to.equal(422);
  });
});

describe('public-only policy', () => {
  const reach = new NodeReach();

  it('rejects loopback and private literals for every kind, and names that resolve to them', async () => {
    const policy = { mode: 'public-only', allow: [] } as const;
    for (const host of LOOPBACK) expect(reach.checkHost(host, policy), host).to.match(/is not a public one/);
    for (const host of ['example.org', '192.0.2.example', '1.1.1.1', '[2606:4700::1111]', '_dmarc.example.org'])
      expect(reach.checkHost(host, policy), host).to.equal(null);
    const inside = new NodeReach({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] });
    for (const call of [
      inside.connect({ host: 'inside.example', port: 80, policy }),
      inside.connect({ host: 'inside.example', port: 443, tls: true, policy }),
      inside.sendEcho({ host: 'inside.example', policy }),
      reach.lookup({ name: 'example.org', type: 'A', resolver: '127.0.0.1', policy }),
      reach.connect({ host: 'example.org', port: 80, resolver: '10.0.0.1:53', policy }),
    ])
      expect(
        await call.then(
          () => 'connected',
          (error: Error) => error.message,
        ),
      ).to.match(/is not a public one/);
  });
});
