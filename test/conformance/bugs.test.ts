/**
 * Contract 20 sentence by sentence, against the listening program; rules that need a clock are in
 * plugins/bugs.
 */
import { expect } from 'chai';
import type { Item } from '../../ports/domain/bugs.js';
import { itemOf, itemsOf, leaseOf, fieldsOf, Tracker, type Who } from './tracker.js';
import { expectError, type Wire } from './wire.js';

const FIELDS =
  'id ref type project title description error_message stack_trace exception_class error_level severity urgency environment ' +
  'client_ref repo_url commit_sha pr_url file_path line_no push_id target_agent assignee tags app_version resolved_in_build status ' +
  'duplicate_of reason muted muted_reason muted_by_rule_id hit_count hour_count first_seen_at last_seen_at first_build ' +
  'last_build regression regression_count regressed_at regressed_in_build late_count severity_locked claim claim_count ' +
  'source created_at updated_at resolved_at closed_at rev untrusted_fields';
const STATUSES = ['open', 'in_progress', 'needs_info', 'resolved', 'closed', 'wont_fix', 'duplicate'];
const FINAL = ['needs_info', 'resolved', 'closed', 'wont_fix', 'duplicate'];
const MOVES: Record<string, string[]> = {
  open: FINAL,
  in_progress: ['open', ...FINAL],
  needs_info: ['open', ...FINAL.slice(1)],
  resolved: ['open', 'closed'],
  closed: ['open'],
  wont_fix: ['open'],
  duplicate: ['open'],
};

