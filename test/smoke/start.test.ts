/** One start of the real program; test/e2e/start has the rest. */
import { expect } from 'chai';
import { SHARED_KEY, TestService } from '../support/service.js';

describe('smoke: the program', () => {
  let service: TestService;
  before(async () => {
    service = await TestService.createEmpty();
    await service.start();
  });
  after(() => service.dispose());

  it('starts in an empty directory, responds, and exits with 0 on SIGTERM', async () => {
    const health = await service.request('GET', '/api/health', SHARED_KEY);
    expect(health).to.deep.include({ status: 200 });
    expect(health.body).to.include({ healthy: true });
    expect(await service.stop('SIGTERM')).to.equal(0);
    expect(service.stderr).to.equal('');
  });
});
