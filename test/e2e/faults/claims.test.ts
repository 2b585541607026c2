/**
 * One winner each: parallel claims and parallel identical reports, over the real processes
 * (contract 20, leases).
 */
import { expect } from 'chai';
import { durableEngines } from '../../support/durable-engines.js';
import { TestService } from '../../support/service.js';

const NO_LIMITS = { SVC_LIMITS__INTAKE_PER_MINUTE: '0', SVC_LIMITS__API_PER_MINUTE: '0' };

for (const engine of durableEngines) {
  describe(`parallel callers on ${engine.name}`, function () {
    const services: TestService[] = [];
    let token: string;
    const nth = (i: number): TestService => services[i % services.length] as TestService;
    before(async function () {
      const settings = await engine.settings();
      if (settings === null) this.skip();
      // The embedded store has one process; on MongoDB this one is the second.
      if (engine.name === 'mongodb') services.push(await TestService.createInProcess({ ...NO_LIMITS, ...settings }));
      services.push(await TestService.createStarted({ ...NO_LIMITS, ...settings }));
      for (const slug of ['queue', 'once']) await nth(0).createProject(slug);
      token = await nth(0).createToken('bugtracker:report,bugtracker:manage');
    });
    after(async () => {
      for (const service of services) await service.dispose();
    });

    it('hand out 40 items to 64 callers once each', async () => {
      const reports = Array.from({ length: 40 }, (_, i) => ({
        project: 'queue',
        title: `work ${i}`,
        file_path: `src/w${i}.ts`,
      }));
      for (const report of reports) {
        const made = await nth(0).request('POST', '/api/bugtracker/v1/report', token, report);
        expect(made.status).to.equal(201);
      }
      const answers = await Promise.all(
        Array.from({ length: 64 }, (_, i) =>
          nth(i).request('POST', '/api/bugtracker/v1/bugs?action=next&project=queue', token, { agent: `agent-${i}` }),
        ),
      );
      expect(answers.map((a) => a.status)).to.deep.equal(answers.map(() => 200));
      const claimed = answers.map((a) => a.body['item'] as { id: string } | null).filter((item) => item !== null);
      expect(claimed).to.have.lengthOf(40);
      expect(new Set(claimed.map((item) => item.id)).size).to.equal(40);
    });

    it('create a single item for 50 identical client_refs', async () => {
      const report = { project: 'once', title: 'once', client_ref: 'ref-1' };
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => nth(i).request('POST', '/api/bugtracker/v1/report', token, report)),
      );
      expect(answers.filter((a) => a.status === 201)).to.have.lengthOf(1);
      expect(answers.filter((a) => a.status === 200)).to.have.lengthOf(49);
      expect(new Set(answers.map((a) => a.body['id'])).size).to.equal(1);
      const list = await nth(0).request('GET', '/api/bugtracker/v1/bugs?project=once&include_total=true', token);
      expect(list.body['total']).to.equal(1);
      expect((list.body['items'] as { hit_count: number }[])[0]?.hit_count).to.equal(1);
    });
  });
}
