/**
 * An item that is resolved by a pull request waits for its merge (contract 20, forges): deliveries
 * of each forge, in any order, with and without a live lease, and the state that an agent or a
 * person sets where no forge tells it.
 */
import { expect } from 'chai';
import type { Forge } from '../../../plugins/forges/verification.js';
import { PluginStores, type OpenedStore } from '../../support/stores.js';
import { changed, delivery, ForgesFixture } from './fixture.js';

const MERGE = 'c'.repeat(40);

interface Subject {
  forge: Forge;
  event: string;
  folder: string;
  url: string;
  /** Members by which a delivery says that the request is open again, later than its end. */
  reopened: Record<string, unknown>;
}
const FORGES: Subject[] = [
  {
    forge: 'github',
    event: 'pull_request',
    folder: 'github/pull-request',
    url: 'https://github.com/acme/shop/pull/42',
    reopened: { action: 'reopened', updated_at: '2026-09-21T15:00:00Z' },
  },
  {
    forge: 'gitlab',
    event: 'Merge Request Hook',
    folder: 'gitlab/merge-request',
    url: 'https://gitlab.example.com/acme/shop/-/merge_requests/7',
    reopened: { action: 'reopen', updated_at: '2026-09-21 15:00:00 UTC' },
  },
  {
    forge: 'gitea',
    event: 'pull_request',
    folder: 'gitea/pull-request',
    url: 'https://gitea.example.com/acme/shop/pulls/5',
    reopened: { action: 'reopened', updated_at: '2026-09-21T15:00:00Z' },
  },
];
/** A text that names no item: the item names the request. */
const SILENT = { body: 'The cart rounded every line.', description: 'The cart rounded every line.' };

