/** What Home says about monitors, over the real HTTP adapter (contract 80). */
import { expect } from 'chai';
import dashboard from '../../../../plugins/dashboard/plugin.js';
import type { MonitorDoc } from '../../../../plugins/watchdog/model/documents.js';
import { createMonitor } from '../../../../plugins/watchdog/model/monitor-view.js';
import watchdog from '../../../../plugins/watchdog/plugin.js';
import { toIsoString } from '../../../../lib/time.js';
import { ids } from '../../access/fixture.js';
import { HttpFixture } from '../../access/http-fixture.js';
import { HOUR } from '../fixture.js';

const DAY = 24 * HOUR;

describe('watchdog: Home', function () {
  let fixture: HttpFixture;
  beforeEach(async () => {
    fixture = await HttpFixture.open({ plugins: [dashboard, watchdog] });
  });
  afterEach(() => fixture.stop());

  const store = async (docs: readonly (Partial<MonitorDoc> & { source: string })[]): Promise<void> => {
    const monitors = fixture.harness.store.collection<MonitorDoc>('watchdog_monitors');
    const now = fixture.clock.now();
    await monitors.bulk(
      docs.map(({ source, ...more }) => {
        const fresh = createMonitor({ source, name: source }, ids, now - 30 * DAY);
        const state = more.state ?? 'up';
        const since = toIsoString(now - (state === 'up' ? 30 * DAY : HOUR));
        const down = state === 'down' ? { down_since_utc: since } : {};
        return { insert: { ...fresh, state, last_state_change_utc: since, ...down, ...more } };
      }),
    );
  };
  const home = async (path = '/'): Promise<string> => {
    const browser = await fixture.signedIn();
    const page = await browser.get(path);
    expect(page.status).to.equal(200);
    return page.text.replaceAll(/\s+/g, ' ');
  };
  const panel = (html: string, id: string): string =>
    new RegExp(`id="panel-${id.replaceAll('.', '\\.')}">(.*?)(?=<div class="home-panel"|</main>)`).exec(html)?.[1] ??
    '';
  const toText = (html: string): string => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

  it('says that all is well, and asks for nothing', async () => {
    await store([{ source: 'a' }, { source: 'b' }]);
    const html = await home();
    expect(toText(panel(html, 'watchdog.state'))).to.include('Good: 2 of 2 monitors up');
    expect(toText(panel(html, 'watchdog.uptime'))).to.include('100 %');
    expect(panel(html, 'watchdog.worst')).to.equal('');
  });

  it('counts children below the parent that is down, whatever the depth', async () => {
    await store([
      { source: 'router', state: 'down' },
      { source: 'till-1', state: 'down', alarm: 'suppressed', suppressed_by: 'router' },
      { source: 'till-2', state: 'down', alarm: 'suppressed', suppressed_by: 'router' },
      { source: 'printer', state: 'down', alarm: 'suppressed', suppressed_by: 'till-2' },
      { source: 'alone', state: 'down' },
    ]);
    const text = toText(panel(await home(), 'watchdog.down'));
    expect(text)
      .to.match(/router down .* \+3 below/)
      .and.include('alone')
      .and.not.match(/till|printer|more/);
  });

  it('lists a child alone when its parent belongs to another project', async () => {
    await store([
      { source: 'router', state: 'down', project: 'lines' },
      { source: 'till-1', state: 'down', alarm: 'suppressed', suppressed_by: 'router', project: 'till' },
    ]);
    const text = toText(panel(await home('/?project=till'), 'watchdog.down'));
    expect(text).to.include('till-1').and.not.include('router');
  });

  it('says how many more are down than it shows', async () => {
    await store(Array.from({ length: 9 }, (_, i) => ({ source: `m-${i}`, state: 'down' as const })));
    expect(toText(panel(await home(), 'watchdog.down'))).to.include('3 more');
  });

  it('goes on to show a silenced monitor that is down, and until when it is silenced', async () => {
    const until = toIsoString(fixture.clock.now() + 8 * HOUR);
    await store([{ source: 'pay', state: 'down', silence_id: 's', silence_until: until }]);
    const html = await home();
    expect(toText(panel(html, 'watchdog.down'))).to.match(/pay down · silenced until/);
    expect(html).to.include(`datetime="${until}"`);
    expect(toText(panel(html, 'watchdog.state'))).to.include('1 monitor down');
  });

  it('averages uptime over monitors that were watched, and shows the worst first', async () => {
    await store([
      { source: 'steady' },
      {
        source: 'half',
        state: 'down',
        last_state_change_utc: toIsoString(fixture.clock.now() - 12 * HOUR),
        uptime: JSON.stringify({ since: fixture.clock.now() - 30 * DAY, hours: [], days: [] }),
      },
      { source: 'idle', state: 'stopped' },
      { source: 'new', state: 'unknown' },
    ]);
    const html = await home();
    const uptime = Number(/([\d.]+) %/.exec(toText(panel(html, 'watchdog.uptime')))?.[1]);
    expect(uptime).to.be.within(70, 90);
    expect(toText(panel(html, 'watchdog.worst')))
      .to.include('half')
      .and.not.include('steady');
  });

  it('keeps the project for a new monitor', async () => {
    const token = await fixture.token(['projects:manage']);
    await fixture.api('POST', '/api/projects/v1/projects', token, { slug: 'till', name: 'Till' });
    expect(await home('/monitors/new?project=till')).to.match(/<option value="till" selected/);
    expect(await home('/monitors/new')).to.not.match(/<option value="till" selected/);
  });

  it('shows the chosen project alone', async () => {
    await store([
      { source: 'a', project: 'till', state: 'down' },
      { source: 'b', project: 'shop' },
    ]);
    const html = await home('/?project=shop');
    expect(toText(panel(html, 'watchdog.state'))).to.include('Good: 1 of 1 monitor up');
    expect(panel(html, 'watchdog.down') + panel(html, 'watchdog.worst')).to.equal('');
    expect(html).to.include('/monitors?project').and.not.include('/monitors/a');
  });
});
