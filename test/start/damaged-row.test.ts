/** One damaged row of the embedded store: the call that meets it is 500, the log names the row, and the service goes on. */
import { expect } from 'chai';
import { join } from 'node:path';
import { Connection } from '../../adapters/sqlite/connection/connection.js';
import { TestService } from '../support/service.js';

const LIST = '/api/bugtracker/v1/bugs';

describe('a damaged row', function () {
  this.timeout(60_000);
  let service: TestService;
  let token = '';
  before(async () => {
    service = await TestService.started();
    await service.project('shop');
    token = await service.token('bugtracker:report,bugtracker:read,bugtracker:manage');
  });
  after(() => service.dispose());

  const report = async (word: string): Promise<number> => {
    const body = {
      project: 'shop',
      error_level: 'error',
      error_message: `Title number ${word}`,
      exception_class: `Fault_${word}`,
    };
    return (await service.request('POST', '/api/errors/v1/report', token, body)).status;
  };
  const get = async (path: string): Promise<number> => (await service.request('GET', path, token)).status;

  it('fails the calls that meet it, is named in the log, and ends nothing, nor the next start', async () => {
    for (const word of ['one', 'two', 'three']) expect(await report(word)).to.equal(201);
    const { body: list } = await service.request('GET', LIST, token);
    const [first = '', second = '', third = ''] = (list['items'] as { id: string }[]).map(({ id }) => id);
    const connection = new Connection({ path: join(service.dataDir, 'aos.db'), durability: 'full' });
    const at = `instr(body, 'Title number')`;
    connection.driver.exec(
      `UPDATE bugs_items SET body = CAST(substr(body, 1, ${at}) || x'ff' || substr(body, ${at} + 2) AS TEXT) WHERE id = '${second}'`,
    );
    connection.close();
    const { pid } = service.child ?? {};
    for (let round = 0; round < 2; round++) {
      const { status, body } = await service.request('GET', `${LIST}/${second}`, token);
      expect([status, (body['error'] as { code: string }).code]).to.deep.equal([500, 'internal_error']);
      expect(await get(LIST)).to.equal(500);
      for (const id of [first, third]) expect(await get(`${LIST}/${id}`)).to.equal(200);
      expect((await service.request('GET', '/api/health/ready', null)).status).to.equal(200);
      expect(await report(['four', 'five'][round] ?? '')).to.equal(201);
      expect(service.stdout + service.stderr).to.include(`the document \\"${second}\\" of bugs_items cannot be read`);
      if (round === 0) {
        expect(service.child?.pid).to.equal(pid);
        await service.end();
        await service.start();
      }
    }
  });
});
