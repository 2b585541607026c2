/**
 * Attack: a token for webhooks becomes one for the bug tracker, through the token that
 * `agent.requested` brings. With the real program and a real receiver.
 */
import { expect } from 'chai';
import { TestService } from '../../../support/service.js';
import { waitUntil } from '../../../harness.js';
import { Receiver } from '../../../plugins/webhooks/receiver.js';

const BUGS = '/api/bugtracker/v1/bugs';
const HOOKS = '/api/webhooks/v1';

const PAGES = 'about basket cart delivery entry forum gallery home imprint jobs keys legal'.split(' ');

interface Hook {
  webhook: { id: string };
}

describe('dispatch: token escalation through webhooks', () => {
  let service: TestService;
  let receiver: Receiver;
  let thief: string;
  let partial: string;
  let owner: string;
  let reported = 0;

  const call = async (method: string, path: string, bearer: string, body?: object) => {
    const { status, body: answered } = await service.request(method, path, bearer, body);
    return { status, code: (answered['error'] as { code: string } | undefined)?.code, answered };
  };
  const REFUSED = { status: 403, code: 'insufficient_scope' };
  const report = async (project: string): Promise<string> =>
    (
      await call('POST', '/api/bugtracker/v1/report', owner, {
        project,
        title: `The page ${PAGES[reported++]} is empty`,
      })
    ).answered['ref'] as string;
  const hooked = async (project_slug: string | null = null): Promise<string> => {
    const fields = { name: 'agents', url: receiver.url, events: 'agent.requested', project_slug };
    const made = await call('POST', `${HOOKS}/webhooks`, owner, fields);
    expect(made.status, JSON.stringify(made.answered)).to.equal(201);
    return (made.answered as unknown as Hook).webhook.id;
  };
  /** Requests an agent for the item and waits for the token that the receiver gets. */
  const tokenFor = async (ref: string): Promise<string> => {
    expect((await call('POST', `${BUGS}/${ref}/request`, owner, { agent: 'fixer' })).status).to.equal(200);
    let token: string | undefined;
    await waitUntil('the delivery', () => {
      const sent = receiver.got.map(({ body }) => JSON.parse(body) as { data: { ref?: string; token?: string } });
      token = sent.find(({ data }) => data.ref === ref && data.token !== undefined)?.data.token;
      return token !== undefined;
    });
    return token ?? '';
  };
  const deliveryOf = async (hook: string): Promise<string> => {
    let items: { id: string; state: string }[] = [];
    await waitUntil('the delivery in the log', async () => {
      items = (await call('GET', `${HOOKS}/webhooks/${hook}/deliveries`, owner)).answered['items'] as typeof items;
      return items[0]?.state === 'success';
    });
    return items[0]?.id ?? '';
  };
  const tokensSent = (): number => receiver.got.filter(({ body }) => body.includes('svc_sub_')).length;
  const alive = async (token: string): Promise<number> => (await call('GET', '/api/tokens/v1/self', token)).status;

  before(async () => {
    service = await TestService.createStarted();
    receiver = await Receiver.open();
    await service.createProject('shop');
    await service.createProject('gone');
    thief = await service.createToken('webhooks:manage');
    partial = await service.createToken('webhooks:manage,bugtracker:report,bugtracker:read');
    owner = await service.createToken('webhooks:manage,bugtracker:report,bugtracker:manage,projects:manage');
  });
  after(async () => {
    await service?.dispose();
    await receiver?.close();
  });

  it('denies creating, changing, enabling, rotating and redelivering an agent webhook', async () => {
    const id = await hooked();
    const plain = await call('POST', `${HOOKS}/webhooks`, thief, { name: 'plain', url: receiver.url, events: '*' });
    const mine = (plain.answered as unknown as Hook).webhook.id;
    await tokenFor(await report('shop'));
    const delivery = await deliveryOf(id);
    const received = tokensSent();
    for (const bearer of [thief, partial]) {
      for (const events of ['agent.requested', 'bug.created, agent.requested', ['*', 'agent.requested']])
        expect(
          await call('POST', `${HOOKS}/webhooks`, bearer, { name: 'x', url: receiver.url, events }),
        ).to.deep.include(REFUSED);
      for (const [method, path, body] of [
        ['PATCH', `/webhooks/${mine}`, { events: '*,agent.requested' }],
        ['PATCH', `/webhooks/${id}`, { url: receiver.url }],
        ['PATCH', `/webhooks/${id}`, { events: 'agent.requested', name: 'y' }],
        ['PATCH', `/webhooks/${id}`, { events: 'bug.created' }],
        ['PATCH', `/webhooks/${id}`, { enabled: false }],
        ['POST', `/webhooks/${id}/enable`, {}],
        ['POST', `/webhooks/${id}/rotate`, {}],
        ['POST', `/deliveries/${delivery}/redeliver`, {}],
      ] as const)
        expect(await call(method, HOOKS + path, bearer, body), `${method} ${path}`).to.deep.include(REFUSED);
    }
    expect(tokensSent(), 'no further token was sent').to.equal(received);
    const agent = await service.runCommand<{ token: string }>(
      'token create --name a --scopes webhooks:manage,bugtracker:report,bugtracker:manage --agent fixer'.split(' '),
    );
    const requested = { name: 'x', url: receiver.url, events: 'agent.requested' };
    expect(await call('POST', `${HOOKS}/webhooks`, agent.token, requested)).to.deep.include(REFUSED);
    expect((await call('DELETE', `${HOOKS}/webhooks/${id}`, owner)).status).to.equal(200);
  });

  it('sends no token to a webhook that no longer subscribes to the event, even on redelivery', async () => {
    const id = await hooked();
    await tokenFor(await report('shop'));
    expect((await call('PATCH', `${HOOKS}/webhooks/${id}`, owner, { events: 'bug.resolved' })).status).to.equal(200);
    const delivery = await deliveryOf(id);
    const before = tokensSent();
    expect((await call('POST', `${HOOKS}/deliveries/${delivery}/redeliver`, owner)).status).to.equal(200);
    await waitUntil('the redelivery', () => receiver.got.some(({ headers }) => headers['x-svc-attempt'] === '2'));
    expect(tokensSent()).to.equal(before);
    await call('DELETE', `${HOOKS}/webhooks/${id}`, owner);
  });

  it('revokes the token with its webhook, event subscription, item or project', async () => {
    const ends: [string, string, (hook: string, ref: string) => Promise<{ status: number }>][] = [
      ['the webhook is deleted', 'shop', (hook) => call('DELETE', `${HOOKS}/webhooks/${hook}`, owner)],
      [
        'the webhook names it no more',
        'shop',
        (hook) => call('PATCH', `${HOOKS}/webhooks/${hook}`, owner, { events: '*' }),
      ],
      [
        'the webhook is for another project',
        'shop',
        (hook) => call('PATCH', `${HOOKS}/webhooks/${hook}`, owner, { project_slug: 'gone' }),
      ],
      ['the item is closed', 'shop', (_hook, ref) => call('PATCH', `${BUGS}/${ref}`, owner, { status: 'closed' })],
      [
        'the item will not be fixed',
        'shop',
        (_hook, ref) => call('PATCH', `${BUGS}/${ref}`, owner, { status: 'wont_fix', reason: 'by design' }),
      ],
      ['the item is deleted', 'shop', (_hook, ref) => call('DELETE', `${BUGS}/${ref}`, owner)],
      ['the project is archived', 'gone', () => call('POST', '/api/projects/v1/projects/gone/archive', owner)],
    ];
    for (const [why, project, end] of ends) {
      const hook = await hooked(project);
      const ref = await report(project);
      const token = await tokenFor(ref);
      expect(await alive(token), `before ${why}`).to.equal(200);
      const ended = await end(hook, ref);
      expect(ended.status, `${why}: ${JSON.stringify(ended)}`).to.equal(200);
      await waitUntil(`the end of the token after ${why}`, async () => (await alive(token)) === 401);
      await call('PATCH', `${BUGS}/${ref}`, owner, { status: 'open' });
      expect(await alive(token), `${why}, and back`).to.equal(401);
      await call('DELETE', `${HOOKS}/webhooks/${hook}`, owner);
    }
  });

  it('retains the token of a resolved item, but denies deleting items with it', async () => {
    const hook = await hooked();
    const ref = await report('shop');
    const token = await tokenFor(ref);
    for (const options of ['', '?force=true&reason=talked-into'])
      expect(await call('DELETE', `${BUGS}/${ref}${options}`, token)).to.deep.include(REFUSED);
    expect((await call('GET', `${BUGS}/${ref}`, owner)).status).to.equal(200);
    const { lease } = (await call('POST', `${BUGS}/${ref}/claim`, token, {})).answered as {
      lease?: { claim_token: string };
    };
    const resolved = { status: 'resolved', claim_token: lease?.claim_token };
    expect((await call('PATCH', `${BUGS}/${ref}`, token, resolved)).status).to.equal(200);
    expect(await alive(token)).to.equal(200);
    await call('DELETE', `${HOOKS}/webhooks/${hook}`, owner);
  });
});
