/** Lists of items by the versions and hosts that they were seen in. */
import { expect } from 'chai';
import type { ItemQuery } from '../../../../plugins/bugs/item/filters.js';
import { MAX_PLACE_MARKS } from '../../../../plugins/bugs/item/place-marks.js';
import type { Report } from '../../../../ports/domain/bugs.js';
import { ENGINES, errorReport, fixtureOn, listed, MANAGER, report, settled, type Fixture } from '../fixture.js';
import { httpOf } from '../http.js';
import { useStore } from '../../../support/stores.js';

for (const { name, open } of ENGINES)
  describe(`bugs: lists by version and host on ${name}`, () => {
    let fixture: Fixture;
    useStore({ name, open }, (store) => (fixture = fixtureOn(store)), { end: () => settled(fixture) });

    const seen = (error_message: string, fields: Partial<Report>) =>
      fixture.bugs.record(errorReport({ error_message, title: error_message, ...fields }));
    const found = async (query: ItemQuery): Promise<string[]> =>
      listed(await fixture.lists.list(MANAGER, query))
        .map(({ title }) => title)
        .toSorted();

    it('find items by version and host of any occurrence', async () => {
      await seen('one', { app_version: '1.4.0', host: 'web-1' });
      await seen('one', { app_version: '1.5.0', host: 'web-2' });
      await seen('one', { app_version: '1.5.0', host: 'web-2' });
      await seen('two', { app_version: '1.5.0', host: 'web-1', project: 'beta' });
      await fixture.bugs.record(report({ title: 'a bug', app_version: '1.4.0' }));
      expect(await found({ version: ['1.4.0'] })).to.deep.equal(['a bug', 'one']);
      expect(await found({ version: ['1.4'] })).to.deep.equal(['a bug', 'one']);
      expect(await found({ version: ['1.5.0'] })).to.deep.equal(['one', 'two']);
      expect(await found({ version: ['1.4.0', '1.5.0'], type: ['error'] })).to.deep.equal(['one', 'two']);
      expect(await found({ host: ['web-1'] })).to.deep.equal(['one', 'two']);
      expect(await found({ host: ['web-2'], version: ['1.4.0'] })).to.deep.equal(['one']);
      expect(await found({ host: ['web-1'], version: ['1.5.0'], project: ['beta'] })).to.deep.equal(['two']);
      expect(await found({ version: ['1.6.0'] })).to.deep.equal([]);
      expect(await found({ host: ['web-1.5.0'] })).to.deep.equal([]);
    });

    it('find versions of a very busy group, and store each value once', async () => {
      await seen('busy', { app_version: '1.0.0', host: 'web-0' });
      await Promise.all(
        Array.from({ length: 200 }, (_, i) => seen('busy', { app_version: `1.${i % 3}.0`, host: `web-${i % 4}` })),
      );
      await settled(fixture);
      expect(await found({ version: ['1.2.0'] })).to.deep.equal(['busy']);
      const [doc] = (await fixture.deps.items.find({})).items;
      expect(doc?.hit_count).to.equal(201);
      expect(new Set(doc?.version_marks).size).to.equal(3);
      expect(new Set(doc?.host_marks).size).to.equal(4);
    });

    it('include only the newest versions and first hosts, to limit the item size', async () => {
      for (let i = 0; i < MAX_PLACE_MARKS + 5; i++) await seen('old', { app_version: `1.${i}.0`, host: `web-${i}` });
      const [doc] = (await fixture.deps.items.find({})).items;
      expect([doc?.version_marks?.length, doc?.host_marks?.length]).to.deep.equal([MAX_PLACE_MARKS, MAX_PLACE_MARKS]);
      expect(await found({ version: [`1.${MAX_PLACE_MARKS + 4}.0`] })).to.deep.equal(['old']);
      expect(await found({ version: ['1.0.0'] })).to.deep.equal([]);
      expect(await found({ host: ['web-0'] })).to.deep.equal(['old']);
      expect(await found({ host: [`web-${MAX_PLACE_MARKS + 4}`] })).to.deep.equal([]);
    });

    it('are available over HTTP, and select the next item by version', async () => {
      await seen('one', { app_version: '1.4.0', host: 'web-1' });
      await seen('two', { app_version: '1.5.0', host: 'web-1' });
      const ask = await httpOf(fixture);
      const titles = ({ body }: { body: Record<string, unknown> }): unknown[] =>
        (body['items'] as { title: string }[]).map(({ title }) => title);
      expect(titles(await ask('GET', '/bugs?version=1.4.0&host=web-1'))).to.deep.equal(['one']);
      expect(titles(await ask('GET', '/bugs?version=1.4.0&version=1.5.0&sort=created_at&order=asc'))).to.deep.equal([
        'one',
        'two',
      ]);
      const next = await ask('POST', '/bugs?action=next&version=1.5.0', { agent: 'a' });
      expect(next.body['item']?.['title']).to.equal('two');
      expect(await ask('GET', '/bugs?hosts=web-1')).to.include({ status: 400 });
    });
  });
