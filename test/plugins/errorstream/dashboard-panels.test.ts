import { expect } from 'chai';
import type { View } from '../../../kernel/contract/index.js';
import { buildErrorPanels, type ErrorPanelDeps } from '../../../plugins/errorstream/dashboard-panels.js';
import type { ErrorTraffic, ErrorTrafficQuery } from '../../../ports/domain/bugs.js';
import type { SessionPrincipal } from '../../../ports/http/index.js';
import { renderFile } from '../../web/templates.js';
import { session } from '../health/fakes.js';

const NOW = Date.parse('2026-11-29T12:05:00.000Z');
const STEP = 600_000;
const DAY_MS = 86_400_000;
const MEMBER = session('member') as SessionPrincipal;

const traffic = (counts: readonly number[], users = 0, from = NOW - DAY_MS): ErrorTraffic => ({
  from,
  step: STEP,
  counts: [...counts],
  total: counts.reduce((sum, n) => sum + n, 0),
  users,
});

describe('errorstream: panels of Home', () => {
  const queries: ErrorTrafficQuery[] = [];
  const load = async (
    id: string,
    byAge: Readonly<Record<number, ErrorTraffic>>,
    project: string | null = null,
  ): Promise<string> => {
    const deps: ErrorPanelDeps = {
      groups: {
        getTraffic: async (query) => {
          queries.push(query);
          return byAge[Math.round((NOW - query.until) / DAY_MS)] ?? traffic([0]);
        },
      },
      clock: { now: () => NOW },
      publishes: () => ({
        listLatestPublishes: async () => [
          { project: 'till', version: '2.2.0<', published_at: '2026-11-28T20:00:00.000Z' },
        ],
      }),
    };
    const panel = buildErrorPanels(deps).find((one) => one.id === id);
    const view = (await panel?.load(MEMBER, project)) as View;
    return renderFile(`plugins/errorstream/views/${view.template}.hbs`, { ...view.context });
  };

  for (const [name, now, before, shown] of [
    ['more errors', 112, 100, /▲.*up.*12 %/s],
    ['fewer errors', 97, 100, /▼.*down.*3 %/s],
    ['many more errors', 5000, 1, /over 999 %/],
  ] as const) {
    it(`shows ${name} than the day before`, async () => {
      expect(await load('errorstream.errors', { 0: traffic([now]), 1: traffic([before]) })).to.match(shown);
    });
  }

  for (const [name, now, before] of [
    ['nothing was counted the day before', 5, 0],
    ['nothing changed', 7, 7],
  ] as const) {
    it(`shows no change when ${name}`, async () => {
      const html = await load('errorstream.errors', { 0: traffic([now]), 1: traffic([before]) });
      expect(html)
        .to.include(`>${now}<`)
        .and.not.match(/▲|▼|Infinity|NaN/);
    });
  }

  it('counts users, and links to the list of the chosen project', async () => {
    const html = await load('errorstream.users', { 0: traffic([9], 3), 1: traffic([9], 3) }, 'till');
    expect(html)
      .to.include('Users affected')
      .and.include('>3<')
      .and.match(/href="[^"]*project.{1,8}till/);
    expect(queries.at(-1)?.project).to.equal('till');
  });

  it('draws the day with last week and the releases in it, escaped', async () => {
    const counts = Array.from({ length: 144 }, (_, i) => i % 5);
    const html = await load('errorstream.traffic', { 0: traffic(counts), 7: traffic(counts.toReversed()) });
    expect(html).to.include('class="traffic-ghost"').and.include('till 2.2.0&lt;').and.not.include('2.2.0<');
    expect(html).to.match(/<desc>286 errors; most at [^;]+: 4; till/);
    expect(/data-points="([^"]*)"/.exec(html)?.[1]?.split(' ')).to.have.length(144);
  });

  it('draws no line of last week when there was none', async () => {
    const html = await load('errorstream.traffic', { 0: traffic(Array.from({ length: 144 }, () => 0)) });
    expect(html).to.not.include('traffic-ghost').and.not.include('last week<');
  });
});
