/**
 * The state of an item's pull request, by the address that the item names, as the forges tell of
 * it: on the item's page, over HTTP and over MCP, of the real service (contract 20, forges;
 * contract 95, MCP).
 */
import { expect } from 'chai';
import type { Forge } from '../../../plugins/forges/verification.js';
import { ADMIN_ACCOUNT, TestService } from '../../support/service.js';
import { BrowserVisitor } from '../../support/browser-visitor.js';
import { Agent, ALL, granted } from '../mcp/fixture.js';
import { changed, delivery, signed } from './fixture.js';

/**
 * Each delivery as its forge sends it; `named` is the address as somebody copied it into the item.
 */
const FORGES: { forge: Forge; event: string; folder: string; url: string; named: string; author: string }[] = [
  {
    forge: 'github',
    event: 'pull_request',
    folder: 'github/pull-request',
    url: 'https://github.com/acme/shop/pull/42',
    named: 'https://GitHub.com/Acme/shop/pull/42/files?w=1#diff-7',
    author: 'ada',
  },
  {
    forge: 'gitlab',
    event: 'Merge Request Hook',
    folder: 'gitlab/merge-request',
    url: 'https://gitlab.example.com/acme/shop/-/merge_requests/7',
    named: 'https://gitlab.example.com/acme/shop/-/merge_requests/7/',
    author: 'Ada Lovelace',
  },
  {
    forge: 'gitea',
    event: 'pull_request',
    folder: 'gitea/pull-request',
    url: 'https://gitea.example.com/acme/shop/pulls/5',
    named: 'https://gitea.example.com/acme/shop/pulls/5',
    author: 'ada',
  },
];
const MERGE = 'c'.repeat(40);
const STEPS = [
  ['opened', 'open'],
  ['closed', 'closed'],
  ['merged', 'merged'],
] as const;

const words = (html: string): string => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

