/**
 * What people do with the list and with items: the bare list, ranges of time, the next item, undo,
 * new items, very many at once.
 */
import { expect } from 'chai';
import { Redirect, type PageSpec, type View } from '../../../../kernel/contract/index.js';
import { ServiceError } from '../../../../kernel/errors.js';
import { MonthlyStatsCache } from '../../../../plugins/bugs/pages/shared/monthly-stats.js';
import { buildBugPages } from '../../../../plugins/bugs/pages/pages.js';
import type { Item } from '../../../../ports/domain/bugs.js';
import { request, session } from '../../health/fakes.js';
import { renderFile } from '../../../web/templates.js';
import { errorReport, fixtureOn, memoryFixture, report, shown, type Fixture } from '../fixture.js';

const MEMBER = session('member');
const HOUR = 3_600_000;

interface Asked {
  query?: Record<string, unknown>;
  ref?: string;
  id?: string;
  body?: object;
  referer?: string;
}

describe('bugs: workflows of users', () => {
  let fixture: Fixture;
  let specs: PageSpec[];
  beforeEach(async () => {
    fixture = await memoryFixture();
    specs = buildBugPages({
      services: fixture,
      deps: fixture.deps,
      numbers: new MonthlyStatsCache(fixture.stats, fixture.clock),
      actions: () => [],
      facts: () => [],
      agents: () => [],
      releases: () => [],
      baseUrl: () => 'http://aos.test',
      timezone: () => 'Europe/Berlin',
    });
  });

  async function ask(method: string, path: string, { query = {}, ref, id, body, referer }: Asked = {}) {
    const spec = specs.find((one) => one.path === path && (one.method ?? 'GET') === method);
    if (!spec) throw new Error(`no page ${method} ${path}`);
    const { value, error } = spec.input?.query?.validate(query) ?? { value: query };
    if (error) throw error;
    const params = { ...(ref !== undefined && { ref }), ...(id !== undefined && { id }) };
    const headers = referer === undefined ? {} : { referer };
    return spec.handle(request(MEMBER, { method, params, query: value as object as never, body, headers }));
  }
  const html = (view: View): string =>
    renderFile(`plugins/bugs/views/${view.template}.hbs`, {
      path: '/bugs',
      csrf_token: 'token',
      ...view.context,
    });
  const list = async (query: Record<string, unknown> = {}): Promise<string> =>
    html((await ask('GET', '/bugs', { query })) as View);
  const refs = (text: string): string[] => [...text.matchAll(/<tr data-ref="([^"]+)"/g)].map(([, ref]) => ref ?? '');
  const post = (ref: string, name: string, body: object, query = {}): Promise<unknown> =>
    Promise.resolve(ask('POST', `/bugs/{ref}/${name}`, { ref, body, query }));
  const item = async (ref: string): Promise<Item> => shown(fixture, ref);

  async function rejected(run: Promise<unknown>): Promise<View> {
    const view = (await run) as View;
    expect(view).to.not.be.instanceOf(Redirect);
    return view;
  }

  describe('default list', () => {
    it('shows open items that are not muted, and all items with view=all', async () => {
      const open = await fixture.bugs.record(report({ title: 'Open' }));
      const closed = await fixture.bugs.record(report({ title: 'Closed' }));
      await post(closed.ref, 'status', { status: 'closed' });
      const muted = await fixture.bugs.record(errorReport({ muted_by: { rule_id: 'r', reason: 'noise' } }));
      expect(refs(await list())).to.deep.equal([open.ref]);
      expect(refs(await list({ view: 'all' }))).to.have.members([open.ref, closed.ref, muted.ref]);
      expect(refs(await list({ project: ['alpha'] }))).to.have.members([open.ref, closed.ref, muted.ref]);
    });

    it('shows the total and its filters as removable chips', async () => {
      for (let i = 0; i < 53; i++) {
        await fixture.bugs.record(report({ title: `Item ${String.fromCodePoint(97 + (i % 26)).repeat(2 + i / 26)}` }));
      }
      const bare = await list();
      expect(bare).to.include('50 of 53 issues');
      expect(bare).to.not.include('Active filters');
      const narrowed = await list({ status: ['open'], type: ['bug'] });
      expect(narrowed).to.include('href="/bugs?type&#x3D;bug"').and.include('href="/bugs?status&#x3D;open"');
      expect(await list({ status: ['open'] })).to.include('href="/bugs?view&#x3D;all"');
    });

    it('shows that nothing is waiting, and links to all items', async () => {
      const { ref } = await fixture.bugs.record(report({ title: 'Done' }));
      await post(ref, 'status', { status: 'closed' });
      expect(await list())
        .to.include('No open issues.')
        .and.include('/bugs?view&#x3D;all');
    });

    it('filters by first and last sighting, in the time zone of the pages', async () => {
      fixture.clock.set(Date.parse('2026-03-28T12:00:00Z'));
      const old = await fixture.bugs.record(report({ title: 'Before the clocks change' }));
      // Midnight of the 29th in Berlin is 23:00 UTC; of the 30th, in summer time, 22:00.
      fixture.clock.set(Date.parse('2026-03-28T23:00:00Z'));
      const first = await fixture.bugs.record(report({ title: 'The first of the day' }));
      fixture.clock.set(Date.parse('2026-03-29T21:59:59Z'));
      const last = await fixture.bugs.record(report({ title: 'The last of the day' }));
      fixture.clock.set(Date.parse('2026-03-29T22:00:00Z'));
      const next = await fixture.bugs.record(report({ title: 'Of the next day' }));
      const day = { first_from: ['2026-03-29'], first_to: ['2026-03-29'] };
      expect(refs(await list(day))).to.deep.equal([last.ref, first.ref]);
      expect(refs(await list({ last_from: ['2026-03-30'] }))).to.deep.equal([next.ref]);
      expect(refs(await list({ first_to: ['2026-03-28'] }))).to.deep.equal([old.ref]);
      fixture.clock.advance(HOUR);
      expect(refs(await list({ first_seen: ['1h'] }))).to.deep.equal([next.ref]);
      expect(refs(await list({ last_seen: ['24h'] }))).to.deep.equal([next.ref, last.ref, first.ref]);
      expect(await list(day))
        .to.include('First seen from')
        .and.include('2026-03-29');
    });

    it('saves the time range in a view', async () => {
      await ask('POST', '/bugs/views', { body: { name: 'New ones', match: 'first_seen=24h&status=open' } });
      expect(await list()).to.include('href="/bugs?first_seen&#x3D;24h&amp;status&#x3D;open"');
    });
  });

  describe('the next item', () => {
    const next = async (ref: string, query = {}): Promise<Redirect> =>
      (await ask('GET', '/bugs/{ref}/next', { ref, query })) as Redirect;

    it('follows the default list, also when the current item no longer matches, and reports the end', async () => {
      const made: string[] = [];
      for (const title of ['One', 'Two', 'Three']) {
        made.push((await fixture.bugs.record(report({ title }))).ref);
        fixture.clock.advance(1000);
      }
      const [one = '', two = '', three = ''] = made;
      expect((await next(three)).location).to.equal(`/bugs/${two}`);
      await post(two, 'status', { status: 'closed' });
      expect((await next(three)).location).to.equal(`/bugs/${one}`);
      expect((await next(two)).location).to.equal(`/bugs/${one}`);
      const end = await next(one);
      expect(end.location).to.equal('/bugs');
      expect(end.flash?.message).to.equal(`${one} was the last issue in this list.`);
    });

    it('follows items with equal severity and equal time without skipping any', async () => {
      const made: string[] = [];
      for (const title of ['One', 'Two', 'Three']) made.push((await fixture.bugs.record(report({ title }))).ref);
      const high = (await fixture.bugs.record(report({ title: 'Gravest', severity: 'high' }))).ref;
      const seen = [high];
      for (let at = high; ; at = seen.at(-1) ?? '') {
        const { location } = await next(at, { list: 'sort=severity&status=open' });
        const ref = /^\/bugs\/([a-z0-9-]+)\?list=/.exec(location)?.[1];
        if (ref === undefined) break;
        seen.push(ref);
      }
      expect(seen).to.deep.equal([high, ...made.toReversed()]);
    });

    it('preserves the list that the item was opened from through its forms', async () => {
      const { ref } = await fixture.bugs.record(report({ title: 'Here', tags: ['cart'] }));
      const page = (await ask('GET', '/bugs/{ref}', { ref, referer: 'http://aos.test/bugs?tag=cart' })) as View;
      const keep = '?list&#x3D;tag%3Dcart';
      expect(html(page)).to.include(`href="/bugs/${ref}/next${keep}"`).and.include(`/bugs/${ref}/status${keep}"`);
      const done = (await post(ref, 'comments', { body: 'x' }, { list: 'tag=cart' })) as Redirect;
      expect(done.location).to.equal(`/bugs/${ref}?list=tag%3Dcart#comments`);
    });

    it('rejects a return URL outside of the list', async () => {
      const { ref } = await fixture.bugs.record(report({ title: 'Here' }));
      for (const referer of ['https://evil.example/x?tag=a', 'no url', 'http://aos.test/bugs?status=nonsense']) {
        const page = (await ask('GET', '/bugs/{ref}', { ref, referer })) as View;
        expect(html(page), referer).to.include(`href="/bugs/${ref}/next"`);
      }
      for (const given of ['https://evil.example/x?tag=a', '//evil.example', 'status=nonsense']) {
        const page = (await ask('GET', '/bugs/{ref}', { ref, query: { list: given } })) as View;
        expect(html(page), given).to.include(`href="/bugs/${ref}/next"`);
      }
      expect((await next(ref, { list: '//evil.example' })).location).to.equal('/bugs');
    });
  });

  describe('undo', () => {
    it('allows the user who closed an item to undo that for a minute', async () => {
      const { ref } = await fixture.bugs.record(report({ title: 'Closed by mistake' }));
      const closed = (await post(ref, 'status', { status: 'closed' })) as Redirect;
      expect(closed.flash?.action).to.deep.equal({ label: 'Undo', post: `/bugs/${ref}/undo` });
      const done = (await post(ref, 'undo', {})) as Redirect;
      expect(done.flash?.message).to.equal('Undone: issue is open again');
      expect(done.flash?.action).to.equal(undefined);
      expect(await item(ref)).to.include({ status: 'open', closed_at: null });
    });

    it('restores the previous status: needs info, or resolved in a version', async () => {
      const info = (await fixture.bugs.record(report({ title: 'Asked' }))).ref;
      await post(info, 'status', { status: 'needs_info' });
      await post(info, 'status', { status: 'wont_fix', reason: 'no' });
      await post(info, 'undo', {});
      expect(await item(info)).to.include({ status: 'needs_info', reason: null });
      const fixed = (await fixture.bugs.record(report({ title: 'Fixed' }))).ref;
      await post(fixed, 'status', { status: 'resolved', resolved_in_build: '2.4.1' });
      await post(fixed, 'status', { status: 'closed' });
      await post(fixed, 'undo', {});
      expect(await item(fixed)).to.include({ status: 'resolved', resolved_in_build: '2.4.1' });
    });

    it('splits a duplicate off again', async () => {
      const [one, two] = [
        await fixture.bugs.record(report({ title: 'A' })),
        await fixture.bugs.record(report({ title: 'B' })),
      ];
      await post(two.ref, 'merge', { into: one.ref });
      await post(two.ref, 'undo', {});
      expect(await item(two.ref)).to.include({ status: 'open', duplicate_of: null });
    });

    it('expires after a minute or another change, and is never available to other users', async () => {
      const { ref } = await fixture.bugs.record(report({ title: 'Closed' }));
      await post(ref, 'status', { status: 'closed' });
      fixture.clock.advance(60_001);
      const late = await rejected(post(ref, 'undo', {}));
      expect(late.status).to.equal(409);
      expect(html(late)).to.include('Nothing to undo');
      expect((await item(ref)).status).to.equal('closed');
      const other = (await fixture.bugs.record(report({ title: 'Other' }))).ref;
      await fixture.edits.edit(
        other,
        { id: 't', name: 'a token', project: null, manage: true, kind: 'token' },
        { status: 'closed' },
      );
      expect((await rejected(post(other, 'undo', {}))).status).to.equal(409);
    });
  });

  describe('/bugs/new', () => {
    const given = { project: 'alpha', type: 'feature', title: 'Export as CSV', severity: 'low', client_ref: 'form-1' };

    it('creates an item reported by a user, with source web', async () => {
      const form = html((await ask('GET', '/bugs/new', { query: { project: 'alpha' } })) as View);
      expect(form)
        .to.match(/<option value="alpha" selected/)
        .and.match(/name="client_ref" value="form-/);
      const body = { ...given, description: 'One\r\nTwo', tags: 'csv, export', environment: 'prod', take: 'true' };
      const done = (await ask('POST', '/bugs/new', { body })) as Redirect;
      const ref = done.location.replace('/bugs/', '');
      expect(await item(ref)).to.deep.include({
        type: 'feature',
        title: 'Export as CSV',
        description: 'One\nTwo',
        source: 'ui',
        severity: 'low',
        tags: ['csv', 'export'],
        environment: 'prod',
        assignee: 'member',
        status: 'open',
        hit_count: 1,
      });
      const again = (await ask('POST', '/bugs/new', { body })) as Redirect;
      expect(again.location).to.equal(done.location);
      expect((await item(ref)).hit_count).to.equal(1);
    });

    it('counts a report that matches an existing item, and shows that item', async () => {
      await ask('POST', '/bugs/new', { body: given });
      const done = (await ask('POST', '/bugs/new', { body: { ...given, client_ref: 'form-2' } })) as Redirect;
      expect(done.flash?.tone).to.equal('info');
      expect(done.flash?.message).to.match(/Already reported as/);
    });

    it('shows all errors together, each at its field, and preserves the input', async () => {
      const body = {
        project: '',
        type: 'error',
        title: 'x'.repeat(201),
        severity: 'urgent',
        description: 'kept <b>as it is</b>',
        tags: 'a,b',
        environment: 'e'.repeat(201),
        client_ref: 'form-3',
      };
      const view = await rejected(Promise.resolve(ask('POST', '/bugs/new', { body })));
      expect(view.status).to.equal(422);
      expect(view.context['errors']).to.deep.equal({
        project: 'Required',
        type: 'Choose bug or feature.',
        title: 'Must have at most 200 characters (now 201).',
        severity: 'Choose critical, high, medium or low.',
        environment: 'Must have at most 200 characters (now 201).',
      });
      const text = html(view);
      expect(text.match(/aria-invalid="true"/g)).to.have.length(5);
      expect(text)
        .to.include('kept &lt;b&gt;as it is&lt;/b&gt;')
        .and.include('value="a,b"')
        .and.include('value="form-3"');
      expect(await fixture.deps.items.count()).to.equal(0);
    });
  });

  describe('bulk changes of very many items', () => {
    const word = (n: number): string =>
      (n < 26 ? '' : word(Math.floor(n / 26) - 1)) + String.fromCodePoint(97 + (n % 26));

    async function many(n: number): Promise<void> {
      for (let i = 0; i < n; i++) await fixture.bugs.record(report({ title: `Old ${word(i)} thing` }));
    }
    const run = async (location: string): Promise<string> => {
      const view = (await ask('GET', '/bugs/bulk/runs/{id}', { id: location.split('/').at(-1) ?? '' })) as View;
      return html(view);
    };

    it('changes more than a thousand in batches, and lists the rejected items', async function () {
      await many(1003);
      const page = await fixture.deps.items.find({ limit: 1 });
      const held = page.items[0]?.ref ?? '';
      const body = { action: 'status:closed', scope: 'filter', match: 'muted=false&project=alpha' };
      const requested = html((await ask('POST', '/bugs/bulk/confirm', { body })) as View);
      expect(requested).to.include('Close 1,003 issues').and.include('changed in the background');
      await fixture.edits.edit(
        held,
        { id: 'x', name: 'x', project: null, manage: true, kind: 'token' },
        { status: 'wont_fix', reason: 'x' },
      );
      const begun = (await ask('POST', '/bugs/bulk', { body: { ...body, expected_count: '1003' } })) as Redirect;
      expect(begun.location).to.match(/^\/bugs\/bulk\/runs\/[0-9a-f-]{36}$/);
      await fixture.bulkRuns.waitUntilIdle();
      const text = await run(begun.location);
      expect(text).to.include('1,002 issues closed, 1 failed').and.include(`href="/bugs/${held}"`);
      expect(await fixture.deps.items.count({ status: 'closed' })).to.equal(1002);
    });

    it('are undone by the same user within a minute, except for items changed since', async () => {
      await many(4);
      const { items } = await fixture.deps.items.find({ limit: 4 });
      const [requested, later, ...rest] = items.map(({ ref }) => ref);
      await post(requested ?? '', 'status', { status: 'needs_info' });
      const mine = (await fixture.bugs.record(report({ title: 'Closed before' }))).ref;
      await post(mine, 'status', { status: 'closed' });
      fixture.clock.advance(1000);
      const body = { action: 'status:closed', scope: 'ids', ids: items.map(({ id }) => id), match: '' };
      const done = (await ask('POST', '/bugs/bulk', { body })) as Redirect;
      expect(done.flash).to.include({ message: '4 issues closed' });
      const back = done.flash?.action;
      expect(back?.label).to.equal('Undo');
      const undo = async (): Promise<unknown> =>
        ask('POST', '/bugs/bulk/runs/{id}/undo', { id: back?.post.split('/').at(-2) ?? '', body: {} });
      await post(later ?? '', 'status', { status: 'open' });
      fixture.clock.advance(30_000);
      const begun = (await undo()) as Redirect;
      await fixture.bulkRuns.waitUntilIdle();
      expect(await run(begun.location)).to.include('3 issues restored');
      expect((await item(requested ?? '')).status).to.equal('needs_info');
      for (const ref of rest) expect((await item(ref)).status).to.equal('open');
      expect((await item(mine)).status, 'an earlier change').to.equal('closed');
      const again = await rejected(undo());
      expect(again.status).to.equal(409);
      expect(html(again)).to.include('Nothing to undo');
    });

    it('offer no undo after a minute, to other users, or when no item was closed', async () => {
      await many(2);
      const { items } = await fixture.deps.items.find({ limit: 2 });
      const ids = items.map(({ id }) => id);
      const open = (await ask('POST', '/bugs/bulk', {
        body: { action: 'severity:low', scope: 'ids', ids, match: '' },
      })) as Redirect;
      expect(open.flash?.action).to.equal(undefined);
      const done = (await ask('POST', '/bugs/bulk', {
        body: { action: 'status:closed', scope: 'ids', ids, match: '' },
      })) as Redirect;
      const id = done.flash?.action?.post.split('/').at(-2) ?? '';
      expect(await run(`/${id}`)).to.include(`action="/bugs/bulk/runs/${id}/undo"`);
      const kept = await fixture.bulkRuns.find(id);
      const stranger = { id: 'user:b', name: 'somebody', project: null, manage: true, kind: 'session' } as const;
      if (kept === null) throw new Error('the change was not kept');
      let refusal: unknown;
      await fixture.bulkRuns.undo(kept, stranger).catch((error: unknown) => (refusal = error));
      expect(refusal).to.be.instanceOf(ServiceError).and.include({ code: 'conflict' });
      fixture.clock.advance(60_001);
      expect(await run(`/${id}`)).to.not.include('/undo"');
      expect(
        (await rejected(Promise.resolve(ask('POST', '/bugs/bulk/runs/{id}/undo', { id, body: {} })))).status,
      ).to.equal(409);
      for (const { ref } of items) expect((await item(ref)).status).to.equal('closed');
    });

    it('continue after the process is killed, and report only recorded results', async () => {
      await many(5);
      const says = { does: 'Close', done: 'closed', back: '/bugs' };
      const caller = { id: 'user:a', name: 'member', project: null, manage: true, kind: 'session' } as const;
      const order = { query: { status: ['open'] }, set: { status: 'closed' }, says } as const;
      await fixture.bulkRuns.stop();
      const { id } = await fixture.bulkRuns.start({ ...order, query: { status: ['open'] } }, caller);
      await fixture.bulkRuns.waitUntilIdle();
      expect(await fixture.deps.items.count({ status: 'closed' })).to.equal(0);
      expect(await run(`/${id}`))
        .to.include('0 of 5 issues checked')
        .and.include('role="progressbar"');
      fixture.clock.advance(16_000);
      const successor = fixtureOn(fixture.store, fixture.clock).bulkRuns;
      await successor.resume();
      await successor.waitUntilIdle();
      expect(await fixture.deps.items.count({ status: 'closed' })).to.equal(5);
      expect(await run(`/${id}`))
        .to.include('At least 5 issues closed')
        .and.include('Resumed after a restart');
    });

    it('merge all similar items and no others', async () => {
      const alike = (message: string, fields: object = {}): object => ({
        ...errorReport({ exception_class: 'RedisTimeoutError', error_message: message, file_path: 'src/redis.js' }),
        ...fields,
      });
      const refsOf: string[] = [];
      for (const name of ['alpha', 'beta', 'gamma']) {
        refsOf.push(
          (await fixture.bugs.record(alike(`cache ${name} timed out`, { title: `RedisTimeoutError ${name}` }) as never))
            .ref,
        );
      }
      const [into = '', ...others] = refsOf;
      const elsewhere = (await fixture.bugs.record(alike('x', { file_path: 'src/other.js', title: 'Other' }) as never))
        .ref;
      expect(html((await ask('GET', '/bugs/{ref}', { ref: into })) as View)).to.include('Merge similar issues');
      const page = html((await ask('GET', '/bugs/{ref}/alike', { ref: into })) as View);
      expect(page).to.include(`Merge 2 issues into ${into}?`).and.include('>Cancel</a>');
      const begun = (await ask('POST', '/bugs/{ref}/alike', { ref: into, body: { reason: 'one outage' } })) as Redirect;
      await fixture.bulkRuns.waitUntilIdle();
      expect(await run(begun.location)).to.include(`2 issues merged into ${into}`);
      const target = await item(into);
      for (const ref of others)
        expect(await item(ref)).to.include({ status: 'duplicate', duplicate_of: target.id, reason: 'one outage' });
      expect((await item(elsewhere)).status).to.equal('open');
      expect(target.status).to.equal('open');
    });

    it('find no similar items without a class', async () => {
      const { ref } = await fixture.bugs.record(report({ title: 'By hand' }));
      try {
        await ask('GET', '/bugs/{ref}/alike', { ref });
        expect.fail('it was found');
      } catch (error) {
        expect(error).to.be.instanceOf(ServiceError).and.include({ status: 404 });
      }
    });
  });
});
