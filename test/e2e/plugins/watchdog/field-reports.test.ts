/**
 * The real program from a fault to those who are notified of it: inputs of the field reports on the
 * watchdog, with a chat channel and a webhook for all events.
 */
import { expect } from 'chai';
import http from 'node:http';
import tls from 'node:tls';
import type { AddressInfo } from 'node:net';
import { waitUntil } from '../../../harness.js';
import { Receiver, status } from '../../../plugins/webhooks/receiver.js';
import { isAvailable } from '../../../support/requirements.js';
import { TestService } from '../../../support/service.js';
import { certificates } from '../probes/certificates.js';

const BASE = '/api/watchdog/v1';
const ZONE = 'Europe/Berlin';

interface Notification {
  event: string;
  data: Record<string, unknown>;
}

describe('watchdog: alarms as received', () => {
  let service: TestService;
  let chat: Receiver;
  let hook: Receiver;
  let token: string;

  before(async () => {
    [chat, hook] = await Promise.all([Receiver.open(status(200, {}, 'ok')), Receiver.open()]);
    service = await TestService.createStarted({ SVC_BASE_URL: 'https://aos.example' });
    token = await service.createToken(
      'watchdog:ping,watchdog:manage,watchdog:read,notifications:manage,webhooks:manage',
    );
    const channel = { name: 'chat', kind: 'slack', target: chat.url, timezone: ZONE, digest_minutes: 0 };
    expect((await service.request('POST', '/api/notifications/v1/channels', token, channel)).status).to.equal(201);
    const webhook = { name: 'all', url: hook.url, events: ['*'] };
    expect((await service.request('POST', '/api/webhooks/v1/webhooks', token, webhook)).status).to.equal(201);
  });
  after(async () => {
    await service?.dispose();
    await chat?.close();
    await hook?.close();
  });

  const sent = (source: string): Notification[] =>
    hook.got.map(({ body }) => JSON.parse(body) as Notification).filter(({ data }) => data['source'] === source);
  const said = (text: string): string | undefined => chat.got.find(({ body }) => body.includes(text))?.body;
  const beat = async (source: string, more: object = {}): Promise<void> => {
    const body = { source, interval: 600, status: 'ok', ...more };
    expect((await service.request('POST', `${BASE}/ping`, token, body)).status).to.be.oneOf([200, 201]);
  };

  const issuePingToken = async (source: string): Promise<string> => {
    const words = ['token', 'create', '--name', source, '--scopes', 'watchdog:ping', '--source', source];
    return (await service.runCommand<{ token: string }>(words)).token;
  };
  /**
   * Posts a body of `x` over a socket of its own; resolves with the status, or with null when it
   * hangs up first.
   */
  const postBody = (path: string, bytes: number, headers: http.OutgoingHttpHeaders, cut = false) =>
    new Promise<number | null>((resolve, reject) => {
      const call = http.request(service.url + path, { method: 'POST', headers, agent: false });
      call.on('response', (response) => response.resume().on('end', () => resolve(response.statusCode ?? 0)));
      call.on('error', (error) => (cut ? resolve(null) : reject(error)));
      const chunk = Buffer.alloc(65_536, 'x');
      let left = bytes;
      const write = (): void => {
        while (left > 0) {
          left -= chunk.length;
          if (!call.write(chunk)) return void call.once('drain', write);
        }
        if (cut) call.destroy();
        else call.end();
      };
      write();
    });

  it('warn before a certificate expires (W35)', async function () {
    const made = await certificates();
    if (!isAvailable('tls', made !== null) || made === null) this.skip();
    const server = tls.createServer(made.soon).on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const probe = { kind: 'tls', host: '127.0.0.1', port, ca_pem: made.ca };
      const body = { source: 'cert-1', name: 'Shop', probe };
      expect((await service.request('POST', `${BASE}/monitors`, token, body)).status).to.equal(201);
      await waitUntil('the channel is notified', () => said('Shop: certificate expires soon') !== undefined);
      await waitUntil('the webhook is called', () =>
        sent('cert-1').some(({ event }) => event === 'monitor.certificate_expiring'),
      );
      const expiring = sent('cert-1').find(({ event }) => event === 'monitor.certificate_expiring');
      expect(expiring?.data).to.include({ name: 'Shop' });
      expect(expiring?.data['days_left']).to.be.oneOf([4, 5]);
    } finally {
      server.close();
    }
  });

  it('report no recovery for a monitor that is deleted or put into maintenance while down (W36)', async () => {
    for (const source of ['del-1', 'mnt-1']) {
      await beat(source);
      await beat(source, { status: 'down' });
    }
    await waitUntil('both are down', () =>
      ['del-1', 'mnt-1'].every((source) => said(`${source} is down`) !== undefined),
    );
    expect((await service.request('DELETE', `${BASE}/monitors/del-1`, token)).status).to.equal(200);
    const window = { sources: ['mnt-1'], until: new Date(Date.now() + 3_600_000).toISOString() };
    expect((await service.request('POST', `${BASE}/maintenance`, token, window)).status).to.equal(201);
    await waitUntil('their ends', () => said('del-1: alert closed (deleted)') !== undefined);
    await waitUntil('their ends', () => said('mnt-1: alert closed (maintenance)') !== undefined);
    expect(said('recovered')).to.equal(undefined);
  });

  it('contain the monitor, its message, its exit code and the local time (W37)', async () => {
    const pingToken = await issuePingToken('job');
    const made = { source: 'job', name: 'Nightly backup' };
    expect((await service.request('POST', `${BASE}/monitors`, token, made)).status).to.equal(201);
    const answer = await fetch(`${service.url}/ping/${pingToken}/3`, {
      method: 'POST',
      body: 'disk full: /dev/sda1',
    });
    expect(answer.status).to.equal(200);
    await waitUntil('the channel is notified', () => said('Nightly backup is down') !== undefined);
    const text = said('Nightly backup is down') ?? '';
    expect(text)
      .to.include('xit code 3')
      .and.include('disk full: /dev/sda1')
      .and.match(/\b\d\d:\d\d CES?T\b/);
    await waitUntil('the webhook is called', () => sent('job').some(({ event }) => event === 'monitor.down'));
    const down = sent('job').find(({ event }) => event === 'monitor.down');
    expect(down?.data).to.include({ name: 'Nightly backup', message: 'disk full: /dev/sda1', exit_code: 3 });
    expect(down?.data['reason']).to.be.a('string');
  });

  for (const [name, bytes, headers, cut] of [
    ['of 1.1 MB', 17 << 16, { 'content-length': 17 << 16 }, false],
    ['of 2 MiB in chunks', 2 << 20, {}, false],
    ['of 70 MiB', 70 << 20, { 'content-length': 70 << 20 }, false],
    ['of 70 MiB in chunks', 70 << 20, {}, false],
    ['that is cut off', 1 << 20, { 'content-length': 2 << 20 }, true],
  ] as const)
    it(`count a failure with a body ${name} (W13)`, async () => {
      const source = `body ${name}`.replaceAll(' ', '-');
      const pingToken = await issuePingToken(source);
      expect((await fetch(`${service.url}/ping/${pingToken}?interval=600`)).status).to.equal(200);
      expect(await postBody(`/ping/${pingToken}/fail`, bytes, headers, cut)).to.equal(cut ? null : 200);
      await waitUntil('the webhook is called', () => sent(source).some(({ event }) => event === 'monitor.down'));
      const down = sent(source).find(({ event }) => event === 'monitor.down');
      expect(String(down?.data['message'])).to.match(/^x+$/);
    });
});
