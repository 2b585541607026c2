/**
 * What contract 20 promises agents and the people beside them, sentence by sentence, against the
 * listening program; rules that need a clock are in plugins/bugs/claims.
 */
import { expect } from 'chai';
import { fieldsOf, itemOf, itemsOf, leaseOf, Tracker } from './tracker.js';
import { ask, expectError, type Wire } from './wire.js';

const errorOf = (answer: Wire): Record<string, unknown> => answer.json['error'] as Record<string, unknown>;
const newsOf = (answer: Wire): Record<string, unknown>[] => answer.json['news'] as Record<string, unknown>[];

describe('conformance: agents', function () {
  let tracker: Tracker;
  before(async () => {
    tracker = await Tracker.started();
  });
  after(() => tracker.dispose());

  const post = (verb: string, id: string, body: object, who: 'manager' | 'all' = 'manager'): Promise<Wire> =>
    tracker.call(who, 'POST', `/bugs/${id}/${verb}`, body);
  const next = (query: string, body?: object): Promise<Wire> =>
    tracker.call('manager', 'POST', `/bugs?action=next&${query}`, body);
  const claimed = async (fields: object = {}): Promise<{ id: string; claim_token: string }> => {
    const { id } = await tracker.item(fields);
    return { id, claim_token: leaseOf(await tracker.claim(id, { agent: 'one' })).claim_token };
  };

  describe('build numbers', () => {
    it('are stored without a product name or leading v, and return 422 when invalid', async () => {
      for (const [given, stored] of [
        ['v1.4.0', '1.4.0'],
        ['shop@1.4.0', '1.4.0'],
        ['nightly-7', 'nightly-7'],
      ]) {
        const answer = await tracker.patch((await tracker.item()).id, { resolved_in_build: given });
        expect(itemOf(answer).resolved_in_build).to.equal(stored);
        expect(answer.json).to.have.property('latest_build', null);
        const cleared = await tracker.patch(itemOf(answer).id, { resolved_in_build: null });
        expect(itemOf(cleared).resolved_in_build).to.equal(null);
        expect(cleared.json).to.have.property('latest_build', null);
        const fields = { project: 'alpha', title: tracker.word(), resolved_in_build: given };
        const reported = await tracker.call('reporter', 'POST', '/report', fields);
        expect(itemOf(reported).resolved_in_build).to.equal(stored);
        expect(reported.json).to.have.property('latest_build', null);
      }
      expect((await tracker.patch((await tracker.item()).id, { title: 'x' })).json).to.not.have.key('latest_build');
      for (const wrong of ['banana!!', '-x', 'x'.repeat(65)]) {
        const answer = await tracker.patch((await tracker.item()).id, { resolved_in_build: wrong });
        expectError(answer, 422, 'validation_failed');
        expect(fieldsOf(answer)).to.have.key('resolved_in_build');
      }
    });

    it('return 422 up to the first build with the error, and a warning up to the last', async () => {
      const item = await tracker.item({ app_version: '1.2.0', error_message: 'no rate', type: 'error' });
      const again = await tracker.call('reporter', 'POST', '/report', {
        project: 'alpha',
        title: item.title,
        error_message: 'no rate',
        type: 'error',
        app_version: '1.4.0',
      });
      expect(again.json['id']).to.equal(item.id);
      for (const resolved_in_build of ['1.2', '1.1.9']) {
        const answer = await tracker.patch(item.id, { status: 'resolved', resolved_in_build });
        expectError(answer, 422, 'validation_failed');
        expect(fieldsOf(answer)).to.deep.equal({
          resolved_in_build: 'must be above 1.2.0, in which it was first seen',
        });
        const fields = { project: 'alpha', title: tracker.word(), app_version: '1.2.0', resolved_in_build };
        const reported = await tracker.call('reporter', 'POST', '/report', fields);
        expectError(reported, 422, 'validation_failed');
        expect(fieldsOf(reported)).to.have.key('resolved_in_build');
      }
      const warned = await tracker.patch(item.id, { status: 'resolved', resolved_in_build: '1.4.0' });
      expect(warned.status).to.equal(200);
      expect(warned.json['warnings']).to.deep.equal([
        'It was still seen in 1.4.0, so build 1.4.0 does not close it automatically.',
      ]);
      // A request is no error, and was seen nowhere.
      const wish = { project: 'alpha', title: tracker.word(), type: 'feature', build: '2.0', resolved_in_build: '1.9' };
      expect((await tracker.call('reporter', 'POST', '/report', wish)).status).to.equal(201);
    });

    it('can be corrected after the resolution without a claim, and the resolution can be undone', async () => {
      const { id, claim_token } = await claimed();
      await tracker.patch(id, { status: 'resolved', claim_token });
      const fields = { resolved_in_build: '2.0', fix_commit: 'abc1234', pr_url: 'https://git.example/shop/pull/7' };
      expect(itemOf(await tracker.patch(id, fields))).to.include({ status: 'resolved', ...fields });
      const open = itemOf(await tracker.patch(id, { status: 'open' }));
      expect(open).to.include({ status: 'open', resolved_in_build: null, fix_commit: null, pr_url: fields.pr_url });
    });
  });

  describe('handover and news', () => {
    it('returns previous holder, reason for return, five comments and failed fix on next, claim and get', async () => {
      const tag = tracker.word();
      const { id, claim_token } = await claimed({ tags: [tag] });
      for (let n = 1; n <= 5; n++) await post('comments', id, { body: `Thought ${n}` });
      const released = await post('release', id, { claim_token, reason: 'needs a Mac', comment: 'Half done.' });
      expect(itemOf(released)).to.include({ status: 'open', claim: null });
      const handed = { released_by: 'one', reason: 'needs a Mac', earlier_fix: null };
      const taken = await next(`tag=${tag}`, { agent: 'two' });
      const got = await tracker.call('reader', 'GET', `/bugs/${id}`);
      const again = await tracker.claim(id, { agent: 'two' });
      for (const answer of [taken, got, again]) {
        const handover = answer.json['handover'] as { comments: { body: string }[] };
        expect(handover).to.deep.include(handed);
        expect(handover.comments.map(({ body }) => body)).to.have.members(
          ['Half done.', 2, 3, 4, 5].map((one) => (typeof one === 'number' ? `Thought ${one}` : one)),
        );
      }
      const fix = { status: 'resolved', resolved_in_build: '1.5', fix_commit: 'abc1234', comment: 'Round once.' };
      await tracker.patch(id, { ...fix, claim_token: leaseOf(again).claim_token });
      await tracker.patch(id, { status: 'open' });
      const { handover } = (await tracker.claim(id, { agent: 'three' })).json as { handover: object };
      expect(handover).to.deep.include({ earlier_fix: { build: '1.5', commit: 'abc1234', comment: 'Round once.' } });
    });

    it('returns changes by others since the last call to the holder only, on renew, comment and change', async () => {
      const { id, claim_token } = await claimed();
      await post('comments', id, { body: 'On web-2 as well.' }, 'all');
      const renewed = newsOf(await post('renew', id, { claim_token }));
      expect(renewed).to.have.length(1);
      expect(renewed[0]).to.include({ kind: 'comment', body: 'On web-2 as well.', author: 'all' });
      expect(newsOf(await post('renew', id, { claim_token }))).to.deep.equal([]);
      await tracker.patch(id, { severity: 'high', force: true, reason: 'customers call' });
      const commented = await post('comments', id, { body: 'On it.', claim_token });
      expect(newsOf(commented).map(({ kind, action }) => [kind, action])).to.deep.include(['activity', 'severity']);
      await post('comments', id, { body: 'Thanks.' }, 'all');
      const changed = await tracker.patch(id, { tags: ['x'], claim_token });
      expect(newsOf(changed).map(({ body }) => body)).to.deep.equal(['Thanks.']);
      expect((await post('comments', id, { body: 'Welcome.' }, 'all')).json).to.not.have.property('news');
    });

    it('reports links by others to the holder as news, but not the holder’s own links', async () => {
      const { id, claim_token } = await claimed();
      const other = await tracker.item();
      const third = await tracker.item();
      await post('links', id, { kind: 'discovered_from', ref: other.ref, claim_token });
      expect(newsOf(await post('renew', id, { claim_token }))).to.deep.equal([]);
      await post('links', third.id, { kind: 'related', ref: id }, 'all');
      const reported = newsOf(await post('renew', id, { claim_token }));
      expect(reported.map(({ action }) => action)).to.deep.equal(['link added']);
      const gone = await tracker.call('manager', 'DELETE', `/bugs/${id}/links`, {
        kind: 'discovered_from',
        ref: other.ref,
        claim_token,
      });
      expect(gone.status).to.equal(200);
      expect(newsOf(await post('renew', id, { claim_token }))).to.deep.equal([]);
    });
  });

  describe('hold', () => {
    it('requires a reason, and `force` from a program, ends the lease, and rejects claims until lifted', async () => {
      const tag = tracker.word();
      const { id, claim_token } = await claimed({ tags: [tag] });
      expectError(await tracker.patch(id, { hold: true, reason: 'x' }), 403, 'insufficient_scope');
      expectError(await tracker.patch(id, { hold: true, force: true }), 422, 'reason_required');
      const held = await tracker.patch(id, { hold: true, force: true, reason: 'Legal looks at it' });
      expect(itemOf(held)).to.deep.include({
        status: 'open',
        hold: true,
        hold_reason: 'Legal looks at it',
        claim: null,
      });
      const lost = await post('renew', id, { claim_token });
      expectError(lost, 409, 'lease_lost');
      expect(errorOf(lost)).to.include({ why: 'overridden', reason: 'Legal looks at it' });
      const rejected = await tracker.claim(id, { agent: 'two' });
      expectError(rejected, 409, 'on_hold');
      expect(errorOf(rejected)['hold']).to.include({ reason: 'Legal looks at it', by: 'manager' });
      const none = await next(`tag=${tag}`);
      expect(none.json).to.include({ item: null });
      expect(none.json['waiting']).to.include({ on_hold: 1 });
      expectError(await tracker.patch(id, { hold: false }), 403, 'insufficient_scope');
      expect((await tracker.patch(id, { hold: false, force: true })).status).to.equal(200);
      expect(itemOf(await next(`tag=${tag}`))).to.include({ id, hold: false, hold_reason: null });
    });
  });

  describe('next item', () => {
    it('lists waiting items with the reason when no item is available', async () => {
      const tag = tracker.word();
      const tags = [tag];
      const mine = await claimed({ tags });
      await post('release', mine.id, { claim_token: mine.claim_token });
      await claimed({ tags });
      await tracker.item({ tags, target_agent: 'other' });
      const held = await tracker.item({ tags });
      await tracker.patch(held.id, { hold: true, force: true, reason: 'later' });
      const blocked = await tracker.item({ tags });
      await post('links', blocked.id, { kind: 'blocked_by', ref: (await tracker.item()).ref });
      const { json } = await next(`tag=${tag}&agent=one`);
      expect(json).to.have.property('item', null);
      expect(json).to.not.have.any.keys('lease', 'handover');
      expect(json['waiting']).to.deep.equal({
        reserved: 1,
        on_hold: 1,
        blocked: 1,
        released_by_you: 1,
        for_others: 1,
        muted: 0,
      });
    });

    it('waits up to 25 seconds for an item, with the wait in the query or the body', async () => {
      const tag = tracker.word();
      expectError(await next(`tag=${tag}&wait_seconds=26`), 400, 'invalid_request');
      expectError(await next(`tag=${tag}`, { wait_seconds: 26 }), 422, 'validation_failed');
      expectError(await tracker.call('manager', 'GET', `/bugs?wait_seconds=1`), 400, 'invalid_request');
      expect((await next(`tag=${tag}&wait_seconds=1`)).json).to.include({ item: null });
      const waiting = next(`tag=${tag}`, { wait_seconds: 25, agent: 'patient' });
      const { id } = await tracker.item({ tags: [tag] });
      const got = await waiting;
      expect(itemOf(got)).to.deep.include({ id, status: 'in_progress' });
      expect(itemOf(got).claim).to.include({ agent: 'patient' });
    });

    it('limits each agent name to ten items at a time, even for the same credential', async () => {
      const tag = tracker.word();
      for (let n = 0; n < 12; n++) await tracker.item({ tags: [tag] });
      const answers: Wire[] = [];
      for (let n = 0; n < 10; n++) answers.push(await next(`tag=${tag}&agent=greedy`));
      expect(new Set(answers.map((answer) => itemOf(answer).id)).size).to.equal(10);
      expectError(await next(`tag=${tag}&agent=greedy`), 409, 'too_many_claims');
      const { id } = await tracker.item();
      expectError(await tracker.claim(id, { agent: 'greedy' }), 409, 'too_many_claims');
      expect((await next(`tag=${tag}&agent=modest`)).status).to.equal(200);
      const first = answers[0] as Wire;
      await post('release', itemOf(first).id, { claim_token: leaseOf(first).claim_token });
      expect((await tracker.claim(id, { agent: 'greedy' })).status).to.equal(200);
    });
  });

  it('claims with a token issued for one agent only under that agent’s name', async () => {
    const { token } = await tracker.service.runCommand<{ token: string }>(
      'token create --name fixer --scopes bugtracker:manage --project alpha --agent fixer-1'.split(' '),
    );
    const bound = (path: string, body?: object): Promise<Wire> =>
      ask(tracker.service, 'POST', `/api/bugtracker/v1/bugs${path}`, { token, ...(body && { body }) });
    const { id } = await tracker.item({ target_agent: 'fixer-1' });
    expectError(await bound(`/${id}/claim`, { agent: 'other' }), 403, 'insufficient_scope');
    expectError(await bound('?action=next&agent=other'), 403, 'insufficient_scope');
    expectError(await bound('?action=next', { agent: 'other' }), 403, 'insufficient_scope');
    const taken = await bound('?action=next&target_agent=fixer-1');
    expect(itemOf(taken)).to.include({ id });
    expect(itemOf(taken).claim).to.include({ agent: 'fixer-1' });
  });

  describe('comments', () => {
    it('reopen a needs_info item when its reporter comments, unless keep_status is set', async () => {
      const { json } = await tracker.call('reporter', 'POST', '/report', { project: 'alpha', title: tracker.word() });
      const id = String(json['id']);
      await tracker.patch(id, { status: 'needs_info' });
      await post('comments', id, { body: 'I wonder too.' }, 'all');
      const say = (body: object): Promise<Wire> => tracker.call('reporter', 'POST', `/bugs/${id}/comments`, body);
      expect((await say({ body: 'Not yet.', keep_status: true })).json['item']).to.include({ status: 'needs_info' });
      expect((await say({ body: 'Version 3.' })).json['item']).to.include({ status: 'open' });
    });
  });

  it('returns the project’s repository for items without one, in every call', async () => {
    const repo_url = 'https://github.com/acme/beta';
    const manage = await tracker.service.createToken('projects:manage');
    const changed = await ask(tracker.service, 'PATCH', '/api/projects/v1/projects/beta', {
      token: manage,
      body: { repo_url },
    });
    expect(changed.status, changed.text).to.equal(200);
    const tag = tracker.word();
    const tags = [tag];
    const { id } = await tracker.item({ project: 'beta', tags });
    const own = await tracker.item({ project: 'beta', tags, repo_url: 'https://git.example/own' });
    const lists = ['', 'project=beta', 'project=alpha&project=beta', 'updated_since=2026-01-01T00:00:00Z'];
    for (const query of lists) {
      const listed = itemsOf(await tracker.call('reader', 'GET', `/bugs?tag=${tag}&${query}`));
      expect(
        listed.map((item) => item.repo_url),
        query,
      ).to.have.members([repo_url, 'https://git.example/own']);
    }
    const got = await tracker.shown(id);
    expect(got.repo_url).to.equal(repo_url);
    expect(got.untrusted_fields).to.not.include('repo_url');
    const first = itemOf(await next(`tag=${tag}`));
    expect(first).to.include({ id, repo_url });
    expect(itemOf(await tracker.claim(own.id))).to.include({ repo_url: 'https://git.example/own' });
  });
});
