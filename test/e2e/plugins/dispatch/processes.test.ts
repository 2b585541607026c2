/**
 * Several processes on one store ask for an agent: one delivery for each request (contract 70:
 * `agent.requested`).
 */
import { expect } from 'chai';
import { durableEngines } from '../../../support/durable-engines.js';
import { TestService } from '../../../support/service.js';
import { waitUntil } from '../../../harness.js';
import { Receiver } from '../../../plugins/webhooks/receiver.js';

interface Sent {
  event: string;
  id: string;
  data: { ref: string; agent: string; token: string; mcp_url: string };
}

for (const engine of durableEngines) {
  describe(`dispatch on ${engine.name}`, function () {
    const services: TestService[] = [];
    let receiver: Receiver;
    let token: string;

    before(async function () {
      const settings = await engine.settings();
      if (settings === null) this.skip();
      services.push(await TestService.createInProcess(settings ?? {}));
      // The embedded store has one process; on MongoDB the program is a second.
      if (engine.name === 'mongodb') services.push(await TestService.createStarted(settings ?? {}));
      const [first] = services as [TestService];
      receiver = await Receiver.open();
      await first.createProject('shop');
      token = await first.createToken('bugtracker:report,bugtracker:manage,webhooks:manage');
      const hook = { name: 'agents', url: receiver.url, events: 'agent.requested', enabled: true };
      expect((await first.request('POST', '/api/webhooks/v1/webhooks', token, hook)).status).to.equal(201);
      const rule = { project: 'shop', severity: 'high', agent: 'night' };
      expect((await first.request('POST', '/api/bugtracker/v1/request-rules', token, rule)).status).to.equal(201);
    });
    after(async () => {
      for (const service of services) await service.dispose();
      await receiver?.close();
    });

    const sent = (): Sent[] => receiver.got.map(({ body }) => JSON.parse(body) as Sent);
    const report = async (service: TestService, fields: object): Promise<string> => {
      const body = { project: 'shop', ...fields };
      return (await service.request('POST', '/api/bugtracker/v1/report', token, body)).body['ref'] as string;
    };

    it('delivers each automatic and manual request once, regardless of the reporting process', async () => {
      const expected: string[] = [];
      for (let n = 0; n < 12; n++) {
        const service = services[n % services.length] as TestService;
        const hand = n % 3 === 0;
        const ref = await report(service, { title: `Broken ${'x'.repeat(n)}`, severity: hand ? 'low' : 'critical' });
        expected.push(`${ref} ${hand ? 'fixer' : 'night'}`);
        if (!hand) continue;
        const path = `/api/bugtracker/v1/bugs/${ref}/request`;
        const other = services[(n + 1) % services.length] as TestService;
        expect((await other.request('POST', path, token, { agent: 'fixer' })).status).to.equal(200);
      }
      const reported = (): string[] => sent().map(({ data }) => `${data.ref} ${data.agent}`);
      await waitUntil('all of them', () => new Set(reported()).size === expected.length);
      // One more, by hand: what would come twice has come by then.
      const last = await report(services[0] as TestService, { title: 'The last one', severity: 'low' });
      await (services.at(-1) as TestService).request('POST', `/api/bugtracker/v1/bugs/${last}/request`, token, {});
      await waitUntil('the last one', () => reported().some((one) => one.startsWith(`${last} `)));
      expect(reported().toSorted()).to.deep.equal([...expected, `${last} agent`].toSorted());
      expect(new Set(sent().map(({ id }) => id)).size).to.equal(sent().length);
    });

    it('accepts a delivered token in each process, and shows the agent’s work in the other process', async () => {
      const { data } = sent().find(({ data: { agent } }) => agent === 'night') as Sent;
      const other = services.at(-1) as TestService;
      const path = `/api/bugtracker/v1/bugs/${data.ref}`;
      expect((await other.request('POST', `${path}/claim`, data.token, {})).status).to.equal(200);
      const reported = { tokens_used: 2108, note: 'Reads src/cart.ts' };
      expect((await other.request('POST', `${path}/progress`, data.token, reported)).status).to.equal(200);
      const [first] = services as [TestService];
      const { body } = await first.request('GET', `${path}/request`, token);
      expect(body['request']).to.include({ agent: 'night', sent: true, ...reported });
      const again = await first.request('POST', `${path}/request`, token, { agent: 'fixer' });
      expect([again.status, (again.body['error'] as { code: string }).code]).to.deep.equal([409, 'already_claimed']);
    });
  });
}
