/**
 * A status page of more monitors than it may have says so, when it is saved and when it has grown
 * (contract 30).
 */
import { expect } from 'chai';
import dashboard from '../../../plugins/dashboard/plugin.js';
import statuspages from '../../../plugins/statuspages/plugin.js';
import type { MonitorDoc } from '../../../plugins/watchdog/model/documents.js';
import { createMonitor } from '../../../plugins/watchdog/model/monitor-view.js';
import watchdog from '../../../plugins/watchdog/plugin.js';
import { ids } from '../access/fixture.js';
import { HttpFixture } from '../access/http-fixture.js';

const PAGES = '/api/watchdog/v1/status-pages';
const LEFT_OUT = 'Some monitors of these systems are not included';

describe('status pages with many monitors', function () {
  let fixture: HttpFixture;
  let manage: string;

  beforeEach(async () => {
    fixture = await HttpFixture.open({ plugins: [dashboard, watchdog, statuspages] });
    manage = await fixture.token(['watchdog:manage']);
    await grow(0, 1);
  });
  afterEach(() => fixture.stop());

  /** Monitors below the first one. */
  async function grow(from: number, to: number): Promise<void> {
    const monitors = fixture.harness.store.collection<MonitorDoc>('watchdog_monitors');
    const now = fixture.clock.now();
    for (let i = from; i < to; i += 1_000) {
      const part = Array.from({ length: Math.min(1_000, to - i) }, (_, n) => {
        const parent_source = i + n === 0 ? null : 'm-0';
        return { insert: createMonitor({ source: `m-${i + n}`, parent_source }, ids, now) };
      });
      await monitors.bulk(part);
    }
  }
  const make = (slug: string) =>
    fixture.api('POST', PAGES, manage, {
      slug,
      title: 'Many',
      published: true,
      components: [{ name: 'Everything of ours', subtree: 'm-0' }],
    });
  const shown = async (slug: string): Promise<string> => (await fixture.api('GET', `/status-page/${slug}`, null)).text;

  it('are rejected on save with over 5,000 monitors', async () => {
    await grow(1, 5_000);
    expect((await make('most')).status).to.equal(201);
    await grow(5_000, 5_001);
    const rejected = await make('more');
    expect(rejected.status).to.equal(422);
    expect(rejected.json.error?.fields).to.deep.equal({
      components: 'contain more than 5000 monitors in total',
    });
  });

  it('indicate above 10,000 monitors that some are omitted', async () => {
    expect((await make('grown')).status).to.equal(201);
    expect((await make('grown-more')).status).to.equal(201);
    await grow(1, 10_000);
    const whole = await shown('grown');
    expect(whole).to.include('Everything of ours').and.not.include(LEFT_OUT);
    await grow(10_000, 10_001);
    expect(await shown('grown-more')).to.include(LEFT_OUT);
  });
});
