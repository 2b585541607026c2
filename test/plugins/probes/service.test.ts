/**
 * Probes of the real program: by the interface, into the state of the monitor, and away again
 * (contract 30, probes).
 */
import { expect } from 'chai';
import { waitUntil } from '../../harness.js';
import { TestService } from '../../support/service.js';

const MONITORS = '/api/watchdog/v1/monitors';

describe('probes of a running service', function () {
  let service: TestService;
  let token: string;
  before(async () => {
    service = await TestService.createInProcess();
    token = await service.createToken('watchdog:manage,watchdog:read');
  });
  after(() => service.dispose());

  const monitor = async (): Promise<Record<string, unknown>> => {
    const { body } = await service.request('GET', `${MONITORS}/self`, token);
    return body['monitor'] as Record<string, unknown>;
  };
  const becomes = (state: string): Promise<unknown> =>
    waitUntil(`it is ${state}`, async () => (await monitor())['state'] === state);

  it('probes the target and updates the monitor', async () => {
    const probe = { kind: 'http', url: `${service.url}/login`, headers: { 'X-Key': 'hush-hush' }, retries: 0 };
    const wrong = await service.request('POST', MONITORS, token, {
      source: 'self',
      probe: { ...probe, url: 'ftp://x/' },
    });
    expect(wrong.status).to.equal(422);
    expect((wrong.body['error'] as { fields: object }).fields).to.have.keys('probe.url');
    const made = await service.request('POST', MONITORS, token, { source: 'self', probe });
    expect(made.status).to.equal(201);
    expect(JSON.stringify(made.body)).not.to.include('hush-hush');
    expect((made.body['monitor'] as { probe: object }).probe).to.include({ kind: 'http', interval_seconds: 60 });
    await becomes('up');
    expect(await monitor())
      .to.have.nested.property('metrics_json.response_ms')
      .that.is.a('number');

    const changed = { ...probe, headers: undefined, expected_status: '204' };
    expect((await service.request('PATCH', `${MONITORS}/self`, token, { probe: changed })).status).to.equal(200);
    await becomes('down');
    expect((await monitor())['message']).to.equal('HTTP 200 (expected 204)');
    expect((await monitor())['probe']).to.deep.include({ header_names: ['X-Key'] });
    // The monitor changes first, its incident follows (docs/consistency.md).
    const open = async (): Promise<{ source: string; note: string }[]> => {
      const { body } = await service.request('GET', '/api/watchdog/v1/incidents?open=true', token);
      return body['items'] as { source: string; note: string }[];
    };
    await waitUntil('its incident is open', async () => (await open()).length > 0);
    expect((await open())[0]).to.include({
      source: 'self',
      note: 'HTTP 200 (expected 204)',
    });

    for (const [path, line] of [
      ['incidents.csv?open=true', /^"[0-9a-f-]{36}","self",.*HTTP 200 \(expected 204\)/m],
      ['monitors/self/uptime.csv?days=1', /^"day","up_seconds","warning_seconds","down_seconds","share"\r\n"\d{4}-/],
    ] as const) {
      const sheet = await fetch(`${service.url}/api/watchdog/v1/${path}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      expect([sheet.status, sheet.headers.get('content-type')], path).to.deep.equal([200, 'text/csv; charset=utf-8']);
      expect(await sheet.text()).to.match(line);
    }

    await service.request('PATCH', `${MONITORS}/self`, token, { probe: null });
    expect((await monitor())['probe']).to.equal(null);
  });

  it('reports unknown fields with their path, and accepts the rest', async () => {
    const no = (name: string): string => `${name} is no field of this call`;
    const probe = { kind: 'tcp', host: '127.0.0.1', port: 1, retires: 0 };
    const sent = JSON.stringify({ source: 'mistyped', probe, intervall: 1 }).replace(
      '"retires"',
      '"__proto__":1,"retires"',
    );
    const post = await fetch(`${service.url}${MONITORS}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: sent,
    });
    expect(post.status).to.equal(201);
    const made = (await post.json()) as { warnings: string[]; monitor: { probe: object } };
    expect(made.warnings).to.have.members([no('probe.retires'), no('probe.__proto__'), no('intervall')]);
    expect(made.monitor.probe).to.include({ kind: 'tcp', retries: 1 }).and.not.have.property('retires');

    const path = `${MONITORS}/mistyped`;
    const other = { kind: 'tcp', host: '127.0.0.1', port: 2, url: 'http://a.test/' };
    const changed = await service.request('PATCH', path, token, { probe: other });
    expect([changed.status, changed.body['warnings']]).to.deep.equal([200, [no('probe.url')]]);
    const right = await service.request('PATCH', path, token, { probe: { kind: 'tcp', host: '127.0.0.1', port: 2 } });
    expect(right.body).to.not.have.property('warnings');
    const tried = await service.request('POST', '/api/probes/v1/try', token, { probe });
    expect([tried.status, tried.body['warnings']]).to.deep.equal([200, [no('probe.retires')]]);
    expect((await service.request('DELETE', path, token)).status).to.equal(200);
  });

  it('probes once on request, and shows the result', async () => {
    const probe = { kind: 'tcp', host: '127.0.0.1', port: Number(new URL(service.url).port) };
    const { status, body } = await service.request('POST', '/api/probes/v1/try', token, { probe });
    expect(status).to.equal(200);
    expect(body['seen']).to.deep.include({ ok: true, status: null, certificate: null });
    const none = await service.request('POST', '/api/probes/v1/try', token, { probe: { kind: 'gopher' } });
    expect(none.status).to.equal(422);
  });
});