describe('conformance: bug tracker', () => {
  let tracker: Tracker;
  before(async () => {
    tracker = await Tracker.started();
  });
  after(() => tracker.dispose());

  const report = (body: object, who: Who = 'reporter'): Promise<Wire> =>
    tracker.call(who, 'POST', '/report', { project: 'alpha', title: `It ${tracker.word()}`, ...body });

  describe('report', () => {
    it('returns every field, and the alias with the same value', async () => {
      const answer = await report({ urgency: 'high', build: '1.2', tags: ['x'], unknown_field: 1 });
      expect(answer.status).to.equal(201);
      const item = itemOf(answer);
      expect(item).to.include.all.keys(...FIELDS.split(' '));
      expect(item).to.include({
        severity: 'high',
        urgency: 'high',
        app_version: '1.2',
        first_build: '1.2',
        source: 'agent',
      });
      expect(answer.json).to.include({ created: true, deduplicated: false, item_status: 'open', severity: 'high' });
      expect(answer.json).to.include({ id: item.id, ref: item.ref, dedup_key: item.dedup_key, client_ref: null });
      const again = await report({ title: item.title });
      expect(again.status).to.equal(200);
      expect(again.json).to.include({ id: item.id, created: false, deduplicated: true });
      expect(item.untrusted_fields).to.have.members(['title', 'tags', 'app_version', 'first_build', 'last_build']);
    });

    const bad: [string, object, string][] = [
      ['no title', { title: undefined }, 'title'],
      ['a blank title', { title: '  ' }, 'title'],
      ['a title of 201 characters', { title: 'é'.repeat(201) }, 'title'],
      ['a title of 201 characters of two units', { title: '😀'.repeat(201) }, 'title'],
      ['no project', { project: undefined }, 'project'],
      ['an unknown severity', { severity: 'blocker' }, 'severity'],
      ['an unknown urgency', { urgency: 'blocker' }, 'urgency'],
      ['a severity and another urgency', { severity: 'low', urgency: 'high' }, 'severity'],
      ['an urgency and another severity', { severity: 'low', urgency: 'high' }, 'urgency'],
      ['an unknown type', { type: 'task' }, 'type'],
      ['an unknown level', { error_level: 'info' }, 'error_level'],
      ['a long client_ref', { client_ref: 'x'.repeat(201) }, 'client_ref'],
      ['a description that is a number', { description: 5 }, 'description'],
      ['tags that are no list', { tags: 'x' }, 'tags'],
      ['a line that is text', { line_no: '5' }, 'line_no'],
    ];
    for (const [what, body, field] of bad) {
      it(`returns 422 for ${what}`, async () => {
        const answer = await report(body);
        expectError(answer, 422, 'validation_failed');
        expect(fieldsOf(answer)).to.have.property(field);
      });
    }

    it('limits the title by characters instead of bytes', async () => {
      for (const letter of ['é', '😀']) expect((await report({ title: letter.repeat(200) })).status).to.equal(201);
    });

    it('requires the scope, the token’s project, and an existing project', async () => {
      expectError(await report({ project: 'nowhere' }), 422, 'unknown_project');
      for (const who of ['reader', 'manager', 'key'] as const)
        expectError(await report({}, who), 403, 'insufficient_scope');
      expectError(await report({}, 'nobody'), 401, 'unauthorized');
      expectError(await report({ project: 'beta' }, 'bound'), 403, 'insufficient_scope');
    });

    it('creates a single item for 50 parallel reports with one client_ref, with any text', async () => {
      const client_ref = tracker.word();
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => report({ client_ref, ...(i % 2 === 0 ? { title: 'The same' } : {}) })),
      );
      const ids = new Set(answers.map(({ json }) => json['id']));
      expect(ids.size).to.equal(1);
      expect(answers.filter(({ status, json }) => status === 201 && json['created'] === true)).to.have.length(1);
      expect(answers.every(({ json }) => json['client_ref'] === client_ref)).to.equal(true);
      expect(await tracker.shown(String([...ids][0]))).to.include({ hit_count: 1, client_ref });
      const other = await report({ project: 'beta', client_ref });
      expect([other.status, ids.has(other.json['id'])]).to.deep.equal([201, false]);
    });

    it('returns the existing feature request for repeated reports, closed or not', async () => {
      const name = tracker.word();
      const first = await report({ type: 'feature', title: `Dark mode ${name}!` });
      const again = await report({ type: 'feature', title: `dark-mode: ${name.toUpperCase()}` });
      expect([again.status, again.json['id']]).to.deep.equal([200, first.json['id']]);
      expect(again.json).to.include({ created: false, deduplicated: true });
      await tracker.patch(String(first.json['id']), { status: 'closed' });
      const closed = await report({ type: 'feature', title: `Dark mode ${name}` });
      expect(closed.json).to.include({ id: first.json['id'], item_status: 'closed' });
    });

    it('stores a credential in client_ref only as a hash', async () => {
      const secrets = ['Authorization: Bearer abcdefgh12345678', 'https://u:pa55word@host/x', 'Cookie: a=secretvalue'];
      for (const client_ref of secrets) {
        const { json } = await report({ client_ref });
        expect((json['item'] as Item).client_ref).to.match(/^sha256:[0-9a-f]{64}$/);
        expect((await report({ client_ref })).json['id']).to.equal(json['id']);
      }
    });
  });

  describe('lists', () => {
    const tag = 'lists';
    let items: Record<'a' | 'b' | 'c', Item>;
    const list = (query: string, who: Who = 'reader'): Promise<Wire> => tracker.call(who, 'GET', `/bugs?${query}`);
    before(async () => {
      const a = await tracker.item({
        tags: [tag],
        severity: 'low',
        environment: 'prod',
        exception_class: 'A.B',
        target_agent: 'bot',
        commit_sha: 'abc',
        file_path: 'src/x.ts',
        push_id: 'p1',
      });
      const b = await tracker.item({ tags: [tag, 'extra'], severity: 'critical', environment: 'dev', type: 'feature' });
      const c = await tracker.item({
        tags: [tag],
        project: 'beta',
        error_level: 'fatal',
        type: 'error',
        title: 'Änderung',
        error_message: 'Zebra ÄÖ',
      });
      items = { a, b, c };
    });

    const filters: [string, ('a' | 'b' | 'c')[]][] = [
      ['project=alpha', ['a', 'b']],
      ['project=alpha&project=beta', ['a', 'b', 'c']],
      ['type=feature&type=error', ['b', 'c']],
      ['severity=low&severity=critical', ['a', 'b']],
      ['urgency=low', ['a']],
      ['urgency=critical&severity=low', ['a', 'b']],
      ['error_level=fatal', ['c']],
      ['environment=prod&environment=dev', ['a', 'b']],
      ['exception_class=A.B', ['a']],
      ['target_agent=bot', ['a']],
      ['tag=extra', ['b']],
      ['muted=true', []],
      ['muted=true&muted=false', ['a', 'b', 'c']],
      ['regression=false', ['a', 'b', 'c']],
      ['commit_sha=abc', ['a']],
      ['file_path=src/x.ts', ['a']],
      ['push_id=p1', ['a']],
      ['claimed_by=nobody', []],
      ['q=zebra%20%C3%A4', ['c']],
      ['q=zebra%20%C3%B6', []],
      ['q=A.b', ['a']],
      ['status=open&type=feature&severity=low', []],
    ];
    for (const [query, names] of filters) {
      it(`filters by ?${query}`, async () => {
        const shared = query.startsWith('tag=') ? '' : `&tag=${tag}`;
        const found = itemsOf(await list(`${query}${shared}`)).map(({ id }) => id);
        expect(found).to.have.members(names.map((name) => items[name].id));
      });
    }

    const wrong =
      'bogus=1 status=foo status=open&status=foo type=x severity=x error_level=x sort=x order=x limit=0 limit=201 limit=abc ' +
      'limit= cursor= muted=maybe include_total=x action=other agent=x lease_seconds=60 limit=5&limit=6 project[]=x ' +
      'updated_since=2026-01-01T00:00:00Z&sort=hit_count ' +
      'updated_since=yesterday updated_since=2026-11-20 updated_since=2026-11-20T08:15:30 updated_since=2026-13-20T08:15:30Z ' +
      'urgency=x updated_since=2026-02-30T08:15:30Z updated_since=2026-11-20T24:00:00Z';
    for (const query of wrong.split(' ')) {
      it(`returns 400 for ?${query}, with the name of the parameter`, async () => {
        const answer = await list(query);
        expectError(answer, 400, 'invalid_request');
        expect(fieldsOf(answer)).to.not.deep.equal({});
      });
    }

    it('returns 400 for an invalid cursor and for a cursor of another list', async () => {
      const { next_cursor } = (await list('sort=hit_count&limit=1')).json;
      for (const query of [
        'cursor=abc',
        `sort=severity&cursor=${String(next_cursor)}`,
        'cursor=%00',
        'updated_since=2026-01-01T00:00:00Z&cursor=abc',
      ])
        expectError(await list(query), 400, 'invalid_cursor');
    });

    it('sorts as requested, and by last_seen_at with the newest first by default', async () => {
      const names = async (query: string): Promise<string[]> =>
        itemsOf(await list(`tag=${tag}&${query}`)).map(
          ({ id }) => ['a', 'b', 'c'].find((n) => items[n as 'a'].id === id) ?? '',
        );
      expect(await names('')).to.deep.equal(['c', 'b', 'a']);
      expect(await names('order=asc')).to.deep.equal(['a', 'b', 'c']);
      expect(await names('sort=severity')).to.deep.equal(['b', 'c', 'a']);
      expect(await names('sort=severity&order=asc')).to.deep.equal(['a', 'c', 'b']);
      expect(await names('sort=created_at')).to.deep.equal(['c', 'b', 'a']);
    });

    it('pages to the end during concurrent inserts, and counts only on request', async () => {
      const own = tracker.word();
      for (let i = 0; i < 12; i++) await tracker.item({ tags: [own] });
      const seen: string[] = [];
      let cursor = '';
      do {
        const answer = await list(`tag=${own}&sort=created_at&limit=5&include_total=true${cursor}`);
        const next = answer.json['next_cursor'] as string | null;
        seen.push(...itemsOf(answer).map(({ id }) => id));
        expect(answer.json['has_more']).to.equal(next !== null);
        expect(answer.json['total']).to.be.at.least(12);
        cursor = next === null ? '' : `&cursor=${encodeURIComponent(next)}`;
        await tracker.item({ tags: [own] });
      } while (cursor !== '');
      expect([seen.length, new Set(seen).size]).to.deep.equal([12, 12]);
      expect((await list(`tag=${own}`)).json).to.not.have.any.keys('total', 'server_time');
    });

    it('returns items changed since a time, inclusively, with server_time for the next query', async () => {
      const item = await tracker.item();
      const first = await list(`updated_since=${item.updated_at}`);
      expect(itemsOf(first).map(({ id }) => id)).to.include(item.id);
      await tracker.patch(item.id, { title: 'Changed' });
      const next = await list(`updated_since=${String(first.json['server_time'])}`);
      expect(itemsOf(next).find(({ id }) => id === item.id)).to.include({ title: 'Changed' });
      expect((await list('updated_since=2026-01-01T00:00:00%2B02:00')).status).to.equal(200);
    });

    it('limits the list to the project of a project-bound token', async () => {
      expect(itemsOf(await list('limit=200', 'bound')).every(({ project }) => project === 'alpha')).to.equal(true);
      expectError(await list('project=beta', 'bound'), 403, 'insufficient_scope');
      const { json } = await tracker.call('bound', 'GET', '/projects');
      expect((json['projects'] as { slug: string }[]).map(({ slug }) => slug)).to.deep.equal(['alpha']);
      for (const [method, path, body] of [
        ['GET', '', undefined],
        ['PATCH', '', { title: 'x' }],
        ['POST', '/claim', {}],
        ['POST', '/comments', { body: 'x' }],
      ] as const)
        expectError(await tracker.call('bound', method, `/bugs/${items.c.id}${path}`, body), 404, 'not_found');
    });
  });

  describe('single item', () => {
    it('is found by id and by ref, and returns 404 otherwise, on every route', async () => {
      const { id, ref } = await tracker.item();
      expect((await tracker.shown(ref)).id).to.equal(id);
      const detail = await tracker.call('reader', 'GET', `/bugs/${ref}`);
      expect(detail.json).to.include.keys('item', 'occurrences', 'comments', 'activity');
      const routes: [string, string, object?][] = [
        ['GET', ''],
        ['GET', '/comments'],
        ['GET', '/activity'],
        ['GET', '/occurrences'],
        ['PATCH', '', { title: 'x' }],
        ['POST', '/claim', {}],
        ['POST', '/renew', { claim_token: 'x' }],
        ['POST', '/release', { claim_token: 'x' }],
        ['POST', '/comments', { body: 'x' }],
      ];
      for (const name of ['alpha-99999', '..%2f', '__proto__', '$ne'])
        for (const [method, path, body] of routes)
          expectError(await tracker.call('all', method, `/bugs/${name}${path}`, body), 404, 'not_found');
    });

    it('accepts comments up to 16 KiB, from its reporter and from managers', async () => {
      const { json } = await report({});
      const comment = (who: Who, body: unknown): Promise<Wire> =>
        tracker.call(who, 'POST', `/bugs/${String(json['id'])}/comments`, body);
      const made = await comment('reporter', { body: 'x'.repeat(16_384) });
      expect(made.status).to.equal(201);
      expect(made.json['comment']).to.have.all.keys(
        'id',
        'body',
        'author',
        'author_kind',
        'created_at',
        'untrusted_fields',
      );
      expect((await comment('manager', { body: 'ü'.repeat(8_192) })).status).to.equal(201);
      for (const who of ['stranger', 'reader'] as const)
        expectError(await comment(who, { body: 'x' }), 403, 'insufficient_scope');
      for (const body of ['x'.repeat(16_385), 'ü'.repeat(8_193), '', undefined])
        expectError(await comment('manager', { body }), 422, 'validation_failed');
      expectError(await comment('manager', { body: 'x', claim_token: 'dead' }), 409, 'lease_lost');
      const page = await tracker.call(
        'reader',
        'GET',
        `/bugs/${String(json['ref'])}/comments?limit=1&include_total=true`,
      );
      expect(page.json).to.include({ has_more: true, total: 2 });
    });

    it('changes every field of the contract in one revision, and requires the current revision', async () => {
      const { id } = await tracker.item();
      const fields = {
        title: 'T',
        description: 'D',
        target_agent: 't',
        environment: 'e',
        repo_url: 'u',
        commit_sha: 'c',
        file_path: 'f',
        line_no: 9,
        push_id: 'p',
        resolved_in_build: '1.0',
      };
      const changed = itemOf(await tracker.patch(id, { ...fields, tags: ['q'], urgency: 'low', unknown_field: 1 }));
      expect(changed).to.include({ ...fields, severity: 'low', urgency: 'low', severity_locked: true, rev: 2 });
      expect(changed.tags).to.deep.equal(['q']);
      expect(itemOf(await tracker.patch(id, {})).rev).to.equal(2);
      const two = await tracker.patch(id, { title: 'x', severity: 'low', urgency: 'high' });
      expectError(two, 422, 'validation_failed');
      expect(fieldsOf(two)).to.have.all.keys('severity', 'urgency');
      expect(itemOf(await tracker.patch(id, { severity: 'low', urgency: 'low' })).rev).to.equal(2);
      const long = await tracker.patch(id, { title: 'x', comment: 'ü'.repeat(8_193) });
      expectError(long, 422, 'validation_failed');
      expect(fieldsOf(long)).to.have.all.keys('comment');
      expectError(await tracker.patch(id, { title: 'x' }, { 'if-match': '"1"' }), 412, 'precondition_failed');
      expect((await tracker.patch(id, { title: 'x' }, { 'if-match': '"2"' })).status).to.equal(200);
    });

    for (const from of STATUSES) {
      it(`allows only the transitions of the table from ${from}, and changes nothing on rejection`, async () => {
        const target = await tracker.item();
        await Promise.all(
          STATUSES.map(async (to) => {
            const { id, claim_token } = await tracker.itemIn(from, target.id);
            const link = to === 'duplicate' ? { duplicate_of: target.id } : {};
            const answer = await tracker.patch(id, { status: to, title: 'Moved', reason: 'so', claim_token, ...link });
            const item = await tracker.shown(id);
            if (to !== 'in_progress' && (to === from || MOVES[from]?.includes(to))) {
              expect([answer.status, item.status, item.title, item.claim], to).to.deep.equal([200, to, 'Moved', null]);
            } else {
              expectError(answer, 409, 'invalid_transition');
              expect([item.status, item.title === 'Moved'], to).to.deep.equal([from, false]);
            }
          }),
        );
      });
    }

    it('requires a reason, and for a duplicate the original item', async () => {
      const { id, ref } = await tracker.item();
      for (const reason of [undefined, '', '  ']) {
        const answer = await tracker.patch(id, { status: 'wont_fix', title: 'x', reason });
        expectError(answer, 422, 'reason_required');
        expect(fieldsOf(answer)).to.deep.equal({ reason: 'is required' });
      }
      const foreign = await tracker.item({ project: 'beta' });
      for (const duplicate_of of [undefined, id, ref, 'nothing', foreign.id])
        expectError(await tracker.patch(id, { status: 'duplicate', duplicate_of }), 422, 'validation_failed');
      expect((await tracker.shown(id)).rev).to.equal(1);
    });

    it('allows the reason to be changed', async () => {
      const { id } = await tracker.itemIn('wont_fix', '');
      expect(itemOf(await tracker.patch(id, { reason: 'by design' })).reason).to.equal('by design');
      expectError(await tracker.patch(id, { reason: ' ' }), 422, 'reason_required');
    });

    it('rejects duplicate cycles, even for concurrent changes', async () => {
      for (let round = 0; round < 4; round++) {
        const ring = await Promise.all([1, 2, 3].map(() => tracker.item()));
        const answers = await Promise.all(
          ring.map(({ id }, i) => tracker.patch(id, { status: 'duplicate', duplicate_of: ring[(i + 1) % 3]?.id })),
        );
        expect(answers.map(({ status }) => status)).to.have.members([200, 200, 422]);
      }
    });
  });

  describe('leases', () => {
    it('are granted to one of many concurrent callers, and are shown without their token', async () => {
      const { id } = await tracker.item();
      const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => tracker.claim(id, { agent: `g${i}` })));
      const won = answers.filter(({ status }) => status === 200);
      expect(won).to.have.length(1);
      const { claim } = itemOf(won[0] as Wire);
      expect(claim).to.have.all.keys('agent', 'claimed_at', 'expires_at', 'renewals');
      for (const answer of answers.filter(({ status }) => status !== 200)) {
        expectError(answer, 409, 'already_claimed');
        const { agent, expires_at } = claim as { agent: string; expires_at: string };
        expect((answer.json['error'] as { claim: object }).claim).to.deep.equal({ agent, expires_at, yours: false });
      }
      const shown = await tracker.call('reader', 'GET', `/bugs/${id}`);
      expect(shown.text)
        .to.not.include(leaseOf(won[0] as Wire).claim_token)
        .and.not.include('token');
    });

    it('are granted again to the same credential and agent, renewed, released, and expire', async () => {
      const { id } = await tracker.item();
      const post = (verb: string, body: object): Promise<Wire> =>
        tracker.call('manager', 'POST', `/bugs/${id}/${verb}`, body);
      const first = leaseOf(await tracker.claim(id, { agent: 'a', lease_seconds: 60 })).claim_token;
      const again = await tracker.claim(id, { agent: 'a', lease_seconds: 120 });
      const { claim_token, lease_seconds } = leaseOf(again);
      expect([claim_token === first, lease_seconds, itemOf(again).claim_count]).to.deep.equal([false, 120, 1]);
      expectError(await tracker.claim(id, { agent: 'a' }, 'all'), 409, 'already_claimed');
      expectError(await post('renew', { claim_token: first }), 409, 'lease_lost');
      expect(itemOf(await post('renew', { claim_token })).claim).to.include({ renewals: 1 });
      expectError(await tracker.patch(id, { title: 'x' }), 409, 'already_claimed');
      expectError(await tracker.patch(id, { title: 'x', claim_token: first }), 409, 'lease_lost');
      expectError(await tracker.patch(id, { title: 'x', force: true }), 422, 'reason_required');
      expect((await tracker.patch(id, { title: 'x', force: true, reason: 'urgent' })).status).to.equal(200);
      expect((await tracker.patch(id, { title: 'y', claim_token })).status).to.equal(200);
      const released = await post('release', { claim_token });
      expect(itemOf(released)).to.include({ status: 'open', claim: null });
      for (const verb of ['renew', 'release']) expectError(await post(verb, { claim_token }), 409, 'lease_lost');
      expectError(await tracker.patch(id, { title: 'z', claim_token }), 409, 'lease_lost');
    });

    it('require a non-empty agent name', async () => {
      const { id } = await tracker.item();
      for (const agent of ['', '  ', 5, null]) {
        const answer = await tracker.claim(id, { agent });
        expectError(answer, 422, 'validation_failed');
        expect(fieldsOf(answer)).to.have.key('agent');
      }
      expectError(await tracker.call('manager', 'GET', '/bugs?action=next&agent=%20'), 400, 'invalid_request');
      expect((await tracker.shown(id)).claim_count).to.equal(0);
    });

    it('last 60 to 14,400 seconds', async () => {
      const { id } = await tracker.item();
      for (const lease_seconds of [59, 14_401, '60', 1.5, null])
        expectError(await tracker.claim(id, { lease_seconds }), 422, 'validation_failed');
      const long = await tracker.call('manager', 'POST', '/bugs?action=next', { lease_seconds: 14_401 });
      expectError(long, 422, 'validation_failed');
      for (const [method, path] of [
        ['POST', '/bugs'],
        ['GET', '/bugs?action=next&limit=5'],
      ] as const)
        expectError(await tracker.call('manager', method, path), 400, 'invalid_request');
      expectError(await tracker.call('manager', 'GET', '/bugs?action=next&lease_seconds=59'), 400, 'invalid_request');
    });

    it('are ordered by action=next, handed out once, and reserved for an item’s target_agent', async () => {
      const tag = tracker.word();
      const low = await tracker.item({ tags: [tag], severity: 'low' });
      const high = await tracker.item({ tags: [tag], severity: 'high' });
      const bobs = await tracker.item({ tags: [tag], severity: 'critical', target_agent: 'bob' });
      const next = async (query: string, method = 'GET', body?: object): Promise<string | null> => {
        const answer = await tracker.call('manager', method, `/bugs?action=next&tag=${tag}&${query}`, body);
        expect([answer.status, answer.headers.get('cache-control')]).to.deep.equal([200, 'no-store']);
        return answer.json['item'] === null ? null : itemOf(answer).id;
      };
      expect(await next('agent=al&target_agent=bob')).to.equal(null);
      expect(await next('agent=al')).to.equal(high.id);
      expect(await next('', 'POST', { agent: 'al', lease_seconds: 90 })).to.equal(low.id);
      expect(await next('agent=al')).to.equal(null);
      expect(await next('target_agent=bob')).to.equal(bobs.id);
    });
  });

  describe('scopes', () => {
    it('allow reads with the read scope, changes with manage, and neither with report', async () => {
      const { id } = await tracker.item();
      const routes: [string, string, object | undefined, 'reader' | 'manager'][] = [
        ['GET', '/bugs', undefined, 'reader'],
        ['GET', `/bugs/${id}`, undefined, 'reader'],
        ['GET', `/bugs/${id}/activity`, undefined, 'reader'],
        ['PATCH', `/bugs/${id}`, {}, 'manager'],
        ['POST', `/bugs/${id}/claim`, {}, 'manager'],
        ['GET', '/bugs?action=next', undefined, 'manager'],
        ['POST', '/bugs?action=next', undefined, 'manager'],
      ];
      for (const [method, path, body, who] of routes) {
        expectError(await tracker.call('reporter', method, path, body), 403, 'insufficient_scope');
        if (who === 'manager') expectError(await tracker.call('reader', method, path, body), 403, 'insufficient_scope');
        else
          for (const reader of ['reader', 'manager'] as const)
            expect((await tracker.call(reader, method, path, body)).status, path).to.equal(200);
      }
    });
  });
});
