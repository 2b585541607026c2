/**
 * Where an item happens, on its page: each value leads to the occurrences that have it, without a
 * script.
 */
import { expect } from 'chai';
import type { View } from '../../../../../kernel/contract/index.js';
import { MonthlyStatsCache } from '../../../../../plugins/bugs/pages/shared/monthly-stats.js';
import { buildBugPages } from '../../../../../plugins/bugs/pages/pages.js';
import { request, session } from '../../../health/fakes.js';
import { renderFile } from '../../../../web/templates.js';
import { errorReport, memoryFixture, settled, type Fixture } from '../../fixture.js';

describe('bugs: value distribution on the item page', () => {
  let fixture: Fixture;
  const shown = async (query: string): Promise<string> => {
    const all = buildBugPages({
      services: fixture,
      deps: fixture.deps,
      numbers: new MonthlyStatsCache(fixture.stats, fixture.clock),
      actions: () => [],
      facts: () => [],
      agents: () => [],
      releases: () => [],
      baseUrl: () => 'http://aos.test',
      timezone: () => 'UTC',
    });
    const spec = all.find(({ path, method = 'GET' }) => path === '/bugs/{ref}' && method === 'GET');
    const requested = new URLSearchParams(query);
    const given = Object.fromEntries([...new Set(requested.keys())].map((name) => [name, requested.getAll(name)]));
    const { value, error } = spec?.input?.query?.validate(given) ?? { value: given };
    if (error) throw error;
    const view = (await spec?.handle(
      request(session('member'), { method: 'GET', params: { ref: 'alpha-1' }, query: value as never }),
    )) as View;
    const html = renderFile('plugins/bugs/views/bug.hbs', { path: '/bugs', csrf_token: 'token', ...view.context });
    return html.replaceAll('&#x3D;', '=');
  };
  const links = (html: string): string[] =>
    [...html.matchAll(/href="([^"]*#occurrences)"/g)].map(([, href]) => (href ?? '').replaceAll('&amp;', '&'));

  beforeEach(async () => {
    fixture = await memoryFixture();
    for (const [app_version, host, tag] of [
      ['1.0', 'web-1', 'os:linux'],
      ['1.1', 'web-2', 'os:linux'],
      ['1.1', 'web-<b>', 'checkout'],
    ] as const) {
      await fixture.bugs.record(errorReport({ app_version, host, environment: 'production', tags: [tag] }));
      fixture.clock.advance(1_000);
    }
    await settled(fixture);
  });

  it('shows a bar and link per value, and links to all items with a version, environment, host or tag', async () => {
    const html = await shown('');
    expect(links(html)).to.include.members([
      '/bugs/alpha-1?version=1.1#occurrences',
      '/bugs/alpha-1?host=web-1#occurrences',
      '/bugs/alpha-1?tag=os%3Alinux#occurrences',
      '/bugs/alpha-1?tag=checkout#occurrences',
    ]);
    expect(html).to.contain('href="/bugs?version=1.1"').and.contain('href="/bugs?host=web-1"');
    expect(html).to.contain('href="/bugs?environment=production"').and.contain('href="/bugs?tag=os%3Alinux"');
    expect(html).to.match(/<progress[^>]* max="3" value="2"[^>]*aria-label="Events with 1\.1"/);
    expect(html).to.contain('web-&lt;b&gt;').and.not.contain('web-<b>');
    expect(html).not.to.contain('Filtered by');
  });

  it('filters occurrences by the selected values, lists them, and removes each', async () => {
    const html = await shown('version=1.1&host=web-2');
    expect(html).to.contain('Filtered by');
    expect(html.match(/web-2/g)?.length).to.be.greaterThan(1);
    expect(links(html)).to.include.members([
      '/bugs/alpha-1?host=web-2#occurrences',
      '/bugs/alpha-1?version=1.1#occurrences',
      '/bugs/alpha-1?version=1.1&host=web-1#occurrences',
      '/bugs/alpha-1#occurrences',
    ]);
    expect(html).to.contain('aria-current="true"');
    expect(await shown('browser=Firefox')).to.contain('No matching events.');
  });
});
