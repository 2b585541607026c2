/**
 * What a process of an earlier version writes into a migrated store is found by `q`, version and host after the hourly
 * look (docs/operations.md, several versions on one store), on every store.
 */
import { expect } from 'chai';
import type { BugCaller } from '../../../plugins/bugs/caller.js';
import type { ItemQuery } from '../../../plugins/bugs/item/filters.js';
import type { ItemDoc } from '../../../plugins/bugs/item/model.js';
import { MIGRATIONS } from '../../../plugins/bugs/migrations.js';
import type { Report } from '../../../ports/domain/bugs.js';
import { ENGINES, errorReport, fixtureOn, listed, MANAGER, nameOf, report, settled, type Fixture } from './fixture.js';

const HANNA: BugCaller = { id: 'hanna', name: 'hanna', project: null, manage: true, kind: 'session' };
const HOUR = 3_600_000;

for (const { name, open } of ENGINES)
  describe(`bugs: writes of an earlier version on ${name}`, function () {
    let fixture: Fixture;
    let close: (() => Promise<void>) | null = null;
    beforeEach(async function () {
      const opened = await open(() => this.skip());
      close = opened.close;
      fixture = fixtureOn(opened.store);
      for (const migration of MIGRATIONS)
        await migration.run({
          ...fixture.deps,
          collection: <T extends { id: string }>(collection: string) => opened.store.collection<T>(nameOf(collection)),
        });
    });
    afterEach(async () => {
      if (close === null) return;
      await settled(fixture);
      await close();
    });

    const found = async (query: ItemQuery): Promise<string[]> =>
      listed(await fixture.lists.list(MANAGER, query))
        .map(({ title }) => title)
        .toSorted();
    /** What the report leaves of the item in an earlier version: three texts, no marks, no document of words. */
    async function older(id: string, marks: Pick<ItemDoc, 'version_marks' | 'host_marks'> = {}): Promise<void> {
      const { items, words } = fixture.deps;
      const { search_text = '' } = (await items.get(id)) ?? {};
      const short = search_text.split('\u001f').slice(0, 3).join('\u001f');
      const { version_marks, host_marks } = marks;
      await items.change({ id }, { set: { search_text: short, version_marks, host_marks } });
      await words.remove({ id });
    }
    const seen = (title: string, fields: Partial<Report>): Promise<{ id: string }> =>
      fixture.bugs.record(errorReport({ title, error_message: title, ...fields }), {
        details: () => ({ context: { transaction: `GET /${title}` }, breadcrumbs: null }),
      });

    it('are found by text, version and host: new items, and what came to known ones', async () => {
      const known = await seen('known', { app_version: '1.0.0', host: 'web-1' });
      const before = await fixture.deps.items.get(known.id);
      fixture.clock.advance(HOUR);
      await fixture.jobs.catchUp();

      fixture.clock.advance(1_000);
      await seen('known', { app_version: '1.0.0', host: 'web-2' });
      await seen('known', { app_version: '1.1.0', host: 'web-1' });
      await settled(fixture);
      await fixture.deps.items.change(
        { id: known.id },
        { set: { version_marks: before?.version_marks, host_marks: before?.host_marks } },
      );
      const made = await seen('made', { app_version: '1.1.0', host: 'web-3', file_path: 'src/Tax.ts' });
      const bug = await fixture.bugs.record(report({ title: 'told', description: 'anno dazumal' }));
      await fixture.comments.add(made.id, HANNA, { body: 'methuselah' });
      for (const { id } of [made, bug]) await older(id);
      expect(await found({ q: ['tax.ts'] })).to.deep.equal([]);
      expect(await found({ version: ['1.1.0'] })).to.deep.equal([]);

      const next = fixtureOn(fixture.store, fixture.clock);
      fixture.clock.advance(HOUR);
      await next.jobs.catchUp();
      expect(await found({ q: ['src/tax.ts methuselah "get /made"'] })).to.deep.equal(['made']);
      expect(await found({ q: ['dazumal'] })).to.deep.equal(['told']);
      expect(await found({ version: ['1.1.0'] })).to.deep.equal(['known', 'made']);
      expect(await found({ version: ['1.0.0'] })).to.deep.equal(['known']);
      expect(await found({ host: ['web-2'] })).to.deep.equal(['known']);
      expect(await found({ host: ['web-3'] })).to.deep.equal(['made']);
      const whole = await fixture.deps.items.get(known.id);
      expect([whole?.version_marks?.length, whole?.host_marks?.length]).to.deep.equal([2, 2]);
      await settled(next);
    });

    it('are found after a title was changed, and where the look was cut off', async () => {
      const { id } = await seen('first', { file_path: 'src/Tax.ts' });
      await fixture.comments.add(id, HANNA, { body: 'methuselah' });
      await fixture.edits.edit(id, MANAGER, { title: 'second' });
      const { items, words } = fixture.deps;
      const text = (await words.get(id))?.text ?? '';
      await items.change({ id }, { set: { search_text: 'second\u001ffirst\u001fe' } });
      await words.change({ id }, { set: { text: text.replaceAll('second', 'first') } });
      expect(await found({ q: ['second methuselah'] })).to.deep.equal([]);
      await fixture.jobs.catchUp(AbortSignal.abort());
      fixture.clock.advance(2 * HOUR);
      await fixture.jobs.catchUp();
      expect(await found({ q: ['second methuselah tax.ts'] })).to.deep.equal(['second']);
    });

    it('are all that is written: whole items stay as they are', async () => {
      const { id } = await seen('whole', { app_version: '1.0.0', host: 'web-1' });
      await fixture.comments.add(id, HANNA, { body: 'methuselah' });
      await settled(fixture);
      const before = [await fixture.deps.items.get(id), await fixture.deps.words.get(id)];
      await fixture.jobs.catchUp();
      expect([await fixture.deps.items.get(id), await fixture.deps.words.get(id)]).to.deep.equal(before);
    });
  });
