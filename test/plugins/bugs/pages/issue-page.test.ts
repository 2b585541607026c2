/**
 * What the page of an issue and the list say and do: one chart by the time of occurrence, mutes of
 * one issue, agents by their own names, the release that an issue started with, and exports.
 */
import { expect } from 'chai';
import type { PageSpec, Redirect, Reply, View } from '../../../../kernel/contract/index.js';
import { MonthlyStatsCache } from '../../../../plugins/bugs/pages/shared/monthly-stats.js';
import { buildBugPages } from '../../../../plugins/bugs/pages/pages.js';
import type { AgentOffer, ReleaseLinkProvider } from '../../../../ports/domain/item-facts.js';
import type { SessionPrincipal } from '../../../../ports/http/index.js';
import { request, session } from '../../health/fakes.js';
import { renderFile } from '../../../web/templates.js';
import { codeOf, errorReport, MANAGER, memoryFixture, report, settled, shown, type Fixture } from '../fixture.js';

const MEMBER = session('member') as SessionPrincipal;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Asked {
  query?: Record<string, unknown>;
  ref?: string;
  body?: object;
}

describe('bugs: page of an issue', () => {
  let fixture: Fixture;
  let specs: PageSpec[];
  let offer: AgentOffer | null;
  let links: Awaited<ReturnType<ReleaseLinkProvider['findLinks']>>;

  beforeEach(async () => {
    fixture = await memoryFixture();
    offer = null;
    links = null;
    specs = buildBugPages({
      services: fixture,
      deps: fixture.deps,
      numbers: new MonthlyStatsCache(fixture.stats, fixture.clock),
      actions: () => [],
      facts: () => [],
      agents: () => [{ getOffer: async () => offer }],
      releases: () => [{ findLinks: async () => links }],
      baseUrl: () => 'http://aos.test',
      timezone: () => 'Europe/Berlin',
    });
  });

  async function ask(method: string, path: string, { query = {}, ref, body }: Asked = {}) {
    const spec = specs.find((one) => one.path === path && (one.method ?? 'GET') === method);
    if (!spec) throw new Error(`no page ${method} ${path}`);
    const { value, error } = spec.input?.query?.validate(query) ?? { value: query };
    if (error) throw error;
    const params: Record<string, string> = ref === undefined ? {} : { ref };
    return spec.handle(request(MEMBER, { method, params, query: value as object as never, body, headers: {} }));
  }
  const html = (view: View, path: string): string =>
    renderFile(`plugins/bugs/views/${view.template}.hbs`, { path, csrf_token: 'token', ...view.context });
  const detail = async (ref: string, query: Record<string, unknown> = {}): Promise<string> =>
    html((await ask('GET', '/bugs/{ref}', { ref, query })) as View, `/bugs/${ref}`);
  const list = async (query: Record<string, unknown> = {}): Promise<string> =>
    html((await ask('GET', '/bugs', { query })) as View, '/bugs');
  const refs = (text: string): string[] => [...text.matchAll(/<tr data-ref="([^"]+)"/g)].map(([, ref]) => ref ?? '');

  describe('chart', () => {
    const bars = (text: string): number[] =>
      [...text.matchAll(/class="event-value"[^>]*>(?:[^<]*: )?(\d+) events?</g)].map(([, n]) => Number(n));

    it('counts a late report when it occurred, not when it arrived', async () => {
      const now = fixture.clock.now();
      const occurred_at = new Date(now - 14 * HOUR_MS).toISOString();
      const { ref } = await fixture.bugs.record(errorReport({ occurred_at }));
      await fixture.bugs.record(errorReport({ occurred_at: new Date(now - 20 * DAY_MS).toISOString() }));
      await fixture.bugs.record(errorReport({ occurred_at: new Date(now - 400 * DAY_MS).toISOString() }));
      const hours = bars(await detail(ref, { range: '24h' }));
      expect(hours).to.have.length(24);
      expect(hours.indexOf(1)).to.equal(9);
      expect(hours.reduce((a, b) => a + b, 0)).to.equal(1);
      const days = bars(await detail(ref));
      expect(days).to.have.length(30);
      expect(days.indexOf(1)).to.equal(9);
      expect(days.reduce((a, b) => a + b, 0)).to.equal(2);
      expect(bars(await detail(ref, { range: '7d' }))).to.have.length(7);
    });

    it('narrows the events to an hour or a day by a link of its column', async () => {
      const now = fixture.clock.now();
      const at = (ms: number): string => new Date(now - ms).toISOString();
      const { ref } = await fixture.bugs.record(errorReport({ occurred_at: at(3 * HOUR_MS), host: 'web-1' }));
      await fixture.bugs.record(errorReport({ occurred_at: at(0), host: 'web-2' }));
      await settled(fixture);
      const text = await detail(ref, { range: '24h' });
      expect(text).to.include('title="Host">web-2<').and.include('Event 1 of 2');
      const hour = at(3 * HOUR_MS).slice(0, 13);
      expect(text.replaceAll('&#x3D;', '=')).to.include(`href="/bugs/${ref}?at=${hour}&amp;range=24h#occurrences"`);
      const narrowed = await detail(ref, { range: '24h', at: [hour] });
      expect(narrowed).to.include('title="Host">web-1<').and.include('Event 1 of 1').and.include('Show all');
      expect(await detail(ref, { at: ['2001-01-01'] })).to.include('No matching events.');
    });
  });

  describe('range of the chart', () => {
    const days = (n: number): string => new Date(fixture.clock.now() - n * DAY_MS).toISOString();
    const day = (n: number): string => days(n).slice(0, 10);
    let ref: string;
    beforeEach(async () => {
      for (const [n, host] of [
        [9, 'web-9'],
        [6, 'web-6'],
        [5, 'web-5'],
        [1, 'web-1'],
      ] as const)
        ({ ref } = await fixture.bugs.record(errorReport({ occurred_at: days(n), host })));
      await settled(fixture);
    });
    const chosen = (text: string): number => text.match(/chart-bar is-chosen/g)?.length ?? 0;

    for (const [name, from, to, events, columns] of [
      ['both ends included', 6, 5, 2, 2],
      ['a single day', 5, 5, 1, 1],
      ['only a start', 6, null, 3, 3],
      ['only an end', null, 6, 2, 2],
      ['no events', 4, 3, 0, 0],
    ] as const)
      it(`filters the events of ${name}`, async () => {
        const toValue = (n: number | null): string[] => [n === null ? '' : day(n)];
        const text = await detail(ref, { from: toValue(from), to: toValue(to) });
        expect(text)
          .to.include(events === 0 ? 'No matching events.' : `Event 1 of ${events}`)
          .and.include('Show all');
        expect(chosen(text)).to.equal(columns);
      });

    it('filters the events of hours', async () => {
      const text = await detail(ref, { from: [`${day(6)}T00`], to: [`${day(5)}T23`] });
      expect(text).to.include('Event 1 of 2');
    });

    it('keeps the other filters and the range of the chart in the form and in the brush', async () => {
      const text = await detail(ref, { host: ['web-1'], range: '7d', from: [day(6)] });
      expect(text).to.include('<input type="hidden" name="host" value="web-1">');
      expect(text)
        .to.include('<input type="hidden" name="range" value="7d">')
        .and.not.include('type="hidden" name="from"');
      expect(text).to.match(new RegExp(`id="events-from" name="from" type="date" value="${day(6)}"`));
      const brush = /data-brush="([^"]+)"/.exec(text)?.[1]?.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&');
      expect(brush).to.equal(`/bugs/${ref}?host=web-1&from=BRUSH_FROM&to=BRUSH_TO&range=7d#occurrences`);
      expect(/data-begins="([^"]+)"/.exec(text)?.[1]?.split(' '))
        .to.have.length(7)
        .and.include(day(6));
    });
  });

  describe('mute', () => {
    const mute = async (ref: string, more: object = {}): Promise<Redirect> =>
      (await ask('POST', '/bugs/mute', { body: { like: ref, expires: '7', ...more } })) as Redirect;

    it('mutes one issue until a day, stays in the list, and can be undone', async () => {
      const one = await fixture.bugs.record(errorReport({ title: 'E: cart 1', exception_class: 'E' }));
      const twin = await fixture.bugs.record(errorReport({ title: 'E: cart 1', exception_class: 'F' }));
      const done = await mute(one.ref, { back: '/errors?q=cart', reason: 'the sale' });
      expect(done).to.include({ location: '/errors?q=cart' });
      expect(done.flash?.message).to.match(/^Muted until \d+ \w+$/);
      expect(done.flash?.action).to.deep.equal({
        label: 'Undo',
        post: `/bugs/${one.ref}/unmute?back=%2Ferrors%3Fq%3Dcart`,
      });
      expect(await shown(fixture, one.ref)).to.include({
        muted: true,
        muted_reason: 'the sale',
        muted_by_rule_id: null,
      });
      expect((await shown(fixture, twin.ref)).muted).to.equal(false);
      const text = await detail(one.ref);
      expect(text)
        .to.match(/Muted until <time/)
        .and.include('the sale')
        .and.include(`action="/bugs/${one.ref}/unmute"`);
      const muted = await list({ muted: [true] });
      expect(refs(muted)).to.deep.equal([one.ref]);
      expect(muted)
        .to.match(/Muted until <time/)
        .and.include(`formaction="/bugs/${one.ref}/unmute?back=`);
      await ask('POST', '/bugs/{ref}/unmute', { ref: one.ref, query: { back: '//evil.example' } });
      expect((await shown(fixture, one.ref)).muted).to.equal(false);
      expect(await detail(one.ref)).to.include('unmuted this');
    });

    it('holds through further events and matching rules, and ends at its time', async () => {
      const { ref } = await fixture.bugs.record(errorReport());
      await mute(ref, { expires: '1' });
      await fixture.bugs.record(errorReport());
      await fixture.bugs.record(errorReport({ muted_by: { rule_id: 'r-1', reason: 'noise' } }));
      expect(await shown(fixture, ref)).to.include({ muted: true, muted_by_rule_id: null, hit_count: 3 });
      fixture.clock.advance(DAY_MS + 1);
      await fixture.jobs.sweep();
      expect(await shown(fixture, ref)).to.include({ muted: false, muted_reason: null });
    });

    it('ends by the first event after its time, before the job', async () => {
      const { ref } = await fixture.bugs.record(report({ title: 'Repeated' }));
      await mute(ref);
      await ask('POST', '/bugs/{ref}/unmute', { ref });
      const error = await fixture.bugs.record(errorReport());
      await mute(error.ref, { expires: '1' });
      fixture.clock.advance(2 * DAY_MS);
      await fixture.bugs.record(errorReport({ muted_by: { rule_id: 'r-1', reason: 'noise' } }));
      expect(await shown(fixture, error.ref)).to.include({ muted: true, muted_by_rule_id: 'r-1' });
    });

    it('leaves an issue that a rule mutes to the rule, and rejects unknown times', async () => {
      const muted_by = { rule_id: 'r-1', reason: 'noise' };
      const { ref } = await fixture.bugs.record(errorReport({ muted_by }));
      expect(await codeOf(Promise.resolve(ask('POST', '/bugs/{ref}/unmute', { ref })))).to.equal('conflict');
      expect(await codeOf(mute(ref, { expires: '9999' }))).to.equal('validation_failed');
      expect(await codeOf(mute('alpha-99'))).to.equal('not_found');
    });
  });

  describe('agents', () => {
    const offered = { path: '/bugs/alpha-1/request', setupPath: '/webhooks/new', current: null };

    it('offers known agents, or the one link that connects the first', async () => {
      const { ref } = await fixture.bugs.record(report());
      offer = { ...offered, agents: ['fixer-7', 'night-shift'], isListening: true };
      expect(await detail(ref))
        .to.include('name="agent" value="fixer-7"')
        .and.include('value="night-shift"')
        .and.include('action="/bugs/alpha-1/request"');
      offer = { ...offered, agents: ['fixer-7'], isListening: false };
      expect(await detail(ref))
        .to.include('No agent is listening. <a href="/webhooks/new">Connect one</a>')
        .and.not.include('action="/bugs/alpha-1/request"');
    });

    it('says in the header that an agent was requested', async () => {
      const { ref } = await fixture.bugs.record(report());
      const current = { agent: 'fixer-7', requested_at: fixture.clock.iso(), state: 'pending' as const };
      offer = { ...offered, agents: [], isListening: true, current };
      expect(await detail(ref)).to.include('Assigned to fixer-7, request pending');
      await fixture.leases.claim(ref, MANAGER, { agent: 'fixer-7' });
      expect(await detail(ref))
        .to.include('fixer-7 is working on this')
        .and.not.include('request pending');
    });

    it('names the agent in every row, also of two agents with one token and long after the claim', async () => {
      const { ref } = await fixture.bugs.record(report());
      const claim = async (agent: string): Promise<string> =>
        (await fixture.leases.claim(ref, MANAGER, { agent })).lease.claim_token;
      const first = await claim('fixer-7');
      await fixture.comments.add(ref, MANAGER, { body: 'From seven' });
      await fixture.leases.release(ref, MANAGER, { claim_token: first });
      const second = await claim('fixer-8');
      for (let i = 0; i < 60; i++) await fixture.comments.add(ref, MANAGER, { body: `Note ${i}` });
      await fixture.edits.edit(ref, MANAGER, { status: 'resolved', claim_token: second });
      await settled(fixture);
      const text = await detail(ref);
      expect(text).to.include('<b>fixer-8</b> resolved this').and.not.include(`<b>${MANAGER.name}</b>`);
      expect(text.match(/<b>fixer-8<\/b> commented/g)?.length).to.be.greaterThan(40);
      const cursor = /\?activity(?:=|&#x3D;)([^"#]+)#activity/.exec(text)?.[1] ?? '';
      const earlier = await detail(ref, { activity: decodeURIComponent(cursor) });
      expect(earlier).to.include('<b>fixer-7</b> commented').and.include('<b>fixer-7</b> claimed this');
      expect(earlier).to.not.include(`<b>${MANAGER.name}</b>`);
      const { items } = await fixture.parts.listPart((await shown(fixture, ref)).id, 'comments', { limit: 1 });
      expect(items[0]).to.include({ author: MANAGER.name, agent: 'fixer-8' });
    });
  });

  describe('release', () => {
    it('says what the issue started with, with links to the release, its rollout and its commits', async () => {
      await fixture.published('2.1.1');
      fixture.clock.advance(DAY_MS);
      await fixture.published('2.2.0');
      const commit = { id: 'ab'.repeat(20), author_name: null, timestamp: null, message: 'Rework', files: [] };
      await fixture.history.save('alpha', '2.2.0', { range: null, commits: [commit], truncated: false });
      links = { href: '/releases/r1', halt_href: '/releases/r1#reason-halt' };
      const { ref } = await fixture.bugs.record(errorReport({ app_version: '2.2.0' }));
      const text = await detail(ref);
      expect(text).to.match(/Started with <b[^>]*>\w+ 2\.2\.0<\/b>, at its publish/);
      expect(text).to.include('<a href="/releases/r1">Release</a>').and.include('#reason-halt">Halt rollout</a>');
      expect(text).to.include('<a href="#commits">Compare 2.1.1…2.2.0</a>').and.include('id="commits"');
      links = null;
      const bare = await detail(ref);
      expect(bare).to.include('Started with').and.not.include('Halt rollout');
    });

    it('says the message once above the activity', async () => {
      const stack_trace = 'E: no price for this\n    at total (src/total.ts:4:2)';
      const { ref } = await fixture.bugs.record(
        errorReport({ title: 'E: no price for this', error_message: 'no price for this', stack_trace }),
      );
      const text = await detail(ref);
      const above = text
        .slice(0, text.indexOf('id="activity"'))
        .replace(/<details class="raw-trace">.*?<\/details>/s, '');
      expect(above.match(/no price for this/g)).to.have.length(1);
    });
  });

  describe('list', () => {
    it('has the tabs of one list, and keeps the kind in its views', async () => {
      await fixture.bugs.record(report({ title: 'A bug' }));
      await fixture.bugs.record(report({ type: 'feature', title: 'A wish' }));
      await fixture.bugs.record(errorReport());
      expect(await list())
        .to.match(/href="\/bugs" aria-current="page">All/)
        .and.include('href="/errors"');
      const features = await list({ kind: ['feature'], status: ['open'], muted: [false] });
      expect(refs(features)).to.have.length(1);
      expect(features)
        .to.include('A wish')
        .and.match(/aria-current="page">Features/);
      expect(features).to.match(/href="\/bugs\?[^"]*regression[^"]*type[^"]*feature[^"]*"[^>]*>Regressed/);
    });

    it('draws a trend only where it says more than the count', async () => {
      await fixture.bugs.record(errorReport());
      expect(await list()).to.not.include('class="spark"');
      fixture.clock.advance(HOUR_MS);
      await fixture.bugs.record(errorReport());
      expect(await list()).to.include('class="spark"');
    });

    it('exports all pages of the filtered list as CSV, without formulas', async () => {
      for (let i = 0; i < 210; i++) await fixture.bugs.record(report({ title: `Bug ${i}`, tags: ['a', 'b'] }));
      await fixture.bugs.record(report({ title: '=1+1', project: 'beta' }));
      expect(await list()).to.match(/href="\/bugs\?format(?:=|&#x3D;)csv"/);
      const reply = (await ask('GET', '/bugs', { query: { project: ['alpha'], format: 'csv' } })) as Reply;
      expect(reply.headers).to.deep.include({
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': 'attachment; filename="issues.csv"',
      });
      const lines = (reply.body as string).trimEnd().split('\r\n');
      expect(lines[0]).to.match(/^ref,type,project,title,/);
      expect(lines).to.have.length(211);
      expect(lines[1]).to.match(/,a b$/);
      const beta = (await ask('GET', '/bugs', { query: { project: ['beta'], format: 'csv' } })) as Reply;
      expect(beta.body).to.include("'=1+1");
    });
  });
});