for (const engine of new PluginStores('forges', []).all) {
  describe(`forges: review (${engine.name})`, function () {
    let opened: OpenedStore;
    let fixture: ForgesFixture;

    beforeEach(async function () {
      opened = await engine.open(() => this.skip());
      fixture = await ForgesFixture.open(opened.store);
    });
    afterEach(async () => {
      await fixture?.stop();
      await opened?.close();
    });

    const claim = async (ref: string, agent = 'fixer'): Promise<string> => {
      const { status, json } = await fixture.call('POST', `${ref}/claim`, { agent });
      expect(status, JSON.stringify(json)).to.equal(200);
      return (json['lease'] as { claim_token: string }).claim_token;
    };
    const patch = async (ref: string, body: object): Promise<Record<string, unknown>> => {
      const { status, json } = await fixture.call('PATCH', ref, body);
      expect(status, JSON.stringify(json)).to.equal(200);
      return json['item'] as Record<string, unknown>;
    };
    const resolve = async (ref: string, pr_url: string, more: object = {}): Promise<Record<string, unknown>> =>
      patch(ref, { status: 'resolved', pr_url, claim_token: await claim(ref), ...more });
    const next = async (): Promise<unknown[]> => {
      const refs = [];
      for (;;) {
        const { http, manage } = fixture;
        const { json } = await http.api('POST', '/api/bugtracker/v1/bugs?action=next', manage, { agent: 'other' });
        if (json['item'] === null) return refs;
        refs.push((json['item'] as { ref: string }).ref);
      }
    };
    const item = async (ref: string): Promise<Record<string, unknown>> => (await fixture.detail(ref)).item;

    for (const { forge, event, folder, url, reopened } of FORGES) {
      const send = (body: string) => fixture.send(forge, event, body);
      const state = (name: string, more: Record<string, unknown> = {}): string =>
        changed(`${folder}-${name}`, { ...SILENT, ...more });

      it(`${forge}: holds an item in review until its pull request is merged, then resolves it`, async () => {
        const waiting = await resolve('shop-1', url);
        expect(waiting).to.include({ status: 'resolved', review: 'open', pr_state: 'open', fix_commit: null });
        await send(state('opened'));
        expect(await next()).to.have.members(['shop-2', 'shop-3']);
        expect((await send(state('merged'))).json).to.deep.include({ linked: ['shop-1'] });
        const merged = await item('shop-1');
        expect(merged).to.include({ status: 'resolved', review: 'merged', pr_state: 'merged', fix_commit: MERGE });
        expect(merged['untrusted_fields']).to.include('fix_commit');
        const before = await fixture.detail('shop-1');
        for (const again of ['merged', 'closed', 'opened']) await send(state(again));
        expect(await fixture.detail('shop-1')).to.deep.equal(before);
      });

      it(`${forge}: a merge resolves an item under a live lease, whose holder may correct it`, async () => {
        const claim_token = await claim('shop-1');
        await patch('shop-1', { pr_url: url, claim_token });
        expect((await send(state('merged'))).json).to.deep.include({ resolved: ['shop-1'] });
        expect(await item('shop-1')).to.include({
          status: 'resolved',
          review: 'merged',
          fix_commit: MERGE,
          claim: null,
        });
        const lost = await fixture.call('POST', 'shop-1/renew', { claim_token });
        expect(lost.status).to.equal(409);
        expect(lost.json.error).to.include({ code: 'lease_lost', why: 'resolved' });
      });

      it(`${forge}: resolves the item of a fixing merge under another’s live lease`, async () => {
        await claim('shop-1');
        expect((await send(delivery(`${folder}-merged`))).json).to.deep.include({ resolved: ['shop-1'] });
        expect(await item('shop-1')).to.include({ status: 'resolved', pr_state: 'merged', fix_commit: MERGE });
      });

      it(`${forge}: a merge resolves an item whose lease has ended`, async () => {
        const claim_token = await claim('shop-1');
        await patch('shop-1', { pr_url: url, claim_token });
        fixture.http.clock.forward(3_600_000);
        expect((await send(state('merged'))).json).to.deep.include({ resolved: ['shop-1'] });
        expect(await item('shop-1')).to.include({ status: 'resolved', fix_commit: MERGE });
      });

      it(`${forge}: a pull request closed without a merge reopens its item with a note`, async () => {
        await resolve('shop-1', `${url}/`, { resolved_in_build: '1.4.0', comment: 'It rounds once.' });
        expect((await send(state('closed'))).json).to.deep.include({ reopened: ['shop-1'], linked: [] });
        const after = await item('shop-1');
        expect(after).to.include({ status: 'open', review: 'closed', pr_state: 'closed', resolved_in_build: null });
        expect((await send(state('closed'))).json).to.not.have.property('reopened');
        const { json } = await fixture.call('POST', 'shop-1/claim', { agent: 'another' });
        const handover = json['handover'] as Record<string, unknown>;
        expect(handover).to.include({ released_by: 'fixer', earlier_fix: null });
        expect(handover['reason']).to.include('closed without a merge').and.include(url);
      });

      it(`${forge}: a reopened pull request sets its item to review again, unless work has started`, async () => {
        await resolve('shop-1', url);
        await resolve('shop-2', url);
        await send(state('closed'));
        const claim_token = await claim('shop-2', 'second');
        await send(state('opened', reopened));
        expect(await item('shop-1')).to.include({ status: 'resolved', review: 'open', pr_state: 'open' });
        expect(await item('shop-2')).to.include({ status: 'in_progress', review: 'closed', pr_state: 'open' });
        // The older end comes once more, after it.
        expect((await send(state('closed'))).json).to.not.have.property('reopened');
        expect(await item('shop-1')).to.include({ review: 'open' });
        await send(state('merged', { updated_at: '2026-09-21T16:00:00Z' }));
        for (const ref of ['shop-1', 'shop-2'])
          expect(await item(ref)).to.include({ status: 'resolved', review: 'merged', fix_commit: MERGE });
        expect((await fixture.call('POST', 'shop-2/renew', { claim_token })).status).to.equal(409);
      });

      it(`${forge}: resolves immediately for a pull request merged before it is linked`, async () => {
        await send(state('merged'));
        expect(await resolve('shop-1', `${url}/files?w=1#diff`.replace('https', 'http'))).to.include({
          status: 'resolved',
          review: 'merged',
          fix_commit: MERGE,
        });
      });

      it(`${forge}: waits with a warning for a pull request closed before it is linked`, async () => {
        await send(state('closed'));
        const body = { status: 'resolved', pr_url: url, claim_token: await claim('shop-1') };
        const { json } = await fixture.call('PATCH', 'shop-1', body);
        expect(json['item']).to.include({ status: 'resolved', review: 'open' });
        expect(json['warnings']).to.have.length(1);
      });

      it(`${forge}: a draft leaves its item in review`, async () => {
        await resolve('shop-1', url);
        await send(state('opened', { draft: true }));
        expect(await item('shop-1')).to.include({ status: 'resolved', review: 'open', pr_state: 'draft' });
      });
    }

    it('retries a delivery received under a lease after its end, and resolves the item', async () => {
      await claim('shop-1');
      const push = () => fixture.send('github', 'push', delivery('github/push'));
      expect((await push()).json).to.deep.include({ commented: ['shop-1'] });
      expect((await push()).json).to.deep.include({ commented: [], unchanged: ['shop-1', 'shop-2', 'shop-3'] });
      fixture.http.clock.forward(3_600_000);
      expect((await push()).json).to.deep.include({ resolved: ['shop-1'] });
      expect(await item('shop-1')).to.include({ status: 'resolved', fix_commit: 'b'.repeat(40) });
    });

    it('does not reopen an item that recurs while the pull request is open', async () => {
      const { http, manage } = fixture;
      const report = { project: 'shop', title: 'Boom', type: 'error', exception_class: 'Boom', app_version: '1.3.0' };
      const send = () => http.api('POST', '/api/bugtracker/v1/report', manage, report);
      const { ref } = (await send()).json as { ref: string };
      await resolve(ref, 'https://github.com/acme/shop/pull/42');
      http.clock.forward(600_000);
      expect((await send()).json).to.deep.include({ ref, item_status: 'resolved' });
      expect(await item(ref)).to.include({ review: 'open', regression_count: 0, hit_count: 2 });
      await patch(ref, { pr_state: 'merged', fix_commit: 'abc1234' });
      http.clock.forward(600_000);
      expect((await send()).json).to.deep.include({ ref, item_status: 'open' });
      expect(await item(ref)).to.include({ review: null, regression_count: 1 });
      // The merge of before is told again.
      await fixture.send('github', 'pull_request', changed('github/pull-request-merged', SILENT));
      expect(await item(ref)).to.include({ status: 'open' });
    });

    for (const [state, after] of [
      ['merged', { status: 'resolved', review: 'merged', fix_commit: MERGE }],
      ['closed', { status: 'open', review: 'closed', fix_commit: null }],
    ] as const)
      it(`the job completes a crash between a pull request that is ${state} and its items`, async () => {
        const { http } = fixture;
        await fixture.send('github', 'pull_request', changed('github/pull-request-opened', SILENT));
        await resolve('shop-1', 'https://github.com/acme/shop/pull/42');
        http.clock.forward(1_000);
        const requests = http.harness.store.collection('forges_pull_requests');
        const commit = state === 'merged' ? MERGE : null;
        await requests.changeMany({}, { set: { state, commit, heard_at: http.clock.iso() } });
        expect(await item('shop-1')).to.include({ review: 'open' });
        await http.harness.jobs.runNow('bugs.reconcile');
        expect(await item('shop-1')).to.include(after);
        const before = await fixture.detail('shop-1');
        await http.harness.jobs.runNow('bugs.reconcile');
        expect(await fixture.detail('shop-1')).to.deep.equal(before);
      });

    it('a review event of a merged pull request, without a `merged` field, reopens nothing', async () => {
      const body = JSON.parse(changed('github/pull-request-merged', SILENT)) as { pull_request: object };
      body.pull_request = { ...body.pull_request, merged: undefined };
      await resolve('shop-1', 'https://github.com/acme/shop/pull/42');
      await fixture.send('github', 'pull_request_review', JSON.stringify(body));
      expect(await item('shop-1')).to.include({ status: 'resolved', review: 'merged', fix_commit: MERGE });
    });

    it('a pull request fixes several items, and ignores items of another project', async () => {
      for (const ref of ['shop-1', 'shop-2']) await resolve(ref, 'https://github.com/acme/shop/pull/42');
      const other = 'https://github.com/acme/shop/pull/421';
      await resolve('shop-3', other);
      await fixture.send('github', 'pull_request', changed('github/pull-request-merged', SILENT));
      for (const ref of ['shop-1', 'shop-2']) expect(await item(ref)).to.include({ review: 'merged' });
      expect(await item('shop-3')).to.include({ review: 'open', pr_url: other });
    });

    describe('without a forge', () => {
      const url = 'https://git.example.com/acme/shop/pull/9';
      for (const [what, body, after] of [
        ['merged', { pr_state: 'merged', fix_commit: 'abc1234' }, { status: 'resolved', review: 'merged' }],
        ['a commit', { fix_commit: 'abc1234' }, { status: 'resolved', review: null }],
        ['closed', { pr_state: 'closed' }, { status: 'open', review: 'closed' }],
        ['no request', { pr_url: null }, { status: 'resolved', review: null }],
        ['another request', { pr_url: `${url}9` }, { status: 'resolved', review: 'open' }],
        ['a draft', { pr_state: 'draft' }, { status: 'resolved', review: 'open', pr_state: 'draft' }],
        ['a person', { status: 'open' }, { status: 'open', review: null }],
        ['a release', { status: 'closed' }, { status: 'closed', review: null }],
      ] as const)
        it(`${what} ends or changes the review`, async () => {
          await resolve('shop-1', url);
          const changed = await patch('shop-1', body);
          expect(changed).to.include(after);
          expect(await patch('shop-1', body), 'repeated').to.deep.equal(changed);
        });

      it('returns the item to review when the pull request is reopened', async () => {
        await resolve('shop-1', url);
        await patch('shop-1', { pr_state: 'closed' });
        expect(await patch('shop-1', { pr_state: 'open' })).to.include({ status: 'resolved', review: 'open' });
      });

      it('a merge resolves an item only under the lease of its holder', async () => {
        const claim_token = await claim('shop-1');
        await patch('shop-1', { pr_url: url, claim_token });
        expect((await fixture.call('PATCH', 'shop-1', { pr_state: 'merged' })).status).to.equal(409);
        expect(await patch('shop-1', { pr_state: 'merged', claim_token })).to.include({
          status: 'resolved',
          review: 'merged',
        });
      });

      it('returns 422 for a state without a pull request, and for a resolve by a closed one', async () => {
        const claim_token = await claim('shop-1');
        for (const body of [{ pr_state: 'open' }, { status: 'resolved', pr_url: url, pr_state: 'closed' }]) {
          const { status, json } = await fixture.call('PATCH', 'shop-1', { ...body, claim_token });
          expect([status, Object.keys(json.error?.fields ?? {})]).to.deep.equal([422, ['pr_state']]);
        }
        expect(await item('shop-1')).to.include({ status: 'in_progress', pr_url: null });
      });

      it('needs no review for a commit with the pull request, or one that only mentions the item', async () => {
        expect(await resolve('shop-1', url, { fix_commit: 'abc1234' })).to.include({ review: null });
        await fixture.send('github', 'pull_request', delivery('github/pull-request-opened'));
        const claim_token = await claim('shop-2');
        expect(await patch('shop-2', { status: 'resolved', claim_token })).to.include({ review: null });
      });
    });

    it('rejects a claim of an item in review, with the possible actions', async () => {
      await resolve('shop-1', 'https://github.com/acme/shop/pull/42');
      const { status, json } = await fixture.call('POST', 'shop-1/claim', { agent: 'other' });
      expect([status, json.error?.code]).to.deep.equal([409, 'invalid_transition']);
      expect(json.error?.message).to.include('pull request');
    });
  });
}
