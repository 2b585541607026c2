/**
 * What an import reports, since it has no counterpart (contract 30, amendments; field reports W31
 * and W33).
 */
import { expect } from 'chai';
import { parseHealthchecks } from '../../../../plugins/watchdog/importing/healthchecks.js';
import { parseKumaBackup } from '../../../../plugins/watchdog/importing/kuma.js';

const HTTP = { id: 1, name: 'Shop', type: 'http', url: 'https://a.example/', interval: 60, active: true };
const JSON_QUERY = { ...HTTP, type: 'json-query', jsonPath: '$.state', expectedValue: 'green' };

/** What is given, a note that names it, and what its probe is then. */
const OF_KUMA: readonly [monitor: object, note: RegExp, probe?: object][] = [
  [{ ...HTTP, authMethod: 'oauth2-cc', oauth_client_id: 'x' }, /credentials for oauth2-cc/],
  [{ ...HTTP, authMethod: 'mtls', tlsCert: 'x', tlsKey: 'y' }, /credentials for mtls/],
  [{ ...HTTP, auth_method: 'ntlm', basic_auth_user: 'u', auth_domain: 'd' }, /credentials for ntlm/],
  [{ ...HTTP, proxyId: 3 }, /Proxy/],
  [{ ...HTTP, proxy_id: 3 }, /Proxy/],
  [{ ...HTTP, resendInterval: 5 }, /repeated after 5 failures.*repeat_minutes/],
  [{ ...HTTP, timeout: 48 }, /time-out of 48 s.*30 s/, { timeout_ms: 30_000 }],
  [{ ...HTTP, maxredirects: 10 }, /10 redirects.*5/, { redirects: 5 }],
  [{ ...HTTP, interval: 10 }, /interval of 10 s.*20 s/, { interval_seconds: 20 }],
  [{ ...HTTP, interval: 172_800 }, /interval of 172800 s.*86400 s/, { interval_seconds: 86_400 }],
  [{ ...HTTP, maxretries: 30 }, /30 retries.*10/, { retries: 10 }],
  [{ ...HTTP, maxretries: 2, retryInterval: 300 }, /300 s between retries/],
  [{ ...HTTP, conditions: '[{"type":"expression"}]' }, /conditions/],
  [{ ...HTTP, cacheBust: 1 }, /cache-busting/],
  [{ ...HTTP, ip_family: 'ipv4' }, /ipv4 only/],
  [{ ...HTTP, domain_expiry_notification: 1 }, /domain/],
  [{ ...HTTP, headers: 'X-Key: k' }, /headers are not valid/],
  [{ ...HTTP, notificationIDList: { 1: true } }, /Notifications/],
  [{ ...HTTP, active: 0 }, /paused/],
  [{ ...HTTP, tags: [{ name: 'x'.repeat(65) }] }, /Tags/],
  [{ ...JSON_QUERY, jsonPathOperator: '<' }, /comparison of state by </, { json_path: 'state' }],
  [{ ...JSON_QUERY, json_path_operator: '!=', jsonPath: 'a.b' }, /comparison of a\.b by !=/, { json_path: 'a.b' }],
  [{ ...JSON_QUERY, jsonPath: '$' }, /JSON check of the whole response/],
  ...['$count(items)', 'items[state="up"].name', 'a.b > 3', '$sum(a.b)', '"text"'].map((jsonPath): [object, RegExp] => [
    { ...JSON_QUERY, jsonPath },
    /only a value at a path/,
  ]),
  [{ ...HTTP, type: 'ping', hostname: 'h', packetSize: 1_400 }, /1400 bytes/],
  [{ ...HTTP, type: 'docker' }, /type docker/],
  [
    {
      ...HTTP,
      type: 'postgres',
      databaseConnectionString: 'postgres://u:p@db.example:5433/shop',
      databaseQuery: 'SELECT 1',
    },
    /query/,
    { kind: 'postgresql', host: 'db.example', port: 5433 },
  ],
  [
    { ...HTTP, type: 'redis', database_connection_string: 'rediss://:secret@cache.example:6380' },
    /log in/,
    { kind: 'redis', host: 'cache.example', port: 6380, tls: true },
  ],
  [{ ...HTTP, type: 'mongodb', databaseConnectionString: 'mongodb+srv://cluster.example/x' }, /not a single server/],
  [{ ...HTTP, type: 'mongodb', databaseConnectionString: 'mongodb://h1,h2/x' }, /not a single server/],
  [{ ...HTTP, type: 'mongodb', databaseConnectionString: 'mongodb://u:p@h1:27017,h2:27017/x' }, /not a single server/],
  [{ ...HTTP, type: 'sqlserver', databaseConnectionString: 'Server=x' }, /type sqlserver/],
  [
    { ...HTTP, type: 'grpc-keyword', grpcUrl: 'grpc.example:50051', grpc_enable_tls: 1 },
    /gRPC health check/,
    { kind: 'grpc', host: 'grpc.example', port: 50_051, tls: true },
  ],
  [
    { ...HTTP, type: 'dns', hostname: 'h', dns_resolve_server: '1.1.1.1,8.8.8.8' },
    /Additional DNS/,
    { resolver: '1.1.1.1' },
  ],
  [{ ...HTTP, type: 'push', upsideDown: true, pushToken: 'x' }, /inverted/],
];

