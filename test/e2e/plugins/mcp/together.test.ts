/**
 * Two agents and a person on one queue: the agents by MCP with the official client, the person with
 * the forms of the pages, the reporter over HTTP. Whatever one of them says or does, the others get
 * to see (contract 20, leases and hold; contract 95, MCP). On MongoDB each agent asks a process of
 * its own, one of which is the program.
 */
import { expect } from 'chai';
import { durableEngines } from '../../../support/durable-engines.js';
import { TestService } from '../../../support/service.js';
import { BrowserVisitor } from '../../../support/browser-visitor.js';
import { Agent, ALL, granted, type Answered } from '../../../plugins/mcp/fixture.js';

for (const engine of durableEngines) {
  describe(`mcp: two agents and a user on ${engine.name}`, function () {
    const services: TestService[] = [];
    const agents: Agent[] = [];
    let one: Agent;
    let two: Agent;
    let hanna: BrowserVisitor;
    let reporter: string;

    const report = async (fields: object): Promise<string> => {
      const body = { project: 'shop', ...fields };
      const made = await (services[0] as TestService).request('POST', '/api/bugtracker/v1/report', reporter, body);
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      return made.body['ref'] as string;
    };
    /** A form of the item's page, as the person sends it. */
    const form = async (ref: string, name: string, fields: Record<string, string>): Promise<void> => {
      const { status } = await hanna.post(`/bugs/${ref}/${name}`, fields, `/bugs/${ref}`);
      expect(status, name).to.be.oneOf([302, 303]);
    };
    const page = async (ref: string): Promise<string> => (await hanna.get(`/bugs/${ref}`)).text();
    const ok = (answer: Answered): Answered => {
      expect(answer.error, answer.text).to.equal(null);
      return answer;
    };

    before(async function () {
      const settings = await engine.settings();
      if (settings === null) this.skip();
      const first = await TestService.createInProcess(settings ?? {});
      services.push(first);
      if (engine.name === 'mongodb') services.push(await TestService.createStarted(settings ?? {}));
      await first.createProject('shop');
      const create = ['user', 'create', '--username', 'hanna', '--role', 'member', '--password-stdin'];
      await first.runCommand(create, 'a-long-enough-passphrase\n');
      hanna = new BrowserVisitor(first);
      expect(await hanna.signIn({ username: 'hanna', password: 'a-long-enough-passphrase' })).to.be.oneOf([302, 303]);
      reporter = await first.createToken('bugtracker:report', 'shop');
      for (const url of [first.url, (services.at(-1) as TestService).url])
        agents.push(await Agent.connect(url, await first.createToken(ALL, 'shop')));
      [one, two] = agents as [Agent, Agent];
    });
    after(async () => {
      for (const agent of agents) await agent.close();
      for (const service of services) await service.dispose();
    });

    it('report others’ comments to the holder as news, and an unread comment blocks resolving once', async () => {
      const ref = await report({ title: 'The cart forgets a coupon' });
      const { item, lease } = granted(await one.call('next', { agent: 'first' }));
      expect(item.ref).to.equal(ref);
      const mine = { id: ref, claim_token: lease.claim_token };

      ok(await two.call('comment', { id: ref, body: 'I saw this in the basket service too' }));
      await form(ref, 'comments', { body: 'Only for members' });
      const renewed = ok(await one.call('renew', mine));
      const [fromTwo, fromHanna, ...rest] = renewed.data['news'] as { body: string }[];
      expect(fromTwo?.body).to.include('basket service');
      expect(fromHanna?.body).to.include('Only for members');
      expect(rest).to.deep.equal([]);
      expect(ok(await one.call('renew', mine)).data, 'each once').to.not.have.property('news');

      await form(ref, 'comments', { body: 'Stop: the coupon is meant to end at midnight' });
      const hasty = await one.call('resolve', { ...mine, resolved_in_build: '2.0.0' });
      expect(hasty.error?.code).to.equal('unread_news');
      expect(hasty.text).to.include('meant to end at midnight');
      ok(await one.call('resolve', { ...mine, resolved_in_build: '2.0.0', comment: 'It ends at midnight UTC now' }));
      expect(await page(ref))
        .to.include('It ends at midnight UTC now')
        .and.include('I saw this in the basket service');
      const read = ok(await two.call('get', { id: ref }));
      expect(read.text).to.include('It ends at midnight UTC now').and.include('Only for members');
      // Who resolved it may correct it, without a claim.
      ok(await one.call('update', { id: ref, resolved_in_build: '2.0.1', pr_url: 'https://git.example/shop/pull/7' }));
      expect(await page(ref))
        .to.include('2.0.1')
        .and.include('https://git.example/shop/pull/7');
      expect((await two.call('update', { id: ref, resolved_in_build: '3.0.0' })).error?.code).to.equal(
        'claim_required',
      );
    });

    it('pass an item that the first agent releases to the second agent', async () => {
      const ref = await report({ title: 'Prices are off by a cent' });
      const taken = granted(await one.call('next', { agent: 'first' }));
      expect(taken.item.ref).to.equal(ref);
      ok(
        await one.call('release', {
          id: ref,
          claim_token: taken.lease.claim_token,
          reason: 'needs the tax tables',
          comment: 'Rounding is in src/tax.ts:41',
        }),
      );
      const none = ok(await one.call('next', { agent: 'first' }));
      expect(none.data).to.deep.include({ item: null, waiting: { released_by_you: 1 } });
      const next = ok(await two.call('next', { agent: 'second' }));
      expect((next.data['item'] as { ref: string }).ref).to.equal(ref);
      const handover = next.data['handover'] as { released_by: string; reason: string; comments: { body: string }[] };
      expect(handover.released_by).to.include('first');
      expect(handover.reason).to.include('needs the tax tables');
      expect(handover.comments.map(({ body }) => body).join()).to.include('src/tax.ts:41');
      const shown = await page(ref);
      expect(shown).to.include('needs the tax tables').and.include('second');
      ok(await two.call('release', { id: ref, claim_token: granted(next).lease.claim_token, reason: 'later' }));
      await form(ref, 'status', { status: 'wont_fix', reason: 'as agreed' });
    });

    it('lose the lease when a user sets a hold with a reason, until it is lifted', async () => {
      const ref = await report({ title: 'Rename the tables' });
      const { lease } = granted(await one.call('next', { agent: 'first' }));
      await form(ref, 'hold', { hold: 'true', reason: 'we freeze for the fair' });
      const lost = await one.call('renew', { id: ref, claim_token: lease.claim_token });
      expect(lost.error).to.include({ code: 'lease_lost', why: 'overridden' });
      expect(lost.text).to.include('we freeze for the fair');
      const stopped = await two.call('claim', { id: ref, agent: 'second' });
      expect(stopped.error?.code).to.equal('on_hold');
      expect(stopped.text).to.include('we freeze for the fair');
      expect(ok(await two.call('next', { agent: 'second' })).data).to.deep.include({ item: null });
      expect(ok(await two.call('next', { agent: 'second' })).data['waiting']).to.include({ on_hold: 1 });
      expect(await page(ref)).to.include('we freeze for the fair');
      await form(ref, 'hold', { hold: 'false' });
      const again = granted(await two.call('next', { agent: 'second' }));
      expect(again.item.ref).to.equal(ref);
      ok(await two.call('resolve', { id: ref, claim_token: again.lease.claim_token }));
    });

    it('reopen a needs_info item when the user or its reporter answers', async () => {
      const ref = await report({ title: 'It is slow' });
      for (const answer of ['person', 'reporter'] as const) {
        const { lease } = granted(await one.call('next', { agent: 'first' }));
        const question = `Which page, ${answer}?`;
        const requested = { id: ref, claim_token: lease.claim_token, status: 'needs_info', comment: question };
        expect(ok(await one.call('update', requested)).data).to.include({ status: 'needs_info' });
        expect(await page(ref)).to.include(question);
        expect(ok(await two.call('next', { agent: 'second' })).data).to.include({ item: null });
        const body = `The list, says the ${answer}`;
        if (answer === 'person') await form(ref, 'comments', { body });
        else {
          const path = `/api/bugtracker/v1/bugs/${ref}/comments`;
          expect((await (services[0] as TestService).request('POST', path, reporter, { body })).status).to.equal(201);
        }
        const next = ok(await one.call('next', { agent: 'first' }));
        expect((next.data['item'] as { ref: string }).ref).to.equal(ref);
        expect(JSON.stringify(next.data['handover'])).to.include(body).and.include(question);
        const { claim_token } = granted(next).lease;
        ok(await one.call('update', { id: ref, claim_token, status: 'open' }));
      }
      await form(ref, 'status', { status: 'wont_fix', reason: 'fast enough' });
    });

    it('block an item on a bug found by the first agent, and show when a fixed item reopened', async () => {
      const ref = await report({ title: 'Invoices are wrong', client_ref: 'inv' });
      const { lease } = granted(await one.call('next', { agent: 'first' }));
      const mine = { id: ref, claim_token: lease.claim_token };
      const found = ok(await one.call('report', { project: 'shop', title: 'The tax service rounds twice' }));
      const blocker = found.data['ref'] as string;
      ok(await one.call('link', { ...mine, kind: 'blocked_by', ref: blocker }));
      ok(await one.call('release', { ...mine, reason: `waits for ${blocker}` }));
      const next = granted(await two.call('next', { agent: 'second' }));
      expect(next.item.ref, 'the blocked one is passed by').to.equal(blocker);
      expect(await page(ref)).to.include(blocker);
      const fixed = {
        id: blocker,
        claim_token: next.lease.claim_token,
        resolved_in_build: '2.1.0',
        fix_commit: 'abc1234',
      };
      ok(await two.call('resolve', { ...fixed, comment: 'Round once, at the end' }));
      const freed = granted(await two.call('next', { agent: 'second' }));
      expect(freed.item.ref).to.equal(ref);
      ok(await two.call('resolve', { id: ref, claim_token: freed.lease.claim_token }));

      // The person opens the fix again: anyone who takes it is told of it.
      await form(blocker, 'status', { status: 'open', reason: 'still rounds twice' });
      const again = ok(await one.call('next', { agent: 'first' }));
      const reported = JSON.stringify(again.data['handover']);
      for (const part of ['2.1.0', 'abc1234', 'Round once, at the end']) expect(reported).to.include(part);
      // Another agent does not get in the way, and learns whose it is.
      const taken = await two.call('claim', { id: blocker, agent: 'second' });
      expect(taken.error?.code).to.equal('already_claimed');
      expect(taken.text).to.include('first');
    });
  });
}
