import { expect } from 'chai';
import { PrometheusMetrics } from '../../../adapters/node/metrics.js';

describe('PrometheusMetrics', () => {
  it('renders counters, gauges and histograms as text format 0.0.4', async () => {
    const metrics = new PrometheusMetrics();
    const requests = metrics.counter('aos_requests_total', 'Requests.');
    requests.inc({ status: '200', method: 'GET' });
    requests.inc({ method: 'GET', status: '200' }, 2);
    requests.inc({ method: 'P"\\\n', status: '500' });
    metrics.gauge('aos_up', 'Up\nhere.', () => Promise.resolve(1.5));
    const seconds = metrics.histogram('aos_seconds', 'Time.', [1, 0.1]);
    seconds.observe(0.1, { route: 'a' });
    seconds.observe(0.5, { route: 'a' });
    seconds.observe(7, { route: 'a' });
    expect(await metrics.render()).to.equal(
      [
        '# HELP aos_requests_total Requests.',
        '# TYPE aos_requests_total counter',
        'aos_requests_total{method="GET",status="200"} 3',
        'aos_requests_total{method="P\\"\\\\\\n",status="500"} 1',
        '# HELP aos_up Up\\nhere.',
        '# TYPE aos_up gauge',
        'aos_up 1.5',
        '# HELP aos_seconds Time.',
        '# TYPE aos_seconds histogram',
        'aos_seconds_bucket{route="a",le="0.1"} 1',
        'aos_seconds_bucket{route="a",le="1"} 2',
        'aos_seconds_bucket{route="a",le="+Inf"} 3',
        'aos_seconds_sum{route="a"} 7.6',
        'aos_seconds_count{route="a"} 3',
        '',
      ].join('\n'),
    );
  });

  it('is the same metric by the same name, and refuses another kind and other names', async () => {
    const metrics = new PrometheusMetrics();
    metrics.counter('a_total', 'A.').inc();
    metrics.counter('a_total', 'A.').inc();
    expect(await metrics.render()).to.contain('a_total 2\n');
    expect(() => metrics.gauge('a_total', 'A.', () => 1)).to.throw('a_total is a counter');
    expect(() => metrics.counter('a b', 'A.')).to.throw(TypeError);
    expect(() => metrics.counter('a_total', 'A.').inc({}, -1)).to.throw(RangeError);
  });

  it('does not grow without bound by labels, and tells the others when a gauge fails', async () => {
    const metrics = new PrometheusMetrics();
    const counter = metrics.counter('a_total', 'A.');
    for (let i = 0; i < 2_000; i++) counter.inc({ path: `/${i}` });
    metrics.gauge('broken', 'B.', () => Promise.reject(new Error('no')));
    const text = await metrics.render();
    expect(text).to.contain('a_total{path="other"} 1500\n').and.contain('broken NaN\n');
    expect(text.split('\n').length).to.be.lessThan(520);
  });
});
