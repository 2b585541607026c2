/**
 * Maintenance windows as programs and people meet them, over the real HTTP adapter (contract 30;
 * contract 80).
 */
import { expect } from 'chai';
import watchdog from '../../../../plugins/watchdog/plugin.js';
import { HttpFixture, type Answer } from '../../access/http-fixture.js';
import { HOUR } from '../fixture.js';

const BASE = '/api/watchdog/v1';
const later = (fixture: HttpFixture, ms: number): string => new Date(fixture.clock.now() + ms).toISOString();

describe('maintenance windows over HTTP', function () {
  let fixture: HttpFixture;
  let token: string;

  beforeEach(async () => {
    fixture = await HttpFixture.open({ plugins: [watchdog] });
    token = await fixture.token(['watchdog:ping', 'watchdog:manage', 'watchdog:read']);
    await beat('top');
    await beat('leaf');
    await fixture.api('PATCH', `${BASE}/monitors/leaf`, token, { parent_source: 'top', public: true });
  });
  afterEach(() => fixture.stop());

  const beat = (source: string): Promise<Answer> =>
    fixture.api('POST', `${BASE}/ping`, token, { source, interval: 60 });
  const monitor = async (source: string): Promise<Record<string, unknown>> =>
    (await fixture.api('GET', `${BASE}/monitors/${source}`, token)).json['monitor'] as Record<string, unknown>;
  const create = (body: object): Promise<Answer> => fixture.api('POST', `${BASE}/maintenance`, token, body);

  it('are created, listed and ended through the API', async () => {
    const made = await create({ subtree: 'top', until: later(fixture, HOUR), reason: 'New disks' });
    expect(made.status).to.equal(201);
    const window = made.json['window'] as Record<string, unknown>;
    expect(window).to.include({ open: true, subtree: 'top', reason: 'New disks', open_until: window['until'] });
    expect(await monitor('leaf')).to.include({ state: 'maintenance' });
    const status = await fixture.api('GET', `${BASE}/status`, token);
    expect(status.json['counts']).to.include({ maintenance: 2, up: 0 });
    const reader = await fixture.token(['watchdog:read']);
    const list = await fixture.api('GET', `${BASE}/maintenance`, reader);
    expect((list.json['items'] as { id: string }[]).map(({ id }) => id)).to.deep.equal([window['id']]);
    expect((await fixture.api('DELETE', `${BASE}/maintenance/${String(window['id'])}`, reader)).status).to.equal(403);
    expect((await fixture.api('DELETE', `${BASE}/maintenance/${String(window['id'])}`, token)).status).to.equal(200);
    expect(await monitor('leaf')).to.include({ state: 'up', maintenance: null });
    expect((await fixture.api('DELETE', `${BASE}/maintenance/${String(window['id'])}`, token)).status).to.equal(404);
  });

  it('report the position of an error in a cron expression', async () => {
    const rejected = await create({ sources: ['top'], schedule: '0 2 * 13 *', duration_seconds: 3600 });
    expect(rejected.status).to.equal(422);
    expect(rejected.json.error?.fields).to.deep.equal({ schedule: 'the month at position 7 is not valid' });
  });

  it('silence for an hour with one click, shown on every page', async () => {
    const browser = await fixture.signedIn();
    const page = await browser.get('/monitors/leaf');
    expect(page.text).to.include('Silence for 1 hour').and.include('Until tomorrow 09:00');
    const silenced = await browser.post(
      '/silences',
      { sources: 'leaf', below: 'true', span: 'hour', reason: '<b>Disks' },
      '/monitors/leaf',
    );
    expect(silenced.status).to.equal(303);
    expect(silenced.headers['location']).to.equal('/monitors/leaf');
    await fixture.api('POST', `${BASE}/ping`, token, { source: 'leaf', status: 'down' });
    const leaf = await monitor('leaf');
    expect(leaf).to.include({ state: 'down', alarm: 'suppressed', maintenance: null });
    const { id, until } = leaf['silence'] as { id: string; until: string };
    expect(Date.parse(until) - fixture.clock.now()).to.be.within(HOUR - 60_000, HOUR);
    const detail = (await browser.get('/monitors/leaf')).text;
    expect(detail).to.include('Silenced until').and.include('&lt;b&gt;Disks').and.not.include('<b>Disks');
    expect((await browser.get('/monitors')).text).to.include('silenced until <time');
    expect((await browser.get('/hierarchy')).text).to.include('Silenced until <time');
    expect((await browser.get('/maintenance')).text)
      .to.include('Active silences')
      .and.include('leaf')
      .and.not.include('Active maintenance');
    const status = await fixture.api('GET', `/status/${String(leaf['id'])}`, null);
    expect(status.text).to.include('down').and.not.include('Planned work').and.not.include('Disks');
    expect((await browser.post(`/maintenance/${id}/end`, {}, '/monitors/leaf')).status).to.equal(404);
    expect((await browser.post(`/silences/${id}/end`, {}, '/monitors/leaf')).status).to.equal(303);
    expect(await monitor('leaf')).to.include({ state: 'down', alarm: 'open', silence: null });
  });

  it('show planned work on public pages', async () => {
    await create({ sources: ['leaf'], until: later(fixture, HOUR), reason: 'Disks' });
    const { id } = await monitor('leaf');
    const status = await fixture.api('GET', `/status/${String(id)}`, null);
    expect(status.text).to.include('Planned work until').and.not.include('Disks');
    const browser = await fixture.signedIn();
    expect((await browser.get('/monitors/leaf')).text).to.include('In maintenance until');
    expect((await browser.get('/monitors')).text).to.include('ntil <time');
  });

  it('silence a subtree through the API, and end the silence', async () => {
    const silences = `${BASE}/silences`;
    const made = await fixture.api('POST', silences, token, { subtree: 'top', until: later(fixture, HOUR) });
    expect(made.status).to.equal(201);
    const { id } = made.json['silence'] as { id: string };
    expect((await monitor('leaf'))['silence']).to.include({ id });
    await fixture.api('POST', `${BASE}/ping`, token, { source: 'top', status: 'down' });
    expect(await monitor('top')).to.include({ state: 'down', alarm: 'suppressed', alarm_id: null });
    const listed = await fixture.api('GET', silences, await fixture.token(['watchdog:read']));
    expect((listed.json['items'] as { id: string }[]).map((one) => one.id)).to.deep.equal([id]);
    expect((await fixture.api('GET', `${BASE}/maintenance`, token)).json['items']).to.deep.equal([]);
    for (const [body, field] of [
      [{ subtree: 'top' }, 'until'],
      [{ until: later(fixture, HOUR) }, 'sources'],
      [{ subtree: 'nowhere', until: later(fixture, HOUR) }, 'subtree'],
      [{ sources: ['top'], until: 'tomorrow' }, 'until'],
    ] as const) {
      const rejected = await fixture.api('POST', silences, token, body);
      expect([rejected.status, Object.keys(rejected.json.error?.fields ?? {})]).to.deep.equal([422, [field]]);
    }
    expect((await fixture.api('DELETE', `${silences}/${id}`, token)).status).to.equal(200);
    expect(await monitor('top')).to.include({ state: 'down', alarm: 'open', silence: null });
    expect((await fixture.api('DELETE', `${silences}/${id}`, token)).status).to.equal(404);
  });

  it('silence the monitors of a list until tomorrow morning', async () => {
    const browser = await fixture.signedIn();
    const done = await browser.post('/silences', { sources: 'leaf top ', span: 'tomorrow' }, '/monitors');
    expect(done.headers['location']).to.equal('/maintenance');
    const { until } = (await monitor('top'))['silence'] as { until: string };
    expect(until).to.match(/T09:00:00\.000Z$/);
  });

  it('ask for the kind first, and then only for its fields', async () => {
    const browser = await fixture.signedIn();
    const once = (await browser.get('/maintenance/new?source=leaf')).text;
    expect(once).to.include('name="until"').and.include('>leaf</textarea>').and.not.include('name="schedule"');
    const repeated = (await browser.get('/maintenance/new?source=leaf&kind=repeat')).text;
    expect(repeated).to.include('name="schedule"').and.include('value="repeat"').and.not.include('name="until"');
  });

  it('plan a repeating window, and show the form again with its errors', async () => {
    const browser = await fixture.signedIn();
    const repeat = { sources: 'top', below: 'true', span: 'repeat', timezone: 'Europe/Berlin', minutes: '90' };
    const wrong = await browser.post('/maintenance', { ...repeat, schedule: '0 2 * *' }, '/maintenance/new');
    expect(wrong.status).to.equal(422);
    expect(wrong.text).to.include('the day of the week is missing at position 8').and.include('value="Europe/Berlin"');
    const planned = await browser.post('/maintenance', { ...repeat, schedule: '0 2 * * 0' }, '/maintenance/new');
    expect(planned.status).to.equal(303);
    const list = (await browser.get('/maintenance')).text;
    expect(list).to.include('Scheduled').and.include('0 2 * * 0').and.include('top and its children');
    expect(await monitor('top')).to.include({ state: 'up' });
  });
});
