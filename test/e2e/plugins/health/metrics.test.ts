/** `GET /metrics` before Prometheus' own linter. */
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { isAvailable } from '../../../support/requirements.js';
import { SHARED_KEY, TestService } from '../../../support/service.js';

describe('metrics of the service', () => {
  let service: TestService;
  before(async () => (service = await TestService.createInProcess()));
  after(() => service.dispose());

  it('are accepted by promtool', async function () {
    const response = await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${SHARED_KEY}` } });
    const input = await response.text();
    const { error, status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
    if (!isAvailable('promtool', !error)) this.skip();
    expect([status, stdout, stderr]).to.deep.equal([0, '', '']);
  });
});
