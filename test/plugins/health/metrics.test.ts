/** `GET /metrics` of the listening service: every series from the start. */
import { expect } from 'chai';
import { SHARED_KEY, TestService } from '../../support/service.js';

describe('service metrics', function () {
  let service: TestService;
  before(async () => {
    service = await TestService.createInProcess();
    await service.createProject('shop');
  });
  after(() => service.dispose());

  const scrape = async (): Promise<string> => {
    const response = await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${SHARED_KEY}` } });
    return response.text();
  };
  const numbers = async (): Promise<Map<string, number>> => {
    const lines = (await scrape()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(
      lines.map((line): [string, number] => [
        line.slice(0, line.lastIndexOf(' ')),
        Number(line.slice(line.lastIndexOf(' ') + 1)),
      ]),
    );
  };

  it('exposes every series from startup, each prefixed with aos_', async () => {
    const found = await numbers();
    for (const name of found.keys()) expect(name).to.match(/^aos_/);
    expect(found).to.include.keys(
      'aos_process_cpu_seconds_total',
      'aos_process_resident_memory_bytes',
      'aos_process_open_handles',
      'aos_eventloop_lag_seconds{stat="max"}',
      'aos_bugs_reports_total{source="app",outcome="accepted"}',
      'aos_bugs_reports_total{source="sdk",outcome="muted"}',
      'aos_bugs_reports_total{source="agent",outcome="refused"}',
      'aos_bugs_groups_created_total{type="error"}',
      'aos_watchdog_monitors{state="down"}',
      'aos_bugs_queue_age_seconds',
      'aos_job_queue_age_seconds',
      'aos_watchdog_queue_age_seconds',
      'aos_webhook_queue_age_seconds',
      'aos_store_bytes',
      'aos_http_errors_total{code="rate_limited"}',
      'aos_http_requests_total{route="/api/errors/v1/report",method="POST",status="5xx"}',
    );
    expect(found.get('aos_bugs_reports_total{source="app",outcome="accepted"}')).to.equal(0);
  });

  it('counts reports by result, and new groups', async () => {
    const token = await service.createToken('bugtracker:report', 'shop');
    const one = { project: 'shop', error_level: 'error', error_message: 'Boom', exception_class: 'Boom' };
    const path = '/api/errors/v1/report';
    await service.request('POST', path, token, one);
    await service.request('POST', path, token, [one, { project: 'shop' }]);
    await service.request('POST', path, token, { ...one, project: 'other' });
    await service.request('POST', path, null, one);
    const found = await numbers();
    expect(found.get('aos_bugs_reports_total{source="app",outcome="accepted"}')).to.equal(2);
    expect(found.get('aos_bugs_reports_total{source="app",outcome="refused"}')).to.equal(3);
    expect(found.get('aos_bugs_groups_created_total{type="error"}')).to.equal(1);
  });
});
