/**
 * An item asks for its agent: the real program, a real receiver, and an agent that works with what
 * it was sent (contract 70: `agent.requested`).
 */
import { spawn } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { signBody } from '../../../../plugins/webhooks/sending/signature.js';
import { TestService } from '../../../support/service.js';
import { projectRoot } from '../../../architecture/tree.js';
import { waitUntil } from '../../../harness.js';
import { Receiver } from '../../../plugins/webhooks/receiver.js';

interface Received {
  event: string;
  body: string;
  data: Record<string, string>;
  headers: Record<string, string>;
}

/** It answers with what it was sent, which the delivery log keeps the beginning of. */
async function echoing(): Promise<Receiver> {
  const receiver = await Receiver.open();
  receiver.answer = ({ response, n }) => response.writeHead(200).end(receiver.got[n - 1]?.body);
  return receiver;
}

const receivedBy = ({ got }: Receiver): Received[] =>
  got.map(({ body, headers }) => ({ body, headers, ...(JSON.parse(body) as Pick<Received, 'event' | 'data'>) }));
const requested = (receiver: Receiver): Received[] =>
  receivedBy(receiver).filter(({ event }) => event === 'agent.requested');

const BUGS = '/api/bugtracker/v1/bugs';
const HOOKS = '/api/webhooks/v1';
const RULES = '/api/bugtracker/v1/request-rules';