const OF_HEALTHCHECKS: readonly [check: object, note: RegExp][] = [
  [{ slug: 'nightly' }, /slug/],
  [{ channels: '4ec5a071-2d08-4baa-898a-eb4eb3cd6941' }, /Integrations/],
  [{ manual_resume: true }, /Manual resume/],
  [{ methods: 'POST' }, /Only POST/],
  [{ filter_subject: true }, /e-mail subject/],
  [{ filter_body: true, success_kw: 'OK' }, /e-mail text/],
  [{ filter_http_body: true }, /request body/],
  [{ filter_default_fail: true }, /without a matching filter/],
  [{ failure_kw: 'ERROR' }, /Keywords/],
  [{ subject: 'SUCCESS' }, /Keywords/],
  [{ status: 'paused' }, /paused/],
  [{ tags: Array.from({ length: 25 }, (_, n) => `t${n}`).join(' ') }, /Tags.*5 omitted/],
  [{ timeout: undefined }, /neither its period nor its schedule/],
];

describe('import report', () => {
  for (const [monitor, note, probe] of OF_KUMA) {
    it(`lists unsupported settings of Uptime Kuma: ${note.source}`, () => {
      const [one] = parseKumaBackup(JSON.stringify([monitor]));
      expect(
        one?.notes.some((text) => note.test(text)),
        one?.notes.join('\n'),
      ).to.equal(true);
      if (probe !== undefined) expect(one?.probe).to.deep.include(probe);
    });
  }

  for (const [check, note] of OF_HEALTHCHECKS) {
    it(`lists unsupported settings of Healthchecks: ${note.source}`, () => {
      const uuid = '803f680d-e89b-492b-82ef-2be7b774a92d';
      const [one] = parseHealthchecks(JSON.stringify([{ name: 'Nightly', uuid, timeout: 60, grace: 60, ...check }]));
      expect(
        one?.notes.some((text) => note.test(text)),
        one?.notes.join('\n'),
      ).to.equal(true);
    });
  }

  for (const [monitor, probe] of [
    [
      { type: 'websocket-upgrade', url: 'wss://a.example/' },
      { kind: 'websocket', url: 'wss://a.example/' },
    ],
    [
      { type: 'smtp', hostname: 'mail.example', port: 587 },
      { kind: 'tls', starttls: 'smtp', port: 587 },
    ],
    [
      { type: 'smtp', hostname: 'mail.example', port: 465, smtp_security: 'secure' },
      { kind: 'tls', port: 465 },
    ],
    [
      { type: 'smtp', hostname: 'mail.example', port: 25, smtpSecurity: 'nostarttls' },
      { kind: 'tcp', port: 25 },
    ],
    [
      { type: 'mysql', databaseConnectionString: 'mysql://db.example/x' },
      { kind: 'mysql', host: 'db.example' },
    ],
    [
      { type: 'port', hostname: 'h', port: '22', upsideDown: 'true' },
      { kind: 'tcp', port: 22, inverted: true },
    ],
  ] as const)
    it(`converts ${monitor.type} to ${JSON.stringify(probe)}`, () => {
      const [one] = parseKumaBackup(JSON.stringify([{ ...HTTP, ...monitor }]));
      expect(one?.probe).to.deep.include(probe);
      expect(one?.notes).to.deep.equal([]);
    });

  it('omits database passwords from probes', () => {
    const secret = 'hunter2';
    for (const type of ['postgres', 'mysql', 'redis', 'mongodb']) {
      const databaseConnectionString = `${type}://user:${secret}@db.example/x`;
      const [one] = parseKumaBackup(JSON.stringify([{ ...HTTP, type, databaseConnectionString }]));
      // Identities are hashed where they are stored.
      expect(JSON.stringify({ ...one, identities: [] })).to.not.include(secret);
    }
  });

  it('contains no notes when everything is supported', () => {
    const plain = {
      ...HTTP,
      timeout: 16,
      maxredirects: 5,
      maxretries: 0,
      resendInterval: 0,
      proxyId: null,
      jsonPath: null,
    };
    const all = [
      plain,
      { ...plain, ignoreTls: true, upsideDown: true, method: 'PUT', body: '{"a":1}', httpBodyEncoding: 'json' },
      { ...plain, type: 'keyword', keyword: 'error', invertKeyword: true },
      JSON_QUERY,
      {
        id: 5,
        name: 'Name',
        type: 'dns',
        hostname: 'a.example',
        dns_resolve_server: '1.1.1.1',
        dns_resolve_type: 'MX',
      },
    ];
    expect(parseKumaBackup(JSON.stringify(all)).flatMap(({ notes }) => notes)).to.deep.equal([]);
  });

  for (const [timeout, timeout_ms] of [
    [16.1, 16_100],
    [1.1, 1_100],
    [4.1, 4_100],
    [0.0004, 100],
    ['8.2', 8_200],
  ] as const) {
    it(`converts a timeout of ${timeout} s to whole milliseconds`, () => {
      expect(parseKumaBackup(JSON.stringify([{ ...HTTP, timeout }]))[0]?.probe).to.include({ timeout_ms });
    });
  }
});
