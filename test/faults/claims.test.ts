/** One winner each: parallel claims and parallel identical reports, over the real processes (contract 20, leases). */
import { expect } from 'chai';
import { engines } from '../support/engines.js';
import { TestService } from '../support/service.js';

const NO_LIMITS = { SVC_LIMITS__INTAKE_PER_MINUTE: '0', SVC_LIMITS__API_PER_MINUTE: '0' };

describe('parallel callers', function () {
  this.timeout(120_000);
  for (const engine of engines) {
    const processes = engine.name === 'mongodb' ? 2 : 1;

    it(`hand out 40 items to 64 callers once each, ${engine.name}, ${processes} process(es)`, async function () {
      const settings = await engine.settings();
      if (settings === null) this.skip();
      const services: TestService[] = [];
      try {
        for (let i = 0; i < processes; i++) services.push(await TestService.started({ ...NO_LIMITS, ...settings }));
        const [first] = services as [TestService];
        await first.project('shop');
        const token = await first.token('bugtracker:report,bugtracker:manage');
        for (let i = 0; i < 40; i++) {
          const made = await first.request('POST', '/api/bugtracker/v1/report', token, {
            project: 'shop',
            title: `work ${i}`,
            file_path: `src/w${i}.ts`,
          });
          expect(made.status).to.equal(201);
        }
        const answers = await Promise.all(
          Array.from({ length: 64 }, (_, i) =>
            (services[i % processes] as TestService).request('POST', '/api/bugtracker/v1/bugs?action=next', token, {
              agent: `agent-${i}`,
            }),
          ),
        );
        expect(answers.map((a) => a.status)).to.deep.equal(answers.map(() => 200));
        const claimed = answers.map((a) => a.body['item'] as { id: string } | null).filter((item) => item !== null);
        expect(claimed).to.have.lengthOf(40);
        expect(new Set(claimed.map((item) => item.id)).size).to.equal(40);
      } finally {
        for (const service of services) await service.dispose();
      }
    });

    it(`make one item of 50 identical client_refs, ${engine.name}`, async function () {
      const settings = await engine.settings();
      if (settings === null) this.skip();
      const services: TestService[] = [];
      try {
        for (let i = 0; i < processes; i++) services.push(await TestService.started({ ...NO_LIMITS, ...settings }));
        const [first] = services as [TestService];
        await first.project('shop');
        const token = await first.token('bugtracker:report,bugtracker:read');
        const answers = await Promise.all(
          Array.from({ length: 50 }, (_, i) =>
            (services[i % processes] as TestService).request('POST', '/api/bugtracker/v1/report', token, {
              project: 'shop',
              title: 'once',
              client_ref: 'ref-1',
            }),
          ),
        );
        expect(answers.filter((a) => a.status === 201)).to.have.lengthOf(1);
        expect(answers.filter((a) => a.status === 200)).to.have.lengthOf(49);
        expect(new Set(answers.map((a) => a.body['id'])).size).to.equal(1);
        const list = await first.request('GET', '/api/bugtracker/v1/bugs?project=shop&include_total=true', token);
        expect(list.body['total']).to.equal(1);
        expect((list.body['items'] as { hit_count: number }[])[0]?.hit_count).to.equal(1);
      } finally {
        for (const service of services) await service.dispose();
      }
    });
  }
});
