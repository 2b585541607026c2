import { expect } from 'chai';
import { PrometheusMetrics } from '../../../adapters/node/metrics.js';
import { registerProcessMetrics } from '../../../adapters/node/process-metrics.js';

/** The samples, without comments. */
const samples = async (metrics: PrometheusMetrics): Promise<string[]> =>
  (await metrics.render()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));

describe('PrometheusMetrics', () => {
  it('renders counters, gauges and histograms as text format 0.0.4', async () => {
    const metrics = new PrometheusMetrics();
    const requests = metrics.counter('aos_requests_total', 'Requests.', { method: [], status: [] });
    requests.inc({ status: '200', method: 'GET' });
    requests.inc({ method: 'GET', status: '200' }, 2);
    requests.inc({ method: 'P"\\\n', status: '500' });
    metrics.gauge('aos_up', 'Up\nhere.', () => Promise.resolve(1.5));
    const seconds = metrics.histogram('aos_wait_seconds', 'Time.', [1, 0.1], { route: [] });
    seconds.observe(0.1, { route: 'a' });
    seconds.observe(0.5, { route: 'a' });
    seconds.observe(7, { route: 'a' });
    expect(await samples(metrics)).to.deep.equal([
      'aos_requests_total{status="200",method="GET"} 3',
      'aos_requests_total{method="P\\"\\\\\\n",status="500"} 1',
      'aos_up 1.5',
      'aos_wait_seconds_bucket{le="0.1",route="a"} 1',
      'aos_wait_seconds_bucket{le="1",route="a"} 2',
      'aos_wait_seconds_bucket{le="+Inf",route="a"} 3',
      'aos_wait_seconds_sum{route="a"} 7.6',
      'aos_wait_seconds_count{route="a"} 3',
    ]);
    expect(await metrics.render()).to.contain('# HELP aos_up Up\\nhere.\n# TYPE aos_up gauge\n');
  });

  it('exports every series with predefined labels from the start', async () => {
    const metrics = new PrometheusMetrics();
    metrics.counter('aos_plain_total', 'P.');
    metrics.counter('aos_reports_total', 'R.', { way: ['app', 'sdk'], outcome: ['accepted', 'muted'] });
    const jobs = metrics.counter('aos_jobs_total', 'J.', { job: [], result: ['ok'] });
    metrics.histogram('aos_wait_seconds', 'W.', [1], { kind: ['api'] });
    metrics.gauges('aos_monitors', 'M.', 'state', ['up', 'down'], () => ({ up: 3 }));
    expect(await samples(metrics)).to.deep.equal([
      'aos_plain_total 0',
      'aos_reports_total{way="app",outcome="accepted"} 0',
      'aos_reports_total{way="app",outcome="muted"} 0',
      'aos_reports_total{way="sdk",outcome="accepted"} 0',
      'aos_reports_total{way="sdk",outcome="muted"} 0',
      'aos_wait_seconds_bucket{le="1",kind="api"} 0',
      'aos_wait_seconds_bucket{le="+Inf",kind="api"} 0',
      'aos_wait_seconds_sum{kind="api"} 0',
      'aos_wait_seconds_count{kind="api"} 0',
      'aos_monitors{state="up"} 3',
      'aos_monitors{state="down"} 0',
    ]);
    jobs.inc({ job: 'a', result: 'ok' }, 0);
    expect(await samples(metrics)).to.include('aos_jobs_total{job="a",result="ok"} 0');
  });

  it('returns the same metric for the same name, and rejects another type and invalid names', async () => {
    const metrics = new PrometheusMetrics();
    metrics.counter('aos_a_total', 'A.').inc();
    metrics.counter('aos_a_total', 'A.').inc();
    expect(await samples(metrics)).to.deep.equal(['aos_a_total 2']);
    expect(() => metrics.histogram('aos_a_total', 'A.', [1])).to.throw(TypeError, 'must end in _total');
    metrics.gauge('aos_b', 'B.', () => 1);
    expect(() => metrics.histogram('aos_b', 'B.', [1])).to.throw(TypeError, 'aos_b is a gauge');
    expect(() => metrics.counter('aos_b', 'B.')).to.throw(TypeError, 'must end in _total');
    expect(() => metrics.gauge('b', 'B.', () => 1)).to.throw(TypeError, 'must start with aos_');
    expect(() => metrics.counter('aos_a b_total', 'A.')).to.throw(TypeError);
    expect(() => metrics.counter('aos_a_total', 'A.').inc({}, -1)).to.throw();
    expect(() => metrics.counter('aos_c_total', 'C.').inc({ path: '/' })).to.throw();
  });

  it('limits the number of label values, and exports other metrics when a gauge throws', async () => {
    const metrics = new PrometheusMetrics();
    const counter = metrics.counter('aos_a_total', 'A.', { path: [] });
    for (let i = 0; i < 4_000; i++) counter.inc({ path: `/${i}` });
    metrics.gauge('aos_broken', 'B.', () => Promise.reject(new Error('no')));
    metrics.gauges('aos_lost', 'L.', 'state', ['up'], () => {
      throw new Error('no');
    });
    const lines = await samples(metrics);
    expect(lines).to.include.members(['aos_a_total{path="other"} 2000', 'aos_broken Nan', 'aos_lost{state="up"} Nan']);
    expect(lines).to.have.length(2_003);
  });

  it('exports process metrics', async () => {
    const metrics = new PrometheusMetrics();
    registerProcessMetrics(metrics, 1_000);
    const read = async (): Promise<Map<string, number>> =>
      new Map(
        (await samples(metrics)).map((line): [string, number] => [
          line.split(' ')[0] ?? '',
          Number(line.split(' ')[1]),
        ]),
      );
    const before = await read();
    // The measure begins with the first tick of its own timer.
    await new Promise((resolve) => setTimeout(resolve, 50));
    const until = Date.now() + 300;
    while (Date.now() < until);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const after = await read();
    expect([...after.keys()]).to.have.members([
      'aos_process_cpu_seconds_total',
      'aos_process_resident_memory_bytes',
      'aos_process_heap_bytes',
      'aos_process_external_memory_bytes',
      'aos_process_open_handles',
      'aos_process_start_time_seconds',
      'aos_eventloop_lag_seconds{stat="mean"}',
      'aos_eventloop_lag_seconds{stat="p99"}',
      'aos_eventloop_lag_seconds{stat="max"}',
    ]);
    expect(after.get('aos_process_start_time_seconds')).to.equal(1);
    expect(after.get('aos_process_cpu_seconds_total')).to.be.greaterThan(
      before.get('aos_process_cpu_seconds_total') ?? NaN,
    );
    expect(after.get('aos_process_resident_memory_bytes')).to.be.greaterThan(10_000_000);
    // The loop stood still for 300 ms, and a scrape begins the measure again.
    expect(after.get('aos_eventloop_lag_seconds{stat="max"}')).to.be.within(0.2, 30);
    expect((await read()).get('aos_eventloop_lag_seconds{stat="max"}')).to.be.lessThan(
      after.get('aos_eventloop_lag_seconds{stat="max"}') ?? NaN,
    );
  });
});
