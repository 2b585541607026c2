/** Versions, environments, hosts and tags of an item's kept occurrences. */
import { expect } from 'chai';
import { countSpread } from '../../../../plugins/bugs/lists/occurrence-spread.js';
import type { ProjectInfo } from '../../../../ports/domain/projects.js';
import type { ReportDetails } from '../../../../ports/domain/bugs.js';
import type { Json } from '../../../../ports/store/index.js';
import { matchesFacets, type OccurrenceFilter } from '../../../../plugins/bugs/lists/occurrence-facets.js';
import type { PageResponse } from '../../../../plugins/bugs/lists/page-request.js';
import { ENGINES, fixtureOn, MANAGER, report, settled, type Fixture } from '../fixture.js';
import { useStore } from '../../../support/stores.js';

const one = (fields: object) => ({
  occurred_at: '2026-11-20T10:00:00.000Z',
  app_version: null,
  environment: null,
  host: null,
  browser: null,
  tags: [],
  ...fields,
});

describe('value distribution of occurrences', () => {
  it('treats different notations of a version as equal', () => {
    const facets = { occurred_at: '', app_version: '1.3.0', environment: null, host: null, browser: null, tags: [] };
    const found = ['1.3', 'v1.3.0', 'shop@1.3', '1.3.1', '1.30'].map((version) =>
      matchesFacets(facets, { version: [version] }),
    );
    expect(found).to.deep.equal([true, true, true, false, false]);
    expect(matchesFacets({ ...facets, app_version: null }, { version: ['1.3'] })).to.equal(false);
  });

  it('returns the five most frequent values per field, and tags by key', () => {
    const kept = [
      ...Array.from({ length: 7 }, (_, n) => one({ app_version: `1.${n}`, host: n < 3 ? 'web-1' : 'web-2' })),
      one({ app_version: '1.6', tags: ['browser:Firefox', 'browser:Chrome', 'checkout', '__proto__:x', ':y'] }),
      one({ tags: ['browser:Firefox', 'browser:Firefox'] }),
    ];
    const { versions, environments, hosts, tags } = countSpread(kept);
    expect(versions).to.deep.equal([
      { value: '1.6', count: 2 },
      { value: '1.0', count: 1 },
      { value: '1.1', count: 1 },
      { value: '1.2', count: 1 },
      { value: '1.3', count: 1 },
    ]);
    expect(environments).to.deep.equal([]);
    expect(hosts).to.deep.equal([
      { value: 'web-2', count: 4 },
      { value: 'web-1', count: 3 },
    ]);
    expect(tags['browser']).to.deep.equal([
      { value: 'Firefox', count: 2 },
      { value: 'Chrome', count: 1 },
    ]);
    expect(tags['tag']).to.deep.equal([
      { value: ':y', count: 1 },
      { value: 'checkout', count: 1 },
    ]);
    expect(Object.hasOwn(tags, '__proto__')).to.equal(true);
  });

  for (const engine of ENGINES)
    describe(engine.name, function () {
      let fixture: Fixture;
      useStore(engine, async (store) => {
        fixture = fixtureOn(store, undefined, (deps) => {
          const { projects } = deps;
          const repo_url = 'https://github.com/acme/shop';
          deps.projects = {
            ...projects,
            get: async (slug) => Object.assign({ ...(await projects.get(slug)) }, { repo_url }) as ProjectInfo,
          };
        });
      });

      it('includes every stored occurrence, and links to code in the project’s repository', async () => {
        const { bugs, lists, clock } = fixture;
        const error = { type: 'error', error_message: 'no price', file_path: 'src/cart.ts', line_no: 7 } as const;
        const { ref } = await bugs.record(
          report({ ...error, app_version: '1.0', environment: 'production', host: 'web-1' }),
        );
        await bugs.record(report({ ...error, app_version: '1.1', environment: 'production', tags: ['os:linux'] }));
        const first = await lists.getDetail(ref, MANAGER);
        expect(first.spread.versions.map(({ value }) => value)).to.have.members(['1.0', '1.1']);
        expect(first.spread.environments).to.deep.equal([{ value: 'production', count: 2 }]);
        expect(first.spread.tags).to.deep.equal({ os: [{ value: 'linux', count: 1 }] });
        expect(first.item.repo_url).to.equal('https://github.com/acme/shop');
        expect(first.item.untrusted_fields).to.not.include('repo_url');
        expect(first.code_url).to.equal('https://github.com/acme/shop/blob/HEAD/src/cart.ts#L7');
        clock.advance(60_000);
        await lists.getDetail(ref, MANAGER);
        await bugs.record(report({ ...error, app_version: '1.1', host: 'web-1' }));
        const { spread } = await lists.getDetail(ref, MANAGER);
        expect(spread.versions).to.deep.equal([
          { value: '1.1', count: 2 },
          { value: '1.0', count: 1 },
        ]);
        expect(spread.hosts).to.deep.equal([{ value: 'web-1', count: 2 }]);
      });

      it('lists stored occurrences with a value, paged, newest first', async () => {
        const { bugs, parts, lists, clock } = fixture;
        const error = { type: 'error', error_message: 'no price', file_path: 'src/cart.ts' } as const;
        const agents = ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'curl/8.5.0'];
        let id = '';
        for (let i = 0; i < 12; i++) {
          const fields = {
            app_version: `1.${i % 3}`,
            environment: i < 6 ? 'staging' : 'production',
            tags: [`n:${i % 2}`],
          };
          const headers = [['User-Agent', agents[i % 2] ?? '']];
          const context = { request: i < 8 ? { headers: Object.fromEntries(headers) as object } : { headers } };
          const details = (): ReportDetails => ({ context: context as unknown as Json, breadcrumbs: null });
          ({ id } = await bugs.record(report({ ...error, ...fields }), { details }));
          clock.advance(1_000);
        }
        await settled(fixture);
        const versions = async (where: OccurrenceFilter, limit = 50): Promise<(string | null)[][]> => {
          const pages: (string | null)[][] = [];
          let cursor: string | null = null;
          do {
            const page: PageResponse = await parts.getPage(
              id,
              MANAGER,
              'occurrences',
              { limit, cursor, include_total: true },
              where,
            );
            pages.push((page.items as { app_version: string | null }[]).map(({ app_version }) => app_version));
            expect(page.has_more).to.equal(page.next_cursor !== null);
            cursor = page.next_cursor;
          } while (cursor !== null);
          return pages;
        };
        expect(await versions({ environment: ['production'] }, 4)).to.deep.equal([
          ['1.2', '1.1', '1.0', '1.2'],
          ['1.1', '1.0'],
        ]);
        expect(await versions({ version: ['1.1', '1.2'], environment: ['staging'] })).to.deep.equal([
          ['1.2', '1.1', '1.2', '1.1'],
        ]);
        expect(await versions({ browser: ['Firefox'], tag: ['n:0'] })).to.deep.equal([
          ['1.1', '1.2', '1.0', '1.1', '1.2', '1.0'],
        ]);
        expect(await versions({ browser: ['Firefox'], tag: ['n:1'] })).to.deep.equal([[]]);
        expect(await versions({ host: ['web-1'] })).to.deep.equal([[]]);
        const { spread } = await lists.getDetail(id, MANAGER);
        expect(spread.browsers).to.deep.equal([{ value: 'Firefox', count: 6 }]);
        for (const cursor of ['x', Buffer.from('2026~a').toString('base64url')]) {
          const requested = parts.getPage(id, MANAGER, 'occurrences', { cursor }, { version: ['1.0'] });
          expect(await requested.then(String, String)).to.contain('InvalidCursor');
        }
      });
    });
});
