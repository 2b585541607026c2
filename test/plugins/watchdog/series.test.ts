/** What the watchdog and the webhooks add to `/metrics`: from the start, and right afterwards. */
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { PrometheusMetrics } from '../../../adapters/node/metrics.js';
import { NodeOutbound } from '../../../adapters/node/outbound.js';
import watchdog from '../../../plugins/watchdog/plugin.js';
import webhooks from '../../../plugins/webhooks/plugin.js';
import { waitUntil } from '../../harness.js';
import { HttpFixture } from '../access/http-fixture.js';
import { Receiver, status } from '../webhooks/receiver.js';

describe('metrics of watchdog and webhooks', function () {
  let fixture: HttpFixture;
  let metrics: PrometheusMetrics;
  let to: Receiver;

  beforeEach(async () => {
    metrics = new PrometheusMetrics();
    fixture = await HttpFixture.open({
      store: new MemoryStore(),
      plugins: [watchdog, webhooks],
      parts: { metrics, outbound: new NodeOutbound() },
    });
    to = await Receiver.open(status(204));
  });
  afterEach(async () => {
    await fixture.stop();
    await to.close();
  });

  const lines = async (): Promise<string[]> => (await metrics.render()).split('\n');

  it('exposes every series from startup', async () => {
    const states = ['up', 'warning', 'down', 'unknown', 'stopped', 'maintenance'];
    const outcomes = ['success', 'retrying', 'exhausted', 'held', 'blocked'];
    expect(await lines()).to.include.members([
      ...states.map((state) => `aos_watchdog_monitors{state="${state}"} 0`),
      ...outcomes.map((outcome) => `aos_webhook_deliveries_total{outcome="${outcome}"} 0`),
      ...['success', 'failed', 'blocked'].map((verdict) => `aos_webhook_attempts_total{verdict="${verdict}"} 0`),
      'aos_watchdog_heartbeats_total 0',
      'aos_watchdog_queue_age_seconds 0',
      'aos_watchdog_evaluator_age_seconds Nan',
      'aos_webhook_queued 0',
      'aos_webhook_queue_age_seconds 0',
      'aos_webhook_first_attempt_seconds_count 0',
    ]);
  });

  it('exposes metrics per monitor only where enabled', async () => {
    const token = await fixture.token(['watchdog:ping']);
    const beat = { source: 'web-1', metrics: { response_ms: 250, cert_days: 12 } };
    await fixture.api('POST', '/api/watchdog/v1/ping', token, beat);
    expect((await lines()).filter((line) => line.includes('aos_watchdog_monitor_'))).to.deep.equal([]);

    const own = new PrometheusMetrics();
    const other = await HttpFixture.open({
      store: new MemoryStore(),
      plugins: [watchdog],
      parts: { metrics: own },
      sections: { watchdog: { monitor_metrics: true } },
    });
    const ping = await other.token(['watchdog:ping']);
    await other.api('POST', '/api/watchdog/v1/ping', ping, beat);
    await other.api('POST', '/api/watchdog/v1/ping', ping, { source: 'job/2', status: 'down' });
    await other.api('POST', '/api/watchdog/v1/ping', ping, { source: 'off', status: 'stopped' });
    const found = (await own.render()).split('\n').filter((line) => line.startsWith('aos_watchdog_monitor_'));
    expect(found).to.include.members([
      'aos_watchdog_monitor_up{monitor="web-1"} 1',
      'aos_watchdog_monitor_up{monitor="job/2"} 0',
      'aos_watchdog_monitor_warning{monitor="off"} 0',
      `aos_watchdog_monitor_last_heartbeat_timestamp_seconds{monitor="web-1"} ${other.clock.now() / 1_000}`,
      'aos_watchdog_monitor_response_seconds{monitor="web-1"} 0.25',
      'aos_watchdog_monitor_certificate_days{monitor="web-1"} 12',
    ]);
    expect(found.join()).to.not.include('monitor_up{monitor="off"}');
    await other.stop();
  });

  it('counts monitors by state and deliveries by outcome', async () => {
    const token = await fixture.token(['watchdog:ping', 'webhooks:manage']);
    await fixture.api('POST', '/api/webhooks/v1/webhooks', token, { name: 'a', url: to.url, events: '*' });
    for (const source of ['a', 'b']) await fixture.api('POST', '/api/watchdog/v1/ping', token, { source });
    await fixture.api('POST', '/api/watchdog/v1/ping', token, { source: 'c', status: 'stopped' });
    const event = { id: 'evt_1', event: 'bug.created', timestamp: fixture.clock.iso(), project_slug: null, data: {} };
    await fixture.harness.kernel.events.emit(event);
    await waitUntil('the outcome', async () =>
      (await lines()).includes('aos_webhook_deliveries_total{outcome="success"} 1'),
    );
    expect(await lines()).to.include.members([
      'aos_watchdog_monitors{state="up"} 2',
      'aos_watchdog_monitors{state="stopped"} 1',
      'aos_watchdog_heartbeats_total 3',
      'aos_webhook_attempts_total{verdict="success"} 1',
    ]);
  });
});