describe('forges: state of a pull request by its URL', function () {
  let service: TestService;
  let token: string;
  let secret: string;
  let agent: Agent;
  let person: BrowserVisitor;

  before(async () => {
    service = await TestService.createInProcess();
    await service.createProject('shop');
    token = await service.createToken(ALL, 'shop');
    const path = '/api/projects/v1/projects/shop/forge-secret';
    const made = await service.request('POST', path, await service.createToken('projects:manage,bugtracker:manage'));
    secret = made.body['forge_secret'] as string;
    // The deliveries name shop-1 and shop-2 in their texts; the items of this test are named by
    // nobody.
    for (const title of ['The total is wrong', 'The cart is empty']) await report(title);
    agent = await Agent.connect(service.url, token);
    person = new BrowserVisitor(service);
    expect(await person.signIn(ADMIN_ACCOUNT)).to.equal(303);
  });
  after(async () => {
    await agent?.close();
    await service?.dispose();
  });

  const report = async (title: string): Promise<string> => {
    const { body } = await service.request('POST', '/api/bugtracker/v1/report', token, { project: 'shop', title });
    return body['ref'] as string;
  };
  const send = async (forge: Forge, event: string, body: string): Promise<void> => {
    const headers = { 'content-type': 'application/json', ...signed(forge, event, body, secret) };
    const url = `${service.url}/api/bugtracker/v1/forges/${forge}/shop`;
    expect((await fetch(url, { method: 'POST', headers, body })).status).to.equal(200);
  };
  const page = async (ref: string): Promise<string> => words(await (await person.get(`/bugs/${ref}`)).text());

  for (const { forge, event, folder, url, named, author } of FORGES)
    it(`${forge}: tracks opened, closed without a merge, and merged`, async () => {
      const ref = await report(`Rounding at ${forge}`);
      const { lease } = granted(await agent.call('claim', { id: ref }));
      const resolved = await agent.call('resolve', { id: ref, claim_token: lease.claim_token, pr_url: named });
      expect(resolved.error, resolved.text).to.equal(null);
      expect((await agent.call('get', { id: ref })).data, 'nothing was heard of it').to.not.have.property(
        'pull_request',
      );
      expect(await page(ref)).to.not.include('Pull request status');
      for (const [step, state] of STEPS) {
        await send(forge, event, delivery(`${folder}-${step}`));
        const { data, text } = await agent.call('get', { id: ref });
        const { nonce } = data['untrusted'] as { nonce: string };
        const fenced = (said: string): string => `<untrusted-${nonce}>${said}</untrusted-${nonce}>`;
        const reported = data['pull_request'] as Record<string, unknown>;
        expect(reported, step).to.include({ state, title: fenced('Round the total once'), author: fenced(author) });
        expect(reported['commit'], step).to.equal(state === 'merged' ? MERGE : undefined);
        expect(reported['at']).to.equal(`2026-09-21T1${state === 'open' ? 3 : 4}:00:00.000Z`);
        expect(text).to.include(`"state":"${state}"`);
        // What others wrote stands in the fence alone.
        expect(text.replaceAll(fenced('Round the total once'), '')).to.not.include('Round the total once');
        expect(await page(ref), step).to.include(`Pull request status ${state}, by ${author}`);
        const { body } = await service.request('GET', `/api/bugtracker/v1/bugs/${ref}`, token);
        expect(body['pull_request'], step).to.deep.include({
          url,
          state,
          untrusted_fields: ['url', 'title', 'author'],
        });
      }
      // What was said before the merge, and comes once more, changes nothing.
      await send(forge, event, delivery(`${folder}-opened`));
      expect(await page(ref)).to.include('Pull request status merged');
      // It names another item as fixed; this one waited for it, and keeps its address as its
      // resolver gave it.
      const { body } = await service.request('GET', `/api/bugtracker/v1/bugs/${ref}`, token);
      expect(body['item']).to.include({ status: 'resolved', review: 'merged', pr_url: named, fix_commit: MERGE });
    });

  it('allows the holder of an item that a merge resolved to correct it without a claim', async () => {
    const { folder, event, url } = FORGES[0] as (typeof FORGES)[number];
    const ref = await report('Rounding, held by a live lease');
    const { lease } = granted(await agent.call('claim', { id: ref }));
    const { claim_token } = lease;
    await agent.call('update', { id: ref, claim_token, pr_url: `${url}42` });
    await send('github', event, changed(`${folder}-merged`, { html_url: `${url}42`, body: 'Once.' }));
    const fix = { id: ref, resolved_in_build: '2.0.0' };
    expect((await agent.call('resolve', { ...fix, claim_token })).error).to.include({ code: 'lease_lost' });
    const corrected = await agent.call('resolve', fix);
    expect(corrected.error, corrected.text).to.equal(null);
    const { body } = await service.request('GET', `/api/bugtracker/v1/bugs/${ref}`, token);
    expect(body['item']).to.include({ status: 'resolved', resolved_in_build: '2.0.0', fix_commit: MERGE });
  });

  it('ignores a pull request of another project', async () => {
    await service.createProject('other');
    const own = await service.createToken(ALL, 'other');
    const path = '/api/bugtracker/v1/report';
    const made = await service.request('POST', path, own, { project: 'other', title: 'x', pr_url: FORGES[0]?.url });
    const { body } = await service.request('GET', `/api/bugtracker/v1/bugs/${String(made.body['ref'])}`, own);
    expect(body['item']).to.include({ pr_url: FORGES[0]?.url });
    expect(body['pull_request']).to.equal(null);
  });

  it('adds the merge commit to an item that was resolved before', async () => {
    const other = await TestService.createInProcess();
    try {
      await other.createProject('shop');
      const bearer = await other.createToken(ALL, 'shop');
      const call = async (method: string, path: string, body?: object) =>
        (await other.request(method, `/api/bugtracker/v1${path}`, bearer, body)).body;
      await call('POST', '/report', { project: 'shop', title: 'The total is wrong' });
      await call('PATCH', '/bugs/shop-1', { status: 'resolved', resolved_in_build: '1.5.0', pr_url: FORGES[0]?.url });
      const manage = await other.createToken('projects:manage,bugtracker:manage');
      const secrets = await other.request('POST', '/api/projects/v1/projects/shop/forge-secret', manage);
      const forge = async (event: string, body: string): Promise<unknown> => {
        const headers = signed('github', event, body, secrets.body['forge_secret'] as string);
        const sent = await fetch(`${other.url}/api/bugtracker/v1/forges/github/shop`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body,
        });
        return sent.json();
      };
      const merged = await forge('pull_request', delivery('github/pull-request-merged'));
      expect(merged).to.deep.include({ resolved: [], linked: ['shop-1'] });
      const { item } = (await call('GET', '/bugs/shop-1')) as { item: Record<string, unknown> };
      expect(item).to.include({ status: 'resolved', fix_commit: MERGE, resolved_in_build: '1.5.0' });
      expect(item['untrusted_fields']).to.include('fix_commit');
      // What somebody has said stays.
      await call('PATCH', '/bugs/shop-1', { fix_commit: 'abc1234' });
      expect(await forge('push', delivery('github/push'))).to.deep.include({ resolved: [], linked: ['shop-1'] });
      const after = (await call('GET', '/bugs/shop-1')) as { item: Record<string, unknown> };
      expect(after.item).to.include({ fix_commit: 'abc1234' });
    } finally {
      await other.dispose();
    }
  });
});
