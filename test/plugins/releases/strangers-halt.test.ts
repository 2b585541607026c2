/**
 * Attack: strangers with the public key stop a rollout by errors that they make up (contract 40,
 * staged rollout). With the whole service, behind a proxy that says for whom it asks.
 */
import { expect } from 'chai';
import { buildPackage } from '../../../clients/demo/package-file.js';
import { TestService } from '../../support/service.js';

const KINDS = ['Alpha', 'Beta', 'Gamma', 'Delta', 'Epsilon', 'Zeta', 'Eta'];
const VERSION = '1.5.0';

describe('untrusted clients with the public key that report new groups', () => {
  let service: TestService;
  let token: string;
  let dsn: URL;

  before(async () => {
    service = await TestService.createInProcess({
      SVC_LIMITS__INTAKE_PER_MINUTE: '0',
      SVC_SERVER__TRUSTED_PROXIES: '["127.0.0.1"]',
    });
    token = await service.createToken('bugtracker:report,projects:manage,updateservice:publish');
    await service.request('POST', '/api/projects/v1/projects', token, { slug: 'shop' });
    const { body } = await service.request('POST', '/api/projects/v1/projects/shop/intake-keys', token, {});
    dsn = new URL(String(body['dsn']));
    for (const [version, percent] of [
      ['1.4.0', 100],
      [VERSION, 50],
    ] as const) {
      const query = `product=shop&version=${version}&channel=stable&rollout_percent=${percent}`;
      const { status } = await fetch(`${service.url}/api/updateservice/v1/publish?${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
        body: new Uint8Array(buildPackage('shop.js', version)),
      });
      expect(status).to.equal(201);
    }
  });
  after(() => service?.dispose());

  const report = async (address: string, times = 1): Promise<void> => {
    const errors = KINDS.map((kind) => ({
      project: 'shop',
      exception_class: `${kind}Error`,
      error_level: 'error',
      error_message: 'made up',
      app_version: VERSION,
    }));
    for (let n = 0; n < times; n++) {
      const answer = await fetch(`${service.url}/api/errors/v1/report`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${dsn.username}`,
          'content-type': 'application/json',
          'x-forwarded-for': address,
        },
        body: JSON.stringify(errors),
      });
      const said = await answer.text();
      expect(said.includes('"error":'), said.slice(0, 300)).to.equal(false);
      expect(answer.status).to.equal(200);
    }
  };
  const sessions = async (exited: number): Promise<void> => {
    const attrs = { release: `shop@${VERSION}` };
    const item = { attrs, aggregates: [{ started: new Date().toISOString(), exited }] };
    const { status } = await fetch(`${service.url}/api${dsn.pathname}/envelope/`, {
      method: 'POST',
      headers: { 'x-sentry-auth': `Sentry sentry_key=${dsn.username}` },
      body: `{}\n{"type":"sessions"}\n${JSON.stringify(item)}\n`,
    });
    expect(status).to.equal(200);
  };
  const halted = async (): Promise<boolean> => {
    await service.runJob('releases.halt');
    const { body } = await service.request('GET', '/api/updateservice/v1/releases?product=shop', token);
    const releases = body['items'] as { version: string; halted_at: string | null }[];
    return releases.find(({ version }) => version === VERSION)?.halted_at !== null;
  };

  it('halt no rollout from one network or below 1 % of the sessions, unlike installations', async () => {
    await report('192.0.2.1');
    await report('192.0.2.77', 3);
    await report('::ffff:192.0.2.200');
    expect(await halted(), 'addresses of one /24').to.equal(false);
    await sessions(1_000);
    await report('198.51.100.9');
    expect(await halted(), 'six reports of each group, a thousand sessions').to.equal(false);
    for (const address of ['203.0.113.5', '2001:db8:7::1']) await report(address, 2);
    expect(await halted(), 'ten reports of each group').to.equal(true);
  });
});
