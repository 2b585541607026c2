/**
 * What each reader of a monitor's state says of one that is down, silenced or in planned work
 * (contract 30, amendments: silence and maintenance).
 */
import { expect } from 'chai';
import dashboard from '../../../../plugins/dashboard/plugin.js';
import statuspages from '../../../../plugins/statuspages/plugin.js';
import watchdog from '../../../../plugins/watchdog/plugin.js';
import { HttpFixture } from '../../access/http-fixture.js';
import { HOUR } from '../fixture.js';

const BASE = '/api/watchdog/v1';

/** Returns the text of a page, with its tags as spaces. */
const toWords = (html: string): string => html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');

describe('a silence', function () {
  let fixture: HttpFixture;
  let token: string;
  let browser: Awaited<ReturnType<HttpFixture['signedIn']>>;
  let id: string;

  beforeEach(async () => {
    fixture = await HttpFixture.open({ plugins: [dashboard, watchdog, statuspages] });
    token = await fixture.token(['watchdog:ping', 'watchdog:manage', 'watchdog:read']);
    browser = await fixture.signedIn();
    const api = (method: 'PATCH' | 'POST', path: string, body: object) =>
      fixture.api(method, `${BASE}${path}`, token, body);
    await api('POST', '/ping', { source: 'pay', interval: 60 });
    await api('PATCH', '/monitors/pay', { name: 'Payments gateway', public: true });
    await api('POST', '/status-pages', {
      slug: 'acme',
      title: 'Acme',
      published: true,
      components: [{ name: 'Payments', sources: ['pay'], details: true }],
    });
    id = String((await readMonitor())['id']);
  });
  afterEach(() => fixture.stop());

  const readMonitor = async (): Promise<Record<string, unknown>> =>
    (await fixture.api('GET', `${BASE}/monitors/pay`, token)).json['monitor'] as Record<string, unknown>;
  const later = (): string => new Date(fixture.clock.now() + HOUR).toISOString();
  const hold = (path: string) => fixture.api('POST', `${BASE}${path}`, token, { sources: ['pay'], until: later() });
  const report = (status: string) =>
    fixture.api('POST', `${BASE}/ping`, token, { source: 'pay', status, interval: 60 });

  /** Each reader's words about the monitor; the status page may be a minute old. */
  const readers: Record<string, () => Promise<string>> = {
    'status page': async () => toWords((await fixture.api('GET', '/status-page/acme', null)).text),
    'badge of the status page': async () => (await fixture.api('GET', '/status-page/acme/badge.svg', null)).text,
    'public page of the monitor': async () => toWords((await fixture.api('GET', `/status/${id}`, null)).text),
    'badge of the monitor': async () => (await fixture.api('GET', `/badge/${id}.json`, null)).text,
    'list of monitors': async () => toWords((await browser.get('/monitors?state=down')).text),
    hierarchy: async () => toWords((await browser.get('/hierarchy')).text),
    'page of the monitor': async () => toWords((await browser.get('/monitors/pay')).text),
    Home: async () => toWords((await browser.get('/')).text),
    incidents: async () => toWords((await browser.get('/incidents?open=true')).text),
    'states of the API': async () => JSON.stringify((await fixture.api('GET', `${BASE}/status`, token)).json['counts']),
  };
  const DOWN: Record<keyof typeof readers, RegExp> = {
    'status page': /Payments.*Outage/,
    'badge of the status page': /outage/,
    'public page of the monitor': /1 component down/,
    'badge of the monitor': /"message":"down"/,
    'list of monitors': /Payments gateway/,
    hierarchy: /Payments gateway.*Down/,
    'page of the monitor': /Down/,
    Home: /Payments gateway/,
    incidents: /pay/,
    'states of the API': /"down":1/,
  };

  for (const order of ['before', 'after'] as const) {
    it(`that starts ${order} the monitor is down leaves what every reader says`, async () => {
      if (order === 'before') await hold('/silences');
      await report('down');
      if (order === 'after') await hold('/silences');
      expect(await readMonitor()).to.include({ state: 'down', maintenance: null });
      for (const [name, read] of Object.entries(readers)) {
        const words = await read();
        expect(words, name).to.match(DOWN[name] as RegExp);
        expect(words, name).not.to.match(/planned work|in maintenance/i);
      }
      // The count of the sidebar.
      expect((await browser.get('/monitors')).text).to.match(/href="\/monitors"[^]{0,600}>1</);
      expect(await readers['public page of the monitor']?.()).not.to.match(/silenced|suppressed/i);
      for (const name of ['list of monitors', 'hierarchy', 'page of the monitor'])
        expect(await readers[name]?.(), name).to.match(/silenced until/i);
    });
  }

  it('is not a maintenance window: only that says planned work', async () => {
    await report('down');
    await hold('/maintenance');
    expect(await readMonitor()).to.include({ state: 'maintenance', silence: null });
    for (const name of ['status page', 'badge of the status page', 'public page of the monitor'])
      expect(await readers[name]?.(), name).to.match(/planned work/i);
    expect(await readers['states of the API']?.()).to.match(/"maintenance":1/);
  });
});
