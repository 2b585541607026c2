/** `kill -9` under writes, once; test/e2e/faults does it again and again. */
import { expect } from 'chai';
import { TestService } from '../support/service.js';

const ENOUGH = 40;

describe('smoke: kill -9 under writes', () => {
  let service: TestService;
  before(async () => {
    service = await TestService.createStarted({ SVC_LIMITS__INTAKE_PER_MINUTE: '0' });
  });
  after(() => service.dispose());

  it('loses no acknowledged report', async () => {
    await service.createProject('shop');
    const token = await service.createToken('bugtracker:report,bugtracker:read', 'shop');
    const acknowledged: string[] = [];
    let sent = 0;
    let killed: Promise<unknown> | undefined;
    const reporter = async (): Promise<void> => {
      for (;;) {
        const n = sent++;
        const body = {
          project: 'shop',
          exception_class: `Error${n}`,
          error_message: `failure ${n}`,
          error_level: 'error',
        };
        const answer = await service.request('POST', '/api/errors/v1/report', token, body).catch(() => null);
        if (answer === null) return;
        expect(answer.status).to.be.oneOf([200, 201]);
        acknowledged.push(String(answer.body['ref']));
        if (acknowledged.length >= ENOUGH) killed ??= service.stop('SIGKILL');
      }
    };
    await Promise.all(Array.from({ length: 4 }, reporter));
    await killed;
    await service.start();
    for (const ref of acknowledged)
      expect((await service.request('GET', `/api/bugtracker/v1/bugs/${ref}`, token)).status, ref).to.equal(200);
  });
});
