/**
 * /bugs, /bugs/{ref} and the dashboard's card: what they show, what the forms do, and that reported
 * text stays text.
 */
import type { ItemAction } from '../../../../ports/domain/bugs.js';
import { expect } from 'chai';
import { Redirect, type PageSpec, type Reply, type View } from '../../../../kernel/contract/index.js';
import { toHistoryLine } from '../../../../plugins/bugs/pages/item/history-lines.js';
import { listStatusMoves } from '../../../../plugins/bugs/pages/item/status-moves.js';
import { MonthlyStatsCache } from '../../../../plugins/bugs/pages/shared/monthly-stats.js';
import { buildBugPages } from '../../../../plugins/bugs/pages/pages.js';
import { buildTrace } from '../../../../plugins/bugs/pages/trace/trace-view.js';
import { buildBugPanels } from '../../../../plugins/bugs/pages/dashboard-panels.js';
import { TRANSITIONS } from '../../../../plugins/bugs/item/transitions.js';
import type { SessionPrincipal } from '../../../../ports/http/index.js';
import { request, session } from '../../health/fakes.js';
import { renderFile } from '../../../web/templates.js';
import { errorReport, itemIn, MANAGER, memoryFixture, report, settled, shown, type Fixture } from '../fixture.js';

const HOSTILE = '<script>alert(1)</script>';
const MEMBER = session('member') as SessionPrincipal;

