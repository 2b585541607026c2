/**
 * The watchdog's pages over the real HTTP adapter (contract 80): what a person sees first, and what
 * a stranger sees.
 */
import { expect } from 'chai';
import dashboard from '../../../../plugins/dashboard/plugin.js';
import type { MonitorDoc } from '../../../../plugins/watchdog/model/documents.js';
import { MonitorChangeSet } from '../../../../plugins/watchdog/model/monitor-change-set.js';
import { createMonitor } from '../../../../plugins/watchdog/model/monitor-view.js';
import watchdog from '../../../../plugins/watchdog/plugin.js';
import { ids } from '../../access/fixture.js';
import { HttpFixture, type Answer } from '../../access/http-fixture.js';
import { HOUR, MINUTE } from '../fixture.js';

const BASE = '/api/watchdog/v1';

describe('watchdog pages', function () {
  let fixture: HttpFixture;
  let ping: string;

  beforeEach(async () => {
    fixture = await HttpFixture.open({ plugins: [dashboard, watchdog] });
    ping = await fixture.token(['watchdog:ping', 'watchdog:manage']);
  });
  afterEach(() => fixture.stop());

  const beat = (body: object): Promise<Answer> => fixture.api('POST', `${BASE}/ping`, ping, body);
  const change = (source: string, body: object): Promise<Answer> =>
    fixture.api('PATCH', `${BASE}/monitors/${encodeURIComponent(source)}`, ping, body);
  /** As the evaluator leaves it. */
  const fell = async (source: string, more: Partial<MonitorDoc> = {}): Promise<void> => {
    const monitors = fixture.harness.store.collection<MonitorDoc>('watchdog_monitors');
    const doc = await monitors.get(await idOf(source));
    if (doc === null) throw new Error(`no ${source}`);
    const now = fixture.clock.now();
    const changed = new MonitorChangeSet(doc, ids, now).setDown(now, 'No heartbeat').assign(more);
    await monitors.change({ id: doc.id }, changed.toUpdate());
  };
  const idOf = async (source: string): Promise<string> => {
    const { json } = await fixture.api('GET', `${BASE}/monitors/${encodeURIComponent(source)}`, ping);
    return (json['monitor'] as { id: string }).id;
  };
  const project = async (slug: string, name: string): Promise<void> => {
    const token = await fixture.token(['projects:manage']);
    const made = await fixture.api('POST', '/api/projects/v1/projects', token, { slug, name });
    expect(made.status).to.equal(201);
  };
  const fill = async (states: readonly MonitorDoc['state'][]): Promise<void> => {
    const monitors = fixture.harness.store.collection<MonitorDoc>('watchdog_monitors');
    const docs = states.map((state, i): MonitorDoc => {
      const fresh = createMonitor({ source: `m-${String(i).padStart(3, '0')}` }, ids, fixture.clock.now());
      return { ...fresh, state };
    });
    await monitors.bulk(docs.map((insert) => ({ insert })));
  };
  const hrefs = (page: Answer): string[] =>
    [...page.text.matchAll(/class="cell-main">\s*<a href="\/monitors\/([^"]+)"/g)].map(
      ([, source]) => source as string,
    );

  describe('/monitors', () => {
    it('lists the worst first, each once across pages, and states when no more follow', async () => {
      const states = (['up', 'down', 'stopped', 'warning', 'unknown', 'maintenance'] as const).flatMap((state) =>
        Array.from({ length: 20 }, () => state),
      );
      await fill(states);
      const browser = await fixture.signedIn();
      const seen: string[] = [];
      let path: string | undefined = '/monitors';
      for (let pages = 0; path !== undefined && pages < 5; pages++) {
        const page: Answer = await browser.get(path);
        expect(page.status).to.equal(200);
        seen.push(...hrefs(page));
        path = /href="(\/monitors\?cursor[^"]+)"/.exec(page.text)?.[1]?.replaceAll('&#x3D;', '=');
      }
      const order = seen.map((source) => states[Number(source.slice(2))]);
      expect(order.filter((state, i) => state !== order[i - 1])).to.deep.equal([
        'down',
        'warning',
        'unknown',
        'up',
        'maintenance',
        'stopped',
      ]);
      expect(new Set(seen).size).to.equal(120);
      expect(seen).to.have.length(120);
    });

    it('links a page that ends with a state to the next only when more monitors follow', async () => {
      await fill(Array.from({ length: 50 }, () => 'down' as const));
      const browser = await fixture.signedIn();
      expect((await browser.get('/monitors')).text).to.not.include('/monitors?cursor');
      await beat({ source: 'zz' });
      expect((await browser.get('/monitors')).text).to.include('/monitors?cursor');
      expect((await browser.get('/monitors?cursor=xx')).status).to.equal(400);
    });

    it('shows the newest value, the last 24 hours, and uptime over 24 hours, 30 and 90 days', async () => {
      await beat({ source: 'web', interval: 60, metrics: { response_ms: 1234.567 } });
      fixture.clock.forward(6 * HOUR);
      await beat({ source: 'web', interval: 60, metrics: { response_ms: 1234.567 } });
      fixture.clock.forward(5 * MINUTE);
      await fell('web');
      fixture.clock.forward(2 * HOUR);
      const page = await (await fixture.signedIn()).get('/monitors');
      expect(page.text).to.include('>1,230 ms<').and.include('title="response_ms"');
      expect(page.text).to.match(/aria-label="Last 24 hours: down in [23] of 24, in warning in 0"/);
      // Up for 6 h 5 min, then down for 2 h.
      expect(page.text).to.include('title="24 h 75.25% · 30 d 75.25% · 90 d 75.25%">75.25%<');
    });

    it('offers projects by name and the existing parents', async () => {
      await project('shop', 'The shop');
      await beat({ source: 'a' });
      await change('a', { parent_source: 'router', project: 'shop' });
      const browser = await fixture.signedIn();
      const page = await browser.get('/monitors');
      expect(page.text).to.include('<option value="shop">The shop</option>').and.include('<option value="router">');
      expect(page.text).to.include('The shop');
      expect(hrefs(await browser.get('/monitors?parent=router&project=shop'))).to.deep.equal(['a']);
      expect((await browser.get('/monitors?parent=nobody')).text)
        .to.include('No matching monitors')
        .and.include('nobody');
    });
  });

  describe('/monitors/{source}', () => {
    const page = async (source: string, tab = ''): Promise<string> =>
      (await (await fixture.signedIn()).get(`/monitors/${encodeURIComponent(source)}${tab && `?tab=${tab}`}`)).text;

    it('says what is wrong, since when, and who was notified, with the times of it in the chart', async () => {
      await beat({ source: 'pay', interval: 60, metrics: { response_ms: 20 } });
      await change('pay', { name: 'Payments' });
      fixture.clock.forward(20 * MINUTE);
      await beat({ source: 'pay', status: 'down', message: 'HTTP 503', metrics: { response_ms: 9_000 } });
      fixture.clock.forward(312 * MINUTE);
      const text = (await page('pay')).replace(/\s+/g, ' ');
      expect(text).to.include('<b>Down 5 h 12 min</b>').and.include('An error was reported: HTTP 503');
      expect(text).to.include('Unacknowledged').and.include('>View incident</a>').and.include(' Acknowledge</button>');
      expect(text).to.include('No one was notified.').and.include('href="/notifications">Set up alerts');
      expect(text).to.match(/<rect class="series-down"[^>]*><title>Down for 5 h 12 min<\/title>/);
      expect(text).to.match(/aria-label="Response time, average with minimum and maximum\. Down for 5 h 12 min"/);
    });

    it('does not repeat "ok" next to a failed check', async () => {
      await beat({ source: 'heap', message: 'ok', checks: { heap: { ok: false, message: 'Heap 92 %' } } });
      const text = await page('heap');
      expect(text).to.include('Check heap failed').and.include('Heap 92 %');
      expect(text).to.not.match(/>ok</).and.not.include('Last message');
      await beat({ source: 'heap', message: 'ok', checks: { heap: { ok: true } } });
      expect(await page('heap')).to.match(/Last message<\/h2>\s*<p[^>]*>ok</);
    });

    for (const [tab, has, lacks] of [
      ['', 'Last 90 days', 'Ping URL'],
      ['metrics', 'No metrics in this period', 'Ping URL'],
      ['events', 'Timeline', 'Last 90 days'],
      ['setup', 'Ping URL', 'Timeline'],
    ] as const)
      it(`shows ${has} under ${tab || 'its own address'}`, async () => {
        await beat({ source: 'web' });
        const text = await page('web', tab);
        expect(text).to.include(has).and.not.include(lacks);
        const href = tab === '' ? '/monitors/web' : `/monitors/web?tab=${tab}`;
        expect(text.replaceAll('&#x3D;', '=')).to.include(`href="${href}" aria-current="page"`);
      });

    it('exports the uptime of its days, and the list with its filters', async () => {
      await beat({ source: 'web', interval: 60 });
      await beat({ source: '=db', interval: 60 });
      await beat({ source: 'bad', status: 'down' });
      const browser = await fixture.signedIn();
      const csv = await browser.get('/monitors/web/uptime.csv');
      expect(csv.headers['content-type']).to.include('text/csv');
      expect(csv.text).to.match(/^"day","up_seconds"/);
      const list = await browser.get('/monitors?state=down&format=csv');
      const [head, ...rows] = list.text.trim().split('\r\n');
      expect(head).to.include('"source","name","project"');
      expect(rows).to.have.lengthOf(1);
      expect(rows[0]).to.match(/^"bad","bad",,/);
      expect((await browser.get('/monitors?state=down')).text.replaceAll('&#x3D;', '=')).to.include(
        'href="/monitors?state=down&amp;format=csv"',
      );
    });

    it('shows the failed checks with their messages at the top of a monitor in warning', async () => {
      const checks = { disk: { ok: true }, redis: { ok: false, message: 'no answer' }, mail: { ok: false } };
      await beat({ source: 'web', checks, metrics: { cpu: 1 } });
      const text = await page('web');
      expect(text).to.include('2 checks failed');
      expect(text)
        .to.match(/<b>redis<\/b>: no answer/)
        .and.match(/<b>mail<\/b><\/p>/);
      expect(text.indexOf('>Checks<')).to.be.within(1, text.indexOf('id="metrics-title"'));
      const rows = [...text.matchAll(/<td class="cell-main text-break">([a-z]+)/g)].map(([, name]) => name);
      expect(rows).to.deep.equal(['redis', 'mail', 'disk']);
    });

    it('shows the last heartbeat message as escaped text, also for a healthy monitor', async () => {
      const browser = await fixture.signedIn();
      await beat({ source: 'web', message: 'done <b>42</b> rows' });
      expect((await browser.get('/monitors/web')).text).to.match(
        /Last message<\/h2>\s*<p[^>]*>done &lt;b&gt;42&lt;\/b&gt; rows</,
      );
      await beat({ source: 'web' });
      expect((await browser.get('/monitors/web')).text).to.not.include('Last message');
    });

    it('shows the message of a reported warning, and the delay of a late monitor', async () => {
      await beat({ source: 'web', status: 'error', message: 'queue <full>' });
      expect(await page('web'))
        .to.include('Reported error')
        .and.include('queue &lt;full&gt;');
      await beat({ source: 'late', interval: 60 });
      fixture.clock.forward(3 * MINUTE);
      const monitors = fixture.harness.store.collection<MonitorDoc>('watchdog_monitors');
      await monitors.change({ id: await idOf('late') }, { set: { state: 'warning' } });
      expect(await page('late'))
        .to.include('Heartbeat late')
        .and.include('2 min late (expected every 1 min');
    });

    it('shows the unusual metric first, with three digits and the unit from its name', async () => {
      for (let hour = 0; hour < 40; hour++) {
        await beat({
          source: 'web',
          interval: 3600,
          metrics: { cpu: 50 + (hour % 3), load_bytes: 7, response_ms: 100 + (hour % 5) },
        });
        fixture.clock.forward(HOUR);
      }
      await beat({ source: 'web', interval: 3600, metrics: { cpu: 51, load_bytes: 123456789, response_ms: 102 } });
      const text = await page('web', 'metrics');
      const names = (html: string) =>
        [...html.matchAll(/<h3 class="card-title text-break">([^<]+)/g)].map(([, name]) => name);
      expect(names(text)).to.deep.equal(['load_bytes', 'cpu', 'response_ms']);
      expect(text).to.include('<b>123 MB</b> now').and.include('<b>102 ms</b> now').and.include('Raw metrics');
      const overview = await page('web');
      expect(names(overview)).to.deep.equal(['load_bytes', 'cpu']);
      expect(overview).to.include('>Response time<').and.include('<b>102 ms</b> now').and.not.include('Raw metrics');
    });

    it('shows no current values for a silent monitor', async () => {
      await beat({ source: 'web', interval: 60, metrics: { cpu: 5 } });
      expect(await page('web')).to.include('</b> now');
      fixture.clock.forward(HOUR);
      const text = await page('web');
      expect(text).to.include('1 h ago');
      expect(text).to.not.include('</b> now');
    });
  });

  describe('/hierarchy', () => {
    it('shows since when a monitor is down, and offers other monitors as parents next to the row', async () => {
      for (const source of ['top', 'leaf']) await beat({ source, interval: 60 });
      await change('leaf', { name: 'The leaf' });
      fixture.clock.forward(MINUTE);
      await fell('leaf');
      fixture.clock.forward(2 * HOUR);
      const browser = await fixture.signedIn();
      const { text } = await browser.get('/hierarchy');
      expect(text).to.match(/Since <time[^>]+><span class="age">2 h ago/);
      expect(text).to.include('<datalist id="proposals"').and.include('<option value="leaf">The leaf</option>');
      expect((await browser.post('/hierarchy', { source: 'leaf', parent_source: 'top' })).status).to.equal(303);
      const circle = await browser.post('/hierarchy', { source: 'top', parent_source: 'leaf' });
      expect(circle.status).to.equal(409);
      expect(circle.text).to.include('cycle');
    });

    it('folds healthy branches of a large tree, and shows only problems on request', async () => {
      for (let rack = 0; rack < 3; rack++) {
        await beat({ source: `rack-${rack}`, interval: 3600 });
        for (let i = 0; i < 20; i++) {
          await beat({ source: `m-${rack}-${i}`, interval: rack === 1 && i === 7 ? 60 : 3600 });
          await change(`m-${rack}-${i}`, { parent_source: `rack-${rack}` });
        }
      }
      fixture.clock.forward(MINUTE);
      await fell('m-1-7');
      const browser = await fixture.signedIn();
      const shown = async (path: string): Promise<string[]> => {
        const { text } = await browser.get(path);
        return [...text.matchAll(/class="tree-name"><a href="\/monitors\/([^"]+)"/g)].map(([, source = '']) => source);
      };
      const folded = await shown('/hierarchy');
      expect(folded).to.have.lengthOf(23);
      expect(folded).to.include('m-1-7').and.not.include('m-0-1');
      expect((await browser.get('/hierarchy')).text)
        .to.include('20 children, all up')
        .and.include('20 children, 1 with problems');
      expect(await shown('/hierarchy?show=problems')).to.deep.equal(['rack-1', 'm-1-7']);
      expect(await shown('/hierarchy?show=all')).to.have.lengthOf(63);
      expect(await shown('/hierarchy?below=rack-0')).to.have.lengthOf(21);
    });
  });

  describe('schedule', () => {
    it('is edited in the form, and shows its next five due times in both zones', async () => {
      const browser = await fixture.signedIn();
      const form = { source: 'nightly', name: 'Nightly', interval_seconds: '', timezone: 'Europe/Berlin' };
      const wrong = await browser.post('/monitors/new', { ...form, schedule: '0 3 32 * *' });
      expect(wrong.status).to.equal(422);
      expect(wrong.text).to.include('day of the month at position 5 is not valid');
      const made = await browser.post('/monitors/new', { ...form, schedule: '0 3 * * *', grace_seconds: '600' });
      expect(made.status).to.equal(303);
      const { text } = await browser.get('/monitors/nightly');
      expect(text).to.include('Next expected runs').and.include('0 3 * * * (Europe/Berlin)');
      expect(text.match(/ 03:00 Europe\/Berlin/g)).to.have.length(5);
      expect((await browser.get('/monitors/nightly/edit')).text).to.include('value="0 3 * * *"');
    });
  });

  describe('tags', () => {
    const tagsOf = async (): Promise<unknown> => {
      const token = await fixture.token(['watchdog:read']);
      const { json } = await fixture.api('GET', '/api/watchdog/v1/monitors/tagged', token);
      return (json as unknown as { monitor: { tags: string[] } }).monitor.tags;
    };

    it('are set, changed and removed in the form, with an error for invalid tags', async () => {
      const browser = await fixture.signedIn();
      const form = { source: 'tagged', name: 'Tagged' };
      for (const [tags, words] of [
        [Array.from({ length: 21 }, (_, i) => `t${i}`).join(','), 'Choose at most 20.'],
        [`ok, ${'x'.repeat(65)}`, 'Must have at most 64 characters (now 65).'],
        ['one, two, one', 'Remove duplicates.'],
      ] as const) {
        const wrong = await browser.post('/monitors/new', { ...form, tags });
        expect([wrong.status, wrong.text.includes(words)], words).to.deep.equal([422, true]);
        expect(wrong.text, 'what was written stays').to.include(`value="${tags}"`);
      }
      expect((await browser.post('/monitors/new', { ...form, tags: ' production,, db ' })).status).to.equal(303);
      expect(await tagsOf()).to.deep.equal(['production', 'db']);
      const edit = '/monitors/tagged/edit';
      expect((await browser.get(edit)).text).to.include('value="production, db"');
      expect((await browser.post(edit, { name: 'Tagged', tags: 'db' })).status).to.equal(303);
      expect(await tagsOf()).to.deep.equal(['db']);
      await change('tagged', { tags: ['a, b'] });
      expect((await browser.post(edit, { name: 'Again', tags: 'a, b' })).status).to.equal(303);
      expect(await tagsOf(), 'a tag with a comma that nobody touched').to.deep.equal(['a, b']);
      expect((await browser.post(edit, { name: 'Again', tags: '' })).status).to.equal(303);
      expect(await tagsOf()).to.deep.equal([]);
    });
  });

  describe('/status/{id}', () => {
    it('shows the tree with down first and suppressed marked, the project name and 90 days', async () => {
      await project('shop', 'The shop');
      for (const source of ['top', 'a-well', 'b-router', 'c-behind']) await beat({ source, interval: 60 });
      await change('top', { public: true, name: 'Shop', project: 'shop' });
      await change('a-well', { parent_source: 'top' });
      await change('b-router', { parent_source: 'top' });
      await change('c-behind', { parent_source: 'b-router' });
      await fell('b-router');
      await fell('c-behind', { alarm: 'suppressed', suppressed_by: 'b-router' });
      const page = await fixture.api('GET', `/status/${await idOf('top')}`, null);
      expect(page.status).to.equal(200);
      expect(page.text).to.include('The shop').and.include('2 components down').and.include('container-wide');
      const names = [...page.text.matchAll(/status-name">\s*<b>([^<]+)/g)].map(([, name]) => name);
      expect(names).to.deep.equal(['Shop', 'b-router', 'c-behind', 'a-well']);
      expect(page.text).to.include('; b-router is down');
      expect(page.text.match(/class="state-bar"/g)).to.have.length(4);
    });

    it('hides a suppressing parent that is not below the public monitor', async () => {
      for (const source of ['secret-router', 'child']) await beat({ source, interval: 60 });
      await change('child', { public: true, parent_source: 'secret-router' });
      await fell('child', { alarm: 'suppressed', suppressed_by: 'secret-router' });
      const page = await fixture.api('GET', `/status/${await idOf('child')}`, null);
      expect(page.text).to.include('Suppressed').and.not.include('secret-router');
    });
  });
});
