/**
 * Two real processes on one MongoDB and one store: what one publishes, the other answers within two
 * seconds (contract 40, asking).
 */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPackage } from '../../../kit/contracts/release-store.js';
import { waitUntil } from '../../../harness.js';
import { durableEngines } from '../../../support/durable-engines.js';
import { TestService } from '../../../support/service.js';

const CHECK = '/api/updateservice/v1/check?product=shop&version=1.0';

describe('releases in two processes', function () {
  it('shows publishes and withdrawals of one process in the other', async function () {
    const settings = await durableEngines.find(({ name }) => name === 'mongodb')?.settings();
    if (settings === null || settings === undefined) this.skip();
    const folder = await mkdtemp(join(tmpdir(), 'aos-store-'));
    const shared = { ...settings, SVC_RELEASES__PATH: folder, SVC_LIMITS__PUBLIC_PER_MINUTE: '0' };
    const one = await TestService.createStarted(shared);
    const other = await TestService.createStarted(shared);
    try {
      await one.createProject('shop');
      const token = await one.createToken('updateservice:publish');
      const offered = async (service: TestService): Promise<{ version: string } | null> => {
        const { status, body } = await service.request('GET', CHECK, null);
        return status === 200 ? (body['release'] as { version: string } | null) : null;
      };
      /** The patience is for a busy machine. */
      const follows = (version: string): Promise<void> =>
        waitUntil(`the other answers ${version}`, async () => (await offered(other))?.version === version);
      for (const version of ['1.1', '1.2', '1.3']) {
        const published = await fetch(`${one.url}/api/updateservice/v1/publish?product=shop&version=${version}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
          body: buildPackage({ 'app.txt': version }),
        });
        expect(published.status, await published.text()).to.equal(201);
        expect((await offered(one))?.version).to.equal(version);
        await follows(version);
      }
      const body = { product: 'shop', version: '1.3', reason: 'broken' };
      expect((await one.request('POST', '/api/updateservice/v1/withdraw', token, body)).status).to.equal(200);
      await follows('1.2');
    } finally {
      await one.dispose();
      await other.dispose();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