describe('bugs: pages', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await memoryFixture();
    actions = [];
  });

  let actions: ItemAction[] = [];

  function page(path: string, method = 'GET'): PageSpec {
    const all = buildBugPages({
      services: fixture,
      deps: fixture.deps,
      numbers: new MonthlyStatsCache(fixture.stats, fixture.clock),
      actions: () => actions,
      facts: () => [],
      agents: () => [],
      releases: () => [],
      baseUrl: () => 'http://aos.test',
      timezone: () => 'Europe/Berlin',
    });
    const found = all.find((spec) => spec.path === path && (spec.method ?? 'GET') === method);
    if (!found) throw new Error(`no page ${method} ${path}`);
    return found;
  }

  const render = (view: View, path: string, query: object = {}): string =>
    renderFile(`plugins/bugs/views/${view.template}.hbs`, { ...view.context, path, query, csrf_token: 'token' });

  async function list(query: Record<string, unknown> = {}): Promise<string> {
    const spec = page('/bugs');
    const { value, error } = spec.input?.query?.validate(query) ?? {};
    if (error) throw error;
    return render((await spec.handle(request(MEMBER, { query: value as object as never }))) as View, '/bugs', query);
  }

  async function detail(ref: string, query: Record<string, unknown> = {}): Promise<string> {
    const view = (await page('/bugs/{ref}').handle(request(MEMBER, { params: { ref }, query }))) as View;
    return render(view, `/bugs/${ref}`, query);
  }

  const post = async (ref: string, name: string, body: object): Promise<Redirect | View> =>
    (await page(`/bugs/{ref}/${name}`, 'POST').handle(request(MEMBER, { method: 'POST', params: { ref }, body }))) as
      Redirect | View;

  describe('/bugs', () => {
    it('explains how to report an item when there are none', async () => {
      const html = await list();
      expect(html).to.include('No issues yet').and.include('http://aos.test/api/bugtracker/v1/report');
      expect(html.match(/<h1/g)).to.have.length(1);
    });

    it('shows items with status, severity, hits, and the holder with lease expiry', async () => {
      const { ref } = await fixture.bugs.record(report({ title: 'Total is wrong', severity: 'critical' }));
      await fixture.leases.claim(ref, MANAGER, { agent: 'fixer-7' });
      const html = await list({ view: 'all' });
      expect(html).to.include('Total is wrong').and.include(`href="/bugs/${ref}"`).and.include('text-critical');
      expect(html).to.include('In progress').and.include('fixer-7').and.include('1 issue');
    });

    it('shows the count of each quick view without muted items, linked to the same list', async () => {
      await fixture.bugs.record(report({ title: 'One', severity: 'critical' }));
      await fixture.bugs.record(report({ title: 'Two' }));
      const muted_by = { rule_id: 'r-1', reason: 'noise' };
      await fixture.bugs.record(errorReport({ error_message: 'muted', severity: 'critical', muted_by }));
      await itemIn(fixture, 'in_progress', 'Held');
      await itemIn(fixture, 'needs_info', 'Asked');
      await itemIn(fixture, 'resolved', 'Fixed');
      expect(await fixture.board.getWaitingCounts()).to.deep.equal({
        open: 2,
        critical: 1,
        regressed: 0,
        in_progress: 1,
        needs_info: 1,
        resolved: 1,
      });
      const html = await list({ status: ['open'], severity: ['critical'], muted: [false] });
      expect(html).to.include('One').and.include('1 issue').and.not.include('Two').and.not.include('E: muted');
      expect(html).to.match(
        /<a class="nav-link active" href="\/bugs\?[^"]*severity[^"]*status[^"]*" aria-current="page">Critical/,
      );
      expect(await page('/bugs').nav?.badge?.()).to.equal(2);
      expect(await page('/bugs').nav?.badge?.('alpha'), 'of the chosen project').to.equal(2);
      expect(await page('/bugs').nav?.badge?.('beta'), 'of another project').to.equal(null);
    });

    it('filters by the URL, and ignores empty form fields', async () => {
      await fixture.bugs.record(report({ title: 'Tagged', tags: ['mail'] }));
      await fixture.bugs.record(report({ title: 'Other', project: 'beta' }));
      const empty = { q: [''], status: [''], type: [''], severity: [''], project: [''], sort: '', cursor: '' };
      expect(await list(empty))
        .to.include('Tagged')
        .and.include('Other')
        .and.include('2 issues');
      expect(await list({ ...empty, tag: ['mail'] }))
        .to.include('Tagged')
        .and.not.include('Other');
      expect(await list({ project: ['beta'] }))
        .to.include('Other')
        .and.not.include('Tagged');
      expect(await list({ q: ['TAGG'] }))
        .to.include('Tagged')
        .and.not.include('Other');
      expect(await list({ q: ['nothing'] }))
        .to.include('No matching issues')
        .and.include('href="/bugs"');
    });

    it('rejects unknown filter values', () => {
      const query = page('/bugs').input?.query;
      for (const wrong of [{ status: ['done'] }, { severity: ['urgent'] }, { sort: 'title' }, { muted: ['maybe'] }]) {
        expect(query?.validate(wrong).error, JSON.stringify(wrong)).to.not.equal(undefined);
      }
    });

    it('pages by cursor and links to the next page', async () => {
      for (let i = 0; i < 51; i++) {
        await fixture.bugs.record(report({ title: `Item number ${i}` }));
        fixture.clock.advance(1000);
      }
      const first = await list();
      expect(first).to.include('50 of 51 issues').and.include('Item number 50').and.not.include('Item number 0<');
      const next = /cursor&#x3D;([^"&]+)" rel="next"/.exec(first)?.[1] ?? '';
      const last = await list({ cursor: decodeURIComponent(next) });
      expect(last).to.include('Item number 0<').and.include('1 of 51 issues').and.include('First page');
    });

    it('escapes reported text', async () => {
      await fixture.bugs.record(
        report({ title: HOSTILE, tags: [HOSTILE], environment: HOSTILE, app_version: HOSTILE }),
      );
      const html = await list();
      expect(html).to.include('&lt;script&gt;').and.not.include('<script');
    });
  });

  describe('/bugs/{ref}', () => {
    it('marks publishes, and lists suspect commits as escaped text', async () => {
      await fixture.published('1.4.0');
      const commit = { id: 'ab'.repeat(20), author_name: HOSTILE, timestamp: null, message: HOSTILE };
      const files = [`${HOSTILE}/cart.ts`, 'src/cart.ts'];
      await fixture.history.save('alpha', '1.4.0', { range: null, commits: [{ ...commit, files }], truncated: false });
      fixture.clock.advance(12 * 60_000);
      const { ref } = await fixture.bugs.record(errorReport({ app_version: '1.4.0' }));
      const html = await detail(ref);
      expect(html).to.not.include(HOSTILE);
      expect(html.match(/class="event-mark"/g)).to.have.length(1);
      expect(html).to.include('Started with').and.include('&lt;script&gt;alert(1)');
      expect(html).to.include('Suspect').and.include('src/cart.ts').and.include('ababababab');
    });

    const stack = 'Error: no price\n    at total (src/total.ts:4:2)\n    at run (src/run.ts:9:1)';

    it('marks the frame used for grouping', async () => {
      const { ref } = await fixture.bugs.record(errorReport({ stack_trace: stack, file_path: null }));
      expect(await detail(ref))
        .to.match(/is-marked"><span[^>]*>\(first frame\) <\/span> {4}at total/)
        .and.match(/class="frame is-marked"><span[^>]*><span class="frame-name">total</);
      expect(buildTrace(stack)?.mark ?? null).to.equal(1);
      expect(buildTrace(stack.replaceAll('\n', '\r\n'))?.mark ?? null).to.equal(1);
      const python =
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\n  File "b.py", line 2, in f\n    1/0\nZeroDivisionError: x';
      expect(buildTrace(python)?.mark ?? null).to.equal(3);
      expect(buildTrace('it broke')?.mark ?? null).to.equal(null);
    });

    it('renders markdown in descriptions and comments, and shows oversized ones as plain text', async () => {
      const { ref } = await fixture.bugs.record(
        report({ description: '**Total** of <b>[this](https://x.example)</b>' }),
      );
      await fixture.comments.add(ref, MANAGER, { body: 'See `total()` and [more](javascript:x)' });
      await fixture.comments.add(ref, MANAGER, { body: `**${'x'.repeat(4100)}**` });
      const html = await detail(ref);
      expect(html)
        .to.include('<strong>Total</strong> of &lt;b&gt;')
        .and.include('href="https://x.example" rel="noopener noreferrer nofollow"');
      expect(html).to.include('<code>total()</code>').and.not.include('href="javascript:');
      expect(html).to.include(`>**${'x'.repeat(4100)}**</p>`);
    });

    it('is available as plain text, as returned to an agent', async () => {
      const { ref } = await fixture.bugs.record(errorReport({ stack_trace: stack, title: HOSTILE, tags: ['a:b'] }), {
        details: () => ({ context: { source: { '4': 'return price;' }, locals: { price: null } }, breadcrumbs: null }),
      });
      const answer = (await page('/bugs/{ref}/trace.txt').handle(request(MEMBER, { params: { ref } }))) as Reply;
      expect(answer.headers).to.deep.include({ 'content-type': 'text/plain; charset=utf-8' });
      const text = answer.body as string;
      const mark = /^----- (\S+)$/m.exec(text)?.[1] ?? '';
      const [before = '', reported = ''] = text.split(`----- ${mark}\n`);
      expect(before).to.include(`http://aos.test/bugs/${ref}`).and.include('status: open').and.not.include(HOSTILE);
      expect(reported).to.include('at total (src/total.ts:4:2)').and.include(HOSTILE).and.include('return price;');
      expect((await detail(ref)).match(/href="[^"]*trace\.txt"/)?.[0]).to.equal(`href="/bugs/${ref}/trace.txt"`);
    });

    it('escapes reported text, marks it as external, and links only http(s) URLs', async () => {
      const { ref } = await fixture.bugs.record(
        errorReport({
          title: HOSTILE,
          error_message: HOSTILE,
          stack_trace: `${HOSTILE}\n    at f (src/a.ts:1:1)`,
          file_path: HOSTILE,
          repo_url: 'javascript:alert(1)',
          tags: ['"><img src=x onerror=alert(1)>'],
          host: HOSTILE,
        }),
        { details: () => ({ context: { note: HOSTILE }, breadcrumbs: null }) },
      );
      const html = await detail(ref);
      expect(html.match(/<script[^>]*>/gi)).to.deep.equal(['<script src="/assets/bugs/brush.js" defer>']);
      expect(html).to.not.match(/<img|href="javascript:/i);
      expect(html).to.include('Untrusted input');
      const linked = await fixture.bugs.record(report({ title: 'Linked', repo_url: 'https://git.example/shop' }));
      expect(await detail(linked.ref))
        .to.include('href="https://git.example/shop"')
        .and.include('noopener');
    });

    it('shows the claim with its remaining time, and requires a reason in the forms', async () => {
      const { ref } = await fixture.bugs.record(report({ description: 'Steps' }));
      await fixture.leases.claim(ref, MANAGER, { agent: 'fixer-7', lease_seconds: 1800 });
      fixture.clock.advance(60_000);
      const html = await detail(ref);
      expect(html).to.include('fixer-7 is working on this').and.include('29 min left');
      expect(html).to.include('role="progressbar"').and.include('name="force" value="true"');
      expect(html).to.include('Stop agent and reopen').and.include('Interrupts fixer-7');
    });

    it('names the agent instead of the token that it acts with', async () => {
      const { ref } = await fixture.bugs.record(report({ description: 'Steps' }));
      await fixture.leases.claim(ref, MANAGER, { agent: 'fixer-7' });
      await fixture.comments.add(ref, MANAGER, { body: 'On it' });
      const html = await detail(ref);
      expect(html).to.include('<b>fixer-7</b> commented').and.include('<b>fixer-7</b> claimed this');
      expect(html).to.not.include(`<b>${MANAGER.name}</b>`);
    });

    it('shows events, frequency and grouping only for what has events', async () => {
      const { ref: feature } = await fixture.bugs.record(report({ type: 'feature', title: 'Export as CSV' }));
      const { ref: error } = await fixture.bugs.record(
        errorReport({ stack_trace: stack, error_message: 'has events' }),
      );
      for (const id of ['events', 'trace', 'occurrences', 'why']) {
        expect(await detail(feature), id).to.not.include(`id="${id}"`);
        expect(await detail(error), id).to.include(`id="${id}"`);
      }
    });

    it('offers exactly the transitions of the state table', async () => {
      for (const status of [
        'open',
        'in_progress',
        'needs_info',
        'resolved',
        'closed',
        'wont_fix',
        'duplicate',
      ] as const) {
        const by = TRANSITIONS.filter((row) => row.from.includes(status) && row.by.includes('patch')).map(
          (row) => row.to,
        );
        expect(
          listStatusMoves(status, false).map((move) => move.to),
          status,
        ).to.have.members([...new Set(by)]);
        const html = await detail(await itemIn(fixture, status, `Item that is ${status}`));
        const offered = [...html.matchAll(/name="status" value="([a-z_]+)"/g)].map(([, to]) => to);
        expect([...new Set(offered)], status).to.have.members([...new Set(by)]);
      }
    });

    it('shows links added by other plugins where they apply to the item', async () => {
      const { ref } = await fixture.bugs.record(errorReport());
      expect(await detail(ref)).not.to.include('Ask the oracle');
      actions.push({ label: 'Ask the oracle', icon: 'search', href: (one) => `/oracle?about=${one.ref}` });
      actions.push({ label: 'Never', icon: 'search', href: () => null });
      expect(await detail(ref))
        .to.match(/href="\/oracle\?about(?:=|&#x3D;)alpha-1"/)
        .and.not.include('Never');
    });

    it('returns 404 for a missing item', async () => {
      const code = await detail('alpha-99').catch((error: { code?: string }) => error.code);
      expect(code).to.equal('not_found');
    });

    it('lists links at both ends, with forms to add and remove them', async () => {
      const a = await fixture.bugs.record(report({ title: 'The first' }));
      const b = await fixture.bugs.record(report({ title: HOSTILE }));
      expect(await detail(a.ref))
        .to.include('Add link')
        .and.include(`action="/bugs/${a.ref}/links"`);
      const rejected = (await post(a.ref, 'links', { kind: 'blocked_by', ref: 'alpha-99' })) as View;
      const again = render(rejected, `/bugs/${a.ref}`);
      expect(again)
        .to.include('Item not found')
        .and.match(/id="links-add" open/)
        .and.include('value="alpha-99"');
      const done = await post(a.ref, 'links', { kind: 'blocked_by', ref: b.ref.toUpperCase() });
      expect(done).to.be.instanceOf(Redirect);
      const html = await detail(a.ref);
      expect(html)
        .to.include(`Is blocked by <span class="font-monospace">${b.ref}</span>`)
        .and.include('Blocked for agents');
      expect(html).to.include(`added a link: is blocked by <a href="/bugs/${b.ref}">`).and.not.include('<script');
      expect(await detail(b.ref)).to.include(`Blocks <span class="font-monospace">${a.ref}</span>`);
      await post(b.ref, 'unlink', { kind: 'blocks', ref: a.ref });
      expect(await detail(a.ref)).to.not.include('Remove link to');
    });

    it('links a duplicate to its original', async () => {
      const html = await detail(await itemIn(fixture, 'duplicate', 'Again'));
      expect(html)
        .to.match(/Duplicate of <a href="\/bugs\/alpha-\d+">/)
        .and.include('Target of Again');
    });

    it('shows one event with its neighbors, and pages the activity', async () => {
      const { id, ref } = await fixture.bugs.record(errorReport());
      for (let i = 0; i < 25; i++) {
        fixture.clock.advance(1000);
        await fixture.comments.add(id, MANAGER, { body: `Comment ${i}` });
        await fixture.bugs.record(errorReport({ error_message: 'cart is empty', host: `web-${i}` }));
      }
      await settled(fixture);
      const html = await detail(ref);
      expect(html).to.include('title="Host">web-24<').and.include('Comment 24<').and.include('Comment 0<');
      expect(html)
        .to.match(/Event 1 of \d+/)
        .and.not.include('title="Host">web-23<')
        .and.not.include('rel="prev"');
      const follow = async (from: string, rel: string): Promise<string> => {
        const slot = new RegExp(`occurrences(?:=|&#x3D;)(\\d+)#occurrences" rel="${rel}"`).exec(from)?.[1] ?? '';
        return detail(ref, { occurrences: slot });
      };
      const older = await follow(html, 'next');
      expect(older)
        .to.include('title="Host">web-23<')
        .and.match(/Event 2 of \d+/);
      expect(await follow(older, 'prev')).to.include('title="Host">web-24<');
      for (let i = 0; i < 60; i++) await fixture.comments.add(id, MANAGER, { body: `Later ${i}` });
      await settled(fixture);
      const full = await detail(ref);
      expect(full).to.include('Later 59').and.not.include('Comment 0<');
      expect(full).to.match(/\?activity&#x3D;[^"#]+#activity/);
    });
  });

  describe('forms', () => {
    it('stores a comment with the account’s name and its original line breaks', async () => {
      const { ref } = await fixture.bugs.record(report());
      const answer = (await post(ref, 'comments', { body: 'One\r\nTwo' })) as Redirect;
      expect(answer)
        .to.be.instanceOf(Redirect)
        .and.include({ location: `/bugs/${ref}#comments` });
      const { comments } = await fixture.lists.getDetail(ref, MANAGER);
      expect(comments[0]).to.deep.include({ body: 'One\nTwo', author: MEMBER.username });
      expect(await detail(ref)).to.include(`<b>${MEMBER.username}</b> commented`);
    });

    it('records a status change in the history with its reason', async () => {
      const { ref } = await fixture.bugs.record(report());
      const answer = (await post(ref, 'status', { status: 'wont_fix', reason: 'as designed' })) as Redirect;
      const action = { label: 'Undo', post: `/bugs/${ref}/undo` };
      expect(answer.flash).to.deep.equal({ tone: 'success', message: 'Issue marked as won’t fix', action });
      const { item, activity } = await fixture.lists.getDetail(ref, MANAGER);
      expect(item).to.include({ status: 'wont_fix', reason: 'as designed' });
      expect(activity[0]).to.deep.include({ action: 'status', actor: MEMBER.username });
      expect(await detail(ref))
        .to.include('marked this as won’t fix')
        .and.include('as designed');
    });

    it('accepts the version with the fix on resolve', async () => {
      const { ref } = await fixture.bugs.record(report());
      await post(ref, 'status', { status: 'resolved', resolved_in_build: ' 2.4.1 ', reason: '' });
      expect(await shown(fixture, ref)).to.include({ status: 'resolved', resolved_in_build: '2.4.1', reason: null });
    });

    const rejected: [what: string, name: string, body: object, status: number, says: RegExp][] = [
      ['a missing reason', 'status', { status: 'wont_fix' }, 422, /reason/],
      ['a missing target', 'status', { status: 'duplicate' }, 422, /original item/],
      ['an unknown target', 'status', { status: 'duplicate', duplicate_of: 'alpha-99' }, 422, /Item not found/],
      ['in_progress by hand', 'status', { status: 'in_progress' }, 409, /cannot change from open to in progress/],
      ['an unknown status', 'status', { status: 'gone' }, 422, /Choose/],
      ['no status', 'status', {}, 422, /required/],
      ['an unknown severity', 'severity', { severity: 'urgent' }, 422, /Choose/],
      ['an empty comment', 'comments', { body: '  ' }, 422, /must not be empty/],
    ];
    for (const [what, name, body, status, says] of rejected) {
      it(`${what}: returns ${status} with the page and changes nothing`, async () => {
        const { ref } = await fixture.bugs.record(report());
        const before = await shown(fixture, ref);
        const view = (await post(ref, name, { ...body, reason: (body as { reason?: string }).reason ?? '' })) as View;
        expect(view.status).to.equal(status);
        const html = render(view, `/bugs/${ref}/${name}`);
        expect(html).to.match(says).and.include('Nothing was changed');
        expect(html).to.not.include(`href="/bugs/${ref}/${name}`);
        expect(await shown(fixture, ref)).to.deep.equal(before);
      });
    }

    it('requires a reason to override a live lease, and records the override', async () => {
      const { ref } = await fixture.bugs.record(report());
      await fixture.leases.claim(ref, MANAGER, { agent: 'fixer-7' });
      expect(((await post(ref, 'status', { status: 'closed' })) as View).status).to.equal(409);
      expect(((await post(ref, 'status', { status: 'closed', force: 'true' })) as View).status).to.equal(422);
      expect((await shown(fixture, ref)).claim?.agent).to.equal('fixer-7');
      await post(ref, 'status', { status: 'closed', force: 'true', reason: 'done by hand' });
      expect(await shown(fixture, ref)).to.include({ status: 'closed', claim: null });
      expect(await detail(ref))
        .to.include('overrode the lease of fixer-7')
        .and.include('done by hand');
    });

    it('sets and locks the severity, or leaves it to the service', async () => {
      const { ref } = await fixture.bugs.record(report());
      await post(ref, 'severity', { severity: 'critical', severity_locked: 'true' });
      expect(await shown(fixture, ref)).to.include({ severity: 'critical', severity_locked: true });
      await post(ref, 'severity', { severity: 'low' });
      expect(await shown(fixture, ref)).to.include({ severity: 'low', severity_locked: false });
    });

    it('allows members', () => {
      for (const name of ['comments', 'status', 'severity', 'labels', 'assignee', 'merge', 'split']) {
        expect(page(`/bugs/{ref}/${name}`, 'POST').access).to.deep.equal({ session: 'member' });
      }
    });
  });

  describe('bulk changes', () => {
    const send = async (path: string, body: object): Promise<Redirect | View> =>
      (await page(path, 'POST').handle(request(MEMBER, { method: 'POST', body }))) as Redirect | View;
    const requested = async (body: object): Promise<string> =>
      render((await send('/bugs/bulk/confirm', body)) as View, '/bugs/bulk/confirm');

    it('the list submits ids and filters, and the page shows what will change', async () => {
      const one = await fixture.bugs.record(report({ title: 'First' }));
      const two = await fixture.bugs.record(report({ title: HOSTILE }));
      const html = await requested({
        ids: [one.id, two.id, two.id],
        action: 'resolved_in_build',
        match: 'status=open',
      });
      expect(html)
        .to.include('Resolve 2 issues?')
        .and.include('First')
        .and.include('&lt;script&gt;')
        .and.not.include('<script');
      expect(html.match(/name="ids"/g)).to.have.length(2);
      expect(html).to.include('name="expected_count" value="2"').and.include('href="/bugs?status&#x3D;open"');
    });

    it('asks for confirmation only for changes by filter without an undo', async () => {
      const { id, ref } = await fixture.bugs.record(report());
      const closed = (await send('/bugs/bulk/confirm', { ids: id, action: 'status:closed' })) as Redirect;
      expect(closed.flash).to.deep.include({ tone: 'success', message: '1 issue closed' });
      expect(closed.flash?.action).to.include({ label: 'Undo' });
      expect((await shown(fixture, ref)).status).to.equal('closed');
      const form = { scope: 'filter', match: 'status=closed', action: 'status:resolved' };
      expect(await requested(form)).to.include('Resolve 1 issue?');
      expect((await shown(fixture, ref)).status).to.equal('closed');
    });

    it('counts all matching items and submits the count', async () => {
      for (let i = 0; i < 25; i++) await fixture.bugs.record(report({ title: `Item ${i}` }));
      await fixture.bugs.record(report({ title: 'Elsewhere', project: 'beta' }));
      const form = { scope: 'filter', action: 'severity:high', match: 'project=alpha&sort=hit_count' };
      const html = await requested(form);
      expect(html).to.include('Set severity to high for 25 issues?').and.include('5 more issues');
      const done = (await send('/bugs/bulk', { ...form, expected_count: '25' })) as Redirect;
      expect(done.flash).to.deep.equal({ tone: 'success', message: '25 issues set to high' });
      expect(done.location).to.equal('/bugs?project=alpha&sort=hit_count');
      expect(await fixture.deps.items.count({ severity: 'high', project: 'alpha' })).to.equal(25);
      const late = (await send('/bugs/bulk', { ...form, action: 'severity:low', expected_count: '24' })) as View;
      expect(late.status).to.equal(409);
      expect(render(late, '/bugs/bulk')).to.include('The filter matches 25 items').and.include('value="25"');
      expect(await fixture.deps.items.count({ severity: 'low' })).to.equal(0);
    });

    it('lists changed and failed items, with 207', async () => {
      const free = await fixture.bugs.record(report({ title: 'Free' }));
      const held = await fixture.bugs.record(report({ title: 'Held' }));
      await fixture.leases.claim(held.id, MANAGER, { agent: 'fixer-7' });
      const view = (await send('/bugs/bulk', { ids: [free.id, held.id, 'gone'], action: 'status:resolved' })) as View;
      expect(view.status).to.equal(207);
      const html = render(view, '/bugs/bulk');
      expect(html).to.include('1 issue resolved; 2 of 3 failed').and.include('role="status"');
      expect(html).to.include('Another agent').and.include('Retry 2 issues').and.include('value="gone"');
      expect(html.indexOf('Held')).to.be.lessThan(html.indexOf('Free'));
      expect((await shown(fixture, held.ref)).status).to.equal('in_progress');
    });

    const rejected: [what: string, body: object, says: RegExp][] = [
      ['a missing reason', { action: 'status:wont_fix' }, /Required/],
      ['a missing target', { action: 'status:duplicate' }, /Required/],
      ['an override without a reason', { action: 'status:closed', force: 'true' }, /Required/],
      ['too many tags', { action: 'tags', tags: Array.from({ length: 33 }, (_, i) => `t${i}`).join() }, /tags/],
    ];
    for (const [what, body, says] of rejected) {
      it(`${what}: returns 422 with the page and changes nothing`, async () => {
        const { id, ref } = await fixture.bugs.record(report());
        const before = await shown(fixture, ref);
        const view = (await send('/bugs/bulk', { ids: id, ...body })) as View;
        expect(view.status).to.equal(422);
        expect(render(view, '/bugs/bulk')).to.match(says);
        expect(await shown(fixture, ref)).to.deep.equal(before);
      });
    }

    it('replaces tags, and sets and clears the agent', async () => {
      const { id, ref } = await fixture.bugs.record(report({ tags: ['old'] }));
      await send('/bugs/bulk', { ids: id, action: 'tags', tags: ' mail, ui ,mail' });
      await send('/bugs/bulk', { ids: id, action: 'target_agent', target_agent: 'fixer-7' });
      expect(await shown(fixture, ref)).to.deep.include({ tags: ['mail', 'ui'], target_agent: 'fixer-7' });
      await send('/bugs/bulk', { ids: id, action: 'target_agent', target_agent: '' });
      expect(await shown(fixture, ref)).to.include({ target_agent: null });
    });

    const back: [what: string, body: object, says: RegExp][] = [
      ['no action', { ids: 'x', action: '' }, /Choose an action/],
      ['an unknown action', { ids: 'x', action: 'status:in_progress' }, /Choose an action/],
      ['nothing selected', { action: 'status:closed' }, /Select issues first/],
      [
        'too many',
        { ids: Array.from({ length: 201 }, (_, i) => `i${i}`), action: 'status:closed' },
        /Select at most 200/,
      ],
      ['what is gone', { ids: 'gone', action: 'status:closed' }, /no longer exist/],
    ];
    for (const [what, body, says] of back) {
      it(`${what} redirects to the list, with the reason`, async () => {
        const answer = (await send('/bugs/bulk/confirm', { ...body, match: 'status=open' })) as Redirect;
        expect(answer.location).to.equal('/bugs?status=open');
        expect(answer.flash?.message).to.match(says);
      });
    }

    it('never redirects elsewhere than to the list', async () => {
      const answer = (await send('/bugs/bulk/confirm', {
        match: '//evil.example/?status=open',
        action: '',
      })) as Redirect;
      expect(answer.location).to.equal('/bugs');
    });
  });

  describe('saved views', () => {
    const send = async (path: string, body: object, params: Record<string, string> = {}): Promise<Redirect> =>
      (await page(path, 'POST').handle(request(MEMBER, { method: 'POST', body, params }))) as Redirect;

    it('store filters and order under a name, appear next to the quick views, and can be deleted', async () => {
      const match = 'severity=high&severity=critical&sort=hit_count';
      const saved = await send('/bugs/views', { name: 'Grave <b>', match, audience: 'everybody' });
      expect(saved.flash?.message).to.include('Grave <b>').and.include('for everyone');
      const html = await list({ severity: ['critical', 'high'], sort: 'hit_count' });
      expect(html)
        .to.include('Grave &lt;b&gt;')
        .and.match(/href="[^"]*severity[^"]*" aria-current="page"\s+title="Saved view, shared/);
      const [view] = await fixture.views.list({ id: `user:${MEMBER.account_id}`, name: MEMBER.username, admin: false });
      const gone = await send('/bugs/views/{id}/delete', { match }, { id: view?.id ?? '' });
      expect(gone.location).to.include('/bugs?severity=critical');
      expect(await list()).to.not.include('Grave');
    });

    it('of a project appear only in its lists, and cannot be saved for a missing project', async () => {
      const views = '/bugs/views';
      const saved = await send(views, { name: 'Alpha only', match: 'severity=high', audience: 'project:alpha' });
      expect(saved.flash?.message).to.equal('View “Alpha only” saved for everyone in alpha');
      const tab = /class="nav-item saved-view">[^]*?Alpha only/;
      expect(await list({ project: ['alpha'] })).to.match(tab);
      const elsewhere = await list({ project: ['beta'] });
      expect(elsewhere).to.not.match(tab);
      expect(elsewhere, 'the menu of views').to.include('Alpha only');
      const rejected = (await send(views, { name: 'X', match: '', audience: 'project:gone' })) as unknown as View;
      expect(rejected.status).to.equal(422);
      expect(render(rejected, views)).to.include('Project not found.');
    });

    it('without a name are rejected with a message', async () => {
      const answer = (await send('/bugs/views', {
        name: '  ',
        audience: 'everybody',
        match: 'status=open',
      })) as unknown as View;
      expect(answer.status).to.equal(422);
      const html = render(answer, '/bugs/views');
      expect(html)
        .to.match(/<details class="dropdown" data-menu open>/)
        .and.match(/id="view-name"[^>]*aria-invalid="true"/);
      expect(html).to.include('Required').and.include('<option value="everybody" selected>');
      expect(await list()).to.not.include('tab-saved');
    });
  });

  describe('merge and split', () => {
    it('finds targets of the same project by ref, title or class, and never duplicates or itself', async () => {
      const { ref } = await fixture.bugs.record(
        errorReport({ title: 'Cart is empty', error_message: 'cart is empty' }),
      );
      const other = await fixture.bugs.record(report({ title: 'Empty cart again' }));
      await fixture.bugs.record(report({ title: 'Empty cart elsewhere', project: 'beta' }));
      const html = await detail(ref, { find: 'EMPTY CART' });
      expect(html).to.include('Empty cart again').and.not.include('elsewhere');
      expect(await detail(ref, { find: other.ref })).to.include(`value="${other.ref}"`);
      expect(await detail(ref, { find: ref })).to.not.include(`name="into" value="${ref}"`);
      expect(await detail(ref, { find: 'nothing like it' })).to.include('No issues match');
    });

    it('merges and splits, with links and history on both items', async () => {
      const one = await fixture.bugs.record(report({ title: 'One' }));
      const two = await fixture.bugs.record(report({ title: 'Two' }));
      expect(((await post(one.ref, 'merge', { into: '' })) as View).status).to.equal(422);
      expect(((await post(one.ref, 'merge', { into: one.ref })) as View).status).to.equal(422);
      await post(one.ref, 'merge', { into: two.ref });
      await settled(fixture);
      expect(await detail(one.ref)).to.match(new RegExp(`Duplicate of <a href="/bugs/${two.ref}">`));
      const html = await detail(two.ref);
      expect(html).to.include('Duplicates').and.include(`action="/bugs/${one.ref}/split"`);
      expect(html).to.include(`merged into this: <a href="/bugs/${one.ref}">`);
      const back = (await post(one.ref, 'split', { back: two.ref })) as Redirect;
      expect(back.location).to.equal(`/bugs/${two.ref}`);
      expect(((await post(one.ref, 'split', { back: '//evil.example' })) as View).status).to.equal(409);
      expect(await shown(fixture, one.ref)).to.include({ status: 'open', duplicate_of: null });
    });

    it('assigns the item to a user and back, also while an agent holds it', async () => {
      const { ref } = await fixture.bugs.record(report());
      await fixture.leases.claim(ref, MANAGER, { agent: 'a' });
      expect(await detail(ref)).to.include('Assign to me');
      const taken = (await post(ref, 'assignee', { take: 'true' })) as Redirect;
      expect(taken.flash?.message).to.equal('Issue assigned to you');
      expect(await shown(fixture, ref)).to.include({ assignee: MEMBER.username, status: 'in_progress' });
      expect(await detail(ref))
        .to.include('Unassign')
        .and.match(/\/bugs\?assignee(?:=|&#x3D;)member/);
      await post(ref, 'assignee', { take: 'false' });
      expect(await shown(fixture, ref)).to.include({ assignee: null });
    });

    it('assigns one or many items to any account, and rejects a non-existent name', async () => {
      const { ref } = await fixture.bugs.record(report());
      const html = await detail(ref);
      expect(html).to.include('<option value="alice">').and.include('aria-keyshortcuts="a"');
      const given = (await post(ref, 'assignee', { assignee: ' Alice ' })) as Redirect;
      expect(given.flash?.message).to.equal('Issue assigned to alice');
      expect(await shown(fixture, ref)).to.include({ assignee: 'alice' });
      const rejected = (await post(ref, 'assignee', { assignee: 'nobody' })) as View;
      expect(rejected.status).to.equal(422);
      expect(rejected.context['errors']).to.have.property('assignee');
      expect(render(rejected, `/bugs/${ref}`, {})).to.include('<details class="dropdown" data-menu id="assign" open>');
      const nobody = (await post(ref, 'assignee', { assignee: '' })) as Redirect;
      expect(nobody.flash?.message).to.equal('Issue unassigned');
      const { id } = await shown(fixture, ref);
      await page('/bugs/bulk', 'POST').handle(
        request(MEMBER, { method: 'POST', body: { ids: id, action: 'assignee', assignee: 'bob' } }),
      );
      expect(await shown(fixture, ref)).to.include({ assignee: 'bob' });
    });

    it('edits severity and tags in place; the status precedes the chart', async () => {
      const { ref } = await fixture.bugs.record(errorReport({ tags: ['old'], target_agent: 'fixer-7' }));
      const html = await detail(ref);
      expect(html).to.include('<button class="dropdown-item" type="submit" name="severity" value="critical">');
      expect(html.indexOf('id="move"')).to.be.within(1, html.indexOf('class="event-chart"'));
      await post(ref, 'severity', { severity: 'critical', severity_locked: 'true' });
      await post(ref, 'labels', { tags: 'new', target_agent: 'fixer-7' });
      expect(await shown(fixture, ref)).to.deep.include({
        severity: 'critical',
        severity_locked: true,
        tags: ['new'],
        target_agent: 'fixer-7',
      });
      await fixture.leases.claim(ref, MANAGER, { agent: 'fixer-7' });
      expect(await detail(ref))
        .to.include('id="severity-reason"')
        .and.include('Interrupts fixer-7');
    });

    it('lets a user hold the item with a reason, and resume it', async () => {
      const { ref } = await fixture.bugs.record(report());
      await fixture.leases.claim(ref, MANAGER, { agent: 'a' });
      expect(await detail(ref))
        .to.include(`action="/bugs/${ref}/hold"`)
        .and.include('name="hold" value="true"');
      const rejected = (await post(ref, 'hold', { hold: 'true' })) as View;
      expect(rejected.status).to.equal(422);
      expect(await shown(fixture, ref)).to.include({ hold: false, status: 'in_progress' });
      const held = (await post(ref, 'hold', { hold: 'true', reason: 'wait for <legal>' })) as Redirect;
      expect(held.flash?.message).to.equal('Agents paused');
      expect(await shown(fixture, ref)).to.include({ hold: true, hold_reason: 'wait for <legal>', status: 'open' });
      expect(await detail(ref))
        .to.include('Resume agents')
        .and.include('wait for &lt;legal&gt;')
        .and.not.include('name="hold" value="true"');
      await post(ref, 'hold', { hold: 'false' });
      expect(await shown(fixture, ref)).to.include({ hold: false, hold_reason: null });
    });

    for (const [pr_state, after] of [
      ['merged', { status: 'resolved', review: 'merged' }],
      ['closed', { status: 'open', review: 'closed' }],
    ] as const)
      it(`lets a user set the pull request of an item in review to ${pr_state}`, async () => {
        const { ref } = await fixture.bugs.record(report());
        await fixture.edits.edit(ref, MANAGER, { status: 'resolved', pr_url: 'https://git.example.org/shop/pull/1' });
        expect(await detail(ref))
          .to.include(`action="/bugs/${ref}/review"`)
          .and.include('Awaiting merge');
        await post(ref, 'review', { pr_state });
        expect(await shown(fixture, ref)).to.include(after);
        expect(await detail(ref)).to.not.include(`/bugs/${ref}/review`);
      });

    it('saves tags and agent', async () => {
      const { ref } = await fixture.bugs.record(report({ tags: ['a'] }));
      await post(ref, 'labels', { tags: 'b, c', target_agent: ' fixer-7 ' });
      expect(await shown(fixture, ref)).to.deep.include({ tags: ['b', 'c'], target_agent: 'fixer-7' });
      const html = await detail(ref);
      expect(html).to.include('value="b, c"').and.include('{&quot;agent&quot;:&quot;fixer-7&quot;}');
    });
  });

  describe('live updates of a list', () => {
    const live = async (query: object): Promise<{ mark: string; rows: Record<string, unknown>[] }> =>
      ((await page('/bugs/live').handle(request(MEMBER, { query: query as never }))) as Reply).body as never;

    it('returns items updated since a mark, and whether they still match the filters', async () => {
      const one = await fixture.bugs.record(errorReport());
      fixture.clock.advance(60_000);
      const { mark } = await live({ since: fixture.clock.iso(), status: ['open'] });
      expect(Date.parse(mark)).to.be.at.most(fixture.clock.now());
      fixture.clock.advance(60_000);
      await fixture.bugs.record(errorReport());
      const two = await fixture.bugs.record(report({ title: 'New' }));
      await fixture.edits.edit(one.id, MANAGER, { status: 'wont_fix', reason: 'x' });
      await settled(fixture);
      const { rows } = await live({ since: mark, status: ['open'] });
      expect(rows.find(({ ref }) => ref === one.ref)).to.include({ fits: false, hit_count: 2, status: 'wont_fix' });
      expect(rows.find(({ ref }) => ref === two.ref)).to.include({ fits: true, hit_count: 1 });
      expect((await live({ since: mark, project: ['beta'] })).rows).to.deep.equal([]);
      expect(page('/bugs/live').input?.query?.validate({ since: 'yesterday' }).error).to.not.equal(undefined);
    });

    it('returns at most a hundred items, and continues from the mark', async () => {
      const since = fixture.clock.iso();
      for (let i = 0; i < 103; i++) {
        await fixture.bugs.record(report({ title: `Item ${i}` }));
        fixture.clock.advance(1000);
      }
      const first = await live({ since });
      expect(first.rows).to.have.length(100);
      const rest = await live({ since: first.mark });
      expect(rest.rows.map(({ ref }) => ref)).to.include('alpha-103');
    });
  });

  it('retains daily counts longer than hourly ones, and shows both on the page', async () => {
    const { id, ref } = await fixture.bugs.record(errorReport());
    for (let day = 0; day < 20; day++) {
      for (let hour = 0; hour < 24; hour++) {
        fixture.clock.advance(3_600_000);
        await fixture.bugs.record(errorReport());
      }
    }
    await settled(fixture);
    const doc = await fixture.deps.items.get(id);
    expect(doc === null ? [] : fixture.board.listDailyCounts(doc).reduce((a, b) => a + b, 0)).to.equal(481);
    expect(Object.keys(doc?.hours ?? {})).to.have.length.below(80);
    expect(await detail(ref))
      .to.include('aria-label="Events per day"')
      .and.match(/aria-label="[^"]+: 24 events"/);
  });

  describe('dashboard card', () => {
    const load = async (): Promise<string | null> => {
      const view = await buildBugPanels(
        fixture.board,
        new MonthlyStatsCache(fixture.stats, fixture.clock),
        fixture.deps.projects,
      )[0]?.load(MEMBER);
      return view ? render(view, '/') : null;
    };

    it('is hidden when nothing is critical or regressed', async () => {
      await fixture.bugs.record(report({ severity: 'high' }));
      expect(await load()).to.equal(null);
    });

    it('shows critical items with their holder, regressions of any severity, and new items', async () => {
      await fixture.bugs.record(report({ title: 'Down', severity: 'critical' }));
      const held = await fixture.bugs.record(report({ title: 'Held', severity: 'critical' }));
      await fixture.leases.claim(held.id, MANAGER, {});
      const back = await fixture.bugs.record(errorReport({ severity: 'low', error_level: 'warning' }));
      await fixture.edits.edit(back.id, MANAGER, { status: 'resolved' });
      fixture.clock.advance(120_000);
      await fixture.bugs.record(errorReport({ severity: 'low', error_level: 'warning' }));
      const html = await load();
      expect(html).to.include('Down').and.include('cart is empty').and.include('Regression').and.include('2 open');
      expect(html).to.include('Held').and.include('In progress').and.include('3 new issues since yesterday');
    });

    it('shows the chosen project alone', async () => {
      await fixture.bugs.record(report({ title: 'Down', severity: 'critical' }));
      const own = await fixture.board.getAttention(6, 'alpha');
      expect([own.total, own.fresh, own.concerns.length]).to.deep.equal([1, 1, 1]);
      const other = await fixture.board.getAttention(6, 'beta');
      expect([other.total, other.fresh, other.concerns.length]).to.deep.equal([0, 0, 0]);
    });

    it('includes old, frequent items behind very many newer ones', async () => {
      const old = await fixture.bugs.record(report({ title: 'Old and loud', severity: 'critical' }));
      fixture.clock.advance(60_000);
      const letters = (n: number): string => String.fromCodePoint(97 + Math.floor(n / 26), 97 + (n % 26));
      for (let i = 0; i < 620; i++)
        await fixture.bugs.record(report({ title: `Newer ${letters(i)}`, severity: 'critical' }));
      for (let i = 0; i < 3; i++) {
        fixture.clock.advance(60_000);
        await fixture.bugs.record(report({ title: 'Old and loud', severity: 'critical' }));
      }
      await settled(fixture);
      const { concerns, total } = await fixture.board.getAttention(2);
      expect(total).to.equal(621);
      expect(concerns[0]).to.deep.include({ hits: 4, alike: 1 });
      expect(concerns[0]?.item.ref).to.equal(old.ref);
    });

    it('includes an old, quiet critical item behind more items of other classes than are read', async () => {
      const old = await fixture.bugs.record(report({ title: 'Old and quiet', severity: 'critical' }));
      fixture.clock.advance(60_000);
      const letters = (n: number): string =>
        String.fromCodePoint(97 + Math.floor(n / 676), 97 + (Math.floor(n / 26) % 26), 97 + (n % 26));
      const flood = Array.from({ length: 1_010 }, (_, i) =>
        errorReport({ error_message: `Flood ${letters(i)}`, exception_class: 'Flood', severity: 'critical' }),
      );
      for (const one of flood) await fixture.bugs.record(one);
      await settled(fixture);
      const { concerns, total } = await fixture.board.getAttention(8);
      expect(total).to.equal(1_011);
      expect(concerns.map(({ item }) => item.ref)).to.include(old.ref);
    });
  });

  it('shows an unregistered history action by its identifier', () => {
    const line = toHistoryLine({ id: '1', at: 'x', action: 'folded_up', actor: 'eve', data: {} });
    expect(line).to.include({ text: 'folded up', actor: 'eve', reason: null });
  });
});