describe('dispatch: agent requests', function () {
  let service: TestService;
  let named: Receiver;
  let all: Receiver;
  let token: string;
  let hook: { id: string; secret: string };

  const call = (method: string, path: string, body?: object, bearer = token) =>
    service.request(method, path, bearer, body);
  const report = async (fields: object): Promise<string> => {
    const { body } = await call('POST', '/api/bugtracker/v1/report', { project: 'shop', ...fields });
    return (body as { ref: string }).ref;
  };
  const webhook = async (url: string, events: string): Promise<{ id: string; secret: string }> => {
    const { status, body } = await call('POST', `${HOOKS}/webhooks`, { name: events, url, events, enabled: true });
    expect(status, JSON.stringify(body)).to.equal(201);
    return { id: (body as { webhook: { id: string } }).webhook.id, secret: body['secret'] as string };
  };

  before(async () => {
    service = await TestService.createStarted();
    [named, all] = await Promise.all([echoing(), echoing()]);
    await service.createProject('shop');
    await service.createProject('other');
    token = await service.createToken('bugtracker:report,bugtracker:manage,webhooks:manage');
    hook = await webhook(named.url, 'agent.requested');
    await webhook(all.url, '*');
  });
  after(async () => {
    await service?.dispose();
    await Promise.all([named?.close(), all?.close()]);
  });

  it('sends the item, the address of /mcp and a token limited to this project and agent', async () => {
    const ref = await report({ title: 'The cart is empty', severity: 'low' });
    const asked = await call('POST', `${BUGS}/${ref}/request`, { agent: 'fixer' });
    expect(asked.status, JSON.stringify(asked.body)).to.equal(200);
    expect(asked.body['request']).to.include({ agent: 'fixer', tokens_used: null });
    await waitUntil('the first request', () => requested(named).length === 1);
    const { data, body, headers } = requested(named)[0] as Received;
    expect(data).to.include({ ref, agent: 'fixer', severity: 'low', item_status: 'open' });
    expect(data['mcp_url']).to.match(/\/mcp$/);
    expect(data['url']).to.include(`/bugs/${ref}`);
    expect(data['token']).to.match(/^svc_sub_/);
    const signature = signBody(hook.secret, Number(headers['x-svc-timestamp']), body);
    expect(headers['x-svc-signature']).to.equal(signature);
    const life = Date.parse(data['token_expires_at'] ?? '') - Date.now();
    expect(life).to.be.within(7_100_000, 7_200_000);

    // The agent works with it.
    const mine = data['token'] ?? '';
    const claim = await call('POST', `${BUGS}/${ref}/claim`, {}, mine);
    expect(claim.status, JSON.stringify(claim.body)).to.equal(200);
    const self = await call('GET', '/api/tokens/v1/self', undefined, mine);
    expect(self.body).to.include({ project: 'shop', agent: 'fixer', kind: 'sub' });
    expect((await call('GET', `${BUGS}?project=other`, undefined, mine)).status).to.equal(403);
    expect((await call('GET', `${HOOKS}/webhooks`, undefined, mine)).status).to.equal(403);
    const reported = await call(
      'POST',
      `${BUGS}/${ref}/progress`,
      { tokens_used: 2450, note: 'Looks at src/cart.ts' },
      mine,
    );
    expect(reported.body['request']).to.include({
      agent: 'fixer',
      tokens_used: 2450,
      note: 'Looks at src/cart.ts',
      sent: true,
    });
    const { claim_token } = (claim.body as { lease: { claim_token: string } }).lease;
    const leaked = await call('POST', `${BUGS}/${ref}/progress`, { note: `I hold ${claim_token}` }, mine);
    expect([leaked.status, Object.keys((leaked.body['error'] as { fields: object }).fields)]).to.deep.equal([
      422,
      ['note'],
    ]);
    const run = (await call('GET', `${BUGS}/${ref}/request`)).body['request'] as Record<string, string | null>;
    expect(Date.parse(run['last_call_at'] ?? '')).to.be.closeTo(Date.now(), 60_000);
    // One works on it: nobody else is asked.
    const again = await call('POST', `${BUGS}/${ref}/request`, { agent: 'fixer' });
    expect([again.status, (again.body['error'] as { code: string }).code]).to.deep.equal([409, 'already_claimed']);
    expect(requested(all), '* does not bring it').to.deep.equal([]);
  });

  it('creates a new token for a redelivery, and stores no token in events, deliveries, logs or the store', async () => {
    const log = await call('GET', `${HOOKS}/webhooks/${hook.id}/deliveries`);
    const [delivery] = log.body['items'] as { id: string }[];
    expect((await call('POST', `${HOOKS}/deliveries/${delivery?.id}/redeliver`)).status).to.be.within(200, 202);
    await waitUntil('the redelivery', () => requested(named).length === 2);
    const tokens = requested(named).map(({ data }) => data['token'] ?? '');
    expect(new Set(tokens).size).to.equal(2);
    for (const one of tokens) expect((await call('GET', '/api/tokens/v1/self', undefined, one)).status).to.equal(200);
    const ids = requested(named).map(({ body }) => (JSON.parse(body) as { id: string }).id);
    expect(new Set(ids).size, 'the event is the same').to.equal(1);

    let deliveries = '';
    await waitUntil('the excerpts of both answers', async () => {
      deliveries = JSON.stringify((await call('GET', `${HOOKS}/webhooks/${hook.id}/deliveries`)).body);
      return deliveries.split('[removed]').length === 3;
    });
    const events = JSON.stringify((await call('GET', `${HOOKS}/events`)).body);
    expect(events).to.include('agent.requested');
    const files = await readdir(service.dataDir);
    const stored = await Promise.all(
      files.filter((name) => name.includes('.db')).map((name) => readFile(join(service.dataDir, name), 'latin1')),
    );
    expect(stored.length).to.be.greaterThan(0);
    for (const text of [deliveries, events, service.stdout, service.stderr, ...stored])
      for (const one of tokens) expect(text.includes(one)).to.equal(false);
  });

  it('rejects resolved items, missing items, and items of another project', async () => {
    const ref = await report({ title: 'By design' });
    await call('PATCH', `${BUGS}/${ref}`, { status: 'wont_fix', reason: 'by design' });
    const decided = await call('POST', `${BUGS}/${ref}/request`);
    expect([decided.status, (decided.body['error'] as { code: string }).code]).to.deep.equal([
      409,
      'invalid_transition',
    ]);
    expect((await call('POST', `${BUGS}/shop-999/request`)).status).to.equal(404);
    const other = await service.createToken('bugtracker:manage', 'other');
    expect((await call('POST', `${BUGS}/shop-1/request`, undefined, other)).status).to.equal(404);
    const reader = await service.createToken('bugtracker:read');
    expect((await call('POST', `${BUGS}/shop-1/request`, undefined, reader)).status).to.equal(403);
  });

  it('rejects an item on hold, and a project without a webhook for agents', async () => {
    const held = await report({ title: 'On hold' });
    await call('PATCH', `${BUGS}/${held}`, { hold: true, reason: 'wait', force: true });
    const { body } = await call('POST', '/api/bugtracker/v1/report', { project: 'other', title: 'Nobody listens' });
    const mine = await call('POST', `${HOOKS}/webhooks`, {
      name: 'all',
      url: all.url,
      events: 'agent.requested',
      enabled: false,
      project_slug: 'other',
    });
    expect(mine.status, JSON.stringify(mine.body)).to.equal(201);
    await call('PATCH', `${HOOKS}/webhooks/${hook.id}`, { project_slug: 'shop' });
    try {
      const rejected = async (ref: string): Promise<Record<string, unknown>> => {
        const { status, body: answer } = await call('POST', `${BUGS}/${ref}/request`);
        expect(status).to.equal(409);
        return answer['error'] as Record<string, unknown>;
      };
      expect(await rejected(held)).to.deep.include({ code: 'on_hold' });
      const none = await rejected(body['ref'] as string);
      expect(none).to.include({ code: 'no_agent' });
      expect(none['settings_url']).to.match(/^http.*\/webhooks\/new$/);
      expect(none['message']).to.include(none['settings_url']);
    } finally {
      await call('PATCH', `${HOOKS}/webhooks/${hook.id}`, { project_slug: null });
    }
  });

  it('requests an agent by a rule for matching severity, project and tag, once per cycle', async () => {
    const made = await call('POST', RULES, { project: 'shop', severity: 'high', tag: 'checkout', agent: 'night' });
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    const rule = (made.body['rule'] as { id: string }).id;
    expect((await call('POST', RULES, { agent: 'x', project: 'none' })).status).to.equal(422);
    const before = requested(named).length;
    await report({ title: 'Another tag', severity: 'critical', tags: ['search'] });
    await report({ title: 'Not grave', severity: 'medium', tags: ['checkout'] });
    const ref = await report({ title: 'Nobody can pay', severity: 'critical', tags: ['checkout'] });
    await waitUntil('the rule’s request', () => requested(named).length > before);
    const detail = await call('GET', `${BUGS}/${ref}`);
    const history = detail.body['activity'] as { action: string; actor: string; data: object }[];
    const entries = history.filter(({ action }) => action === 'agent requested');
    expect(entries).to.have.length(1);
    expect(entries[0]).to.deep.include({ actor: 'plugin:dispatch' });
    expect(entries[0]?.data).to.include({ agent: 'night', rule: 'high or graver of shop tagged checkout' });

    const foreign = await service.createToken('bugtracker:manage', 'other');
    expect((await call('PATCH', `${RULES}/${rule}`, { enabled: false }, foreign)).status).to.equal(404);
    expect((await call('PATCH', `${RULES}/${rule}`, { enabled: false })).status).to.equal(200);
    await report({ title: 'Nobody can pay again', severity: 'critical', tags: ['checkout'] });
    const last = await report({ title: 'Asked for by hand' });
    await call('POST', `${BUGS}/${last}/request`);
    await waitUntil('the last request', () => requested(named).some(({ data }) => data['ref'] === last));
    const refs = requested(named)
      .slice(before)
      .map(({ data }) => data['ref']);
    expect(refs).to.deep.equal([ref, last]);
    expect((await call('DELETE', `${RULES}/${rule}`)).body).to.include({ deleted: true });
    expect((await call('GET', RULES)).body['items']).to.deep.equal([]);
  });

  it('verifies the signature and starts an agent with the token in its environment (guide example)', async () => {
    const out = join(service.dataDir, 'started');
    const secret = 'whsec_test_0123456789abcdef';
    const child = spawn(process.execPath, [join(projectRoot(), 'docs/examples/start-agent.mjs')], {
      env: {
        ...process.env,
        AOS_WEBHOOK_SECRET: secret,
        PORT: '0',
        AGENT_COMMAND: `echo "$AOS_REF $AOS_AGENT $AOS_MCP_URL $SVC_TOKEN $AOS_WEBHOOK_SECRET" >> ${out}`,
      },
    });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')));
    try {
      await waitUntil('the receiver', () => said.includes('listening'));
      const url = /listening on (\S+)/.exec(said)?.[1] ?? '';
      expect((await fetch(url, { method: 'POST', body: '{"event":"agent.requested","data":{}}' })).status).to.equal(
        401,
      );
      const hooked = { name: 'guide', url, events: 'agent.requested', secret, enabled: true };
      expect((await call('POST', `${HOOKS}/webhooks`, hooked)).status).to.equal(201);
      const ref = await report({ title: 'Start one' });
      await call('POST', `${BUGS}/${ref}/request`, { agent: 'fixer' });
      await waitUntil('the agent', () => said.includes(`${ref}: the agent exited with 0`));
      expect(await readFile(out, 'utf8')).to.match(
        new RegExp(`^${ref} fixer http://[^ ]+/mcp svc_sub_[0-9A-Za-z]{43} \\n$`),
      );
    } finally {
      child.kill();
    }
  });
});
