/**
 * Where `q` looks (contract 20, endpoints), on every store; what a crash leaves; what earlier
 * versions stored.
 */
import { expect } from 'chai';
import type { BugCaller } from '../../../../plugins/bugs/caller.js';
import { ENGINES, errorReport, fixtureOn, listed, MANAGER, MASTER, report, settled, type Fixture } from '../fixture.js';
import { useStore } from '../../../support/stores.js';

const HANNA: BugCaller = { id: 'hanna', name: 'hanna', project: null, manage: true, kind: 'session' };

for (const engine of ENGINES) {
  describe(`bugs: q on ${engine.name}`, function () {
    let fixture: Fixture;

    useStore(engine, (store) => (fixture = fixtureOn(store)), { end: () => settled(fixture), once: true });

    const found = async (q: string, more: object = {}, caller = MANAGER): Promise<string[]> =>
      listed(await fixture.lists.list(caller, { q: [q], ...more })).map(({ title }) => title);

    it('finds an item by its description, file, transaction and comments, in any case', async () => {
      const { id } = await fixture.bugs.record(
        report({ title: 'Totals differ', description: `${'x'.repeat(60_000)} Der Rabatt wird DOPPELT gezählt` }),
      );
      const error = await fixture.bugs.record(
        errorReport({ title: 'E: no rate', error_message: 'no rate', file_path: 'src/Checkout/Tax.ts' }),
        { details: () => ({ context: { transaction: 'POST /orders/{id}/Pay' }, breadcrumbs: null }) },
      );
      expect(await found('rabatt doppelt')).to.deep.equal(['Totals differ']);
      expect(await found('checkout/tax')).to.deep.equal(['E: no rate']);
      expect(await found('"/orders/{id}/pay"')).to.deep.equal(['E: no rate']);
      expect(await found('vat-table')).to.deep.equal([]);
      await fixture.comments.add(error.id, HANNA, { body: 'Probably the VAT-Table of 2025' });
      expect(await found('vat-table')).to.deep.equal(['E: no rate']);
      await fixture.comments.add(error.id, HANNA, { body: 'No: the currency' });
      expect(await found('vat-table currency')).to.deep.equal(['E: no rate']);
      // Every word, wherever each stands: class, file, transaction and both comments.
      expect(await found('E tax.ts pay vat currency rate')).to.deep.equal(['E: no rate']);
      expect(await found('tax.ts rabatt')).to.deep.equal([]);
      // No word goes from one text into the next.
      expect(await found('"2025 no:"')).to.deep.equal([]);
      expect(await found('currency', { status: ['closed'] })).to.deep.equal([]);
      expect((await fixture.lists.list(MANAGER, { q: ['currency'], include_total: true })).total).to.equal(1);
      await fixture.edits.edit(id, MANAGER, { description: 'Only on Sundays', title: 'Sums differ' });
      expect(await found('rabatt')).to.deep.equal([]);
      expect(await found('sums sundays')).to.deep.equal(['Sums differ']);
      await fixture.edits.edit(id, MANAGER, { file_path: 'lib/sum.go' });
      expect(await found('sum.go sundays')).to.deep.equal(['Sums differ']);
      await fixture.edits.edit(id, MANAGER, { status: 'resolved', comment: 'A rounding mode' });
      expect(await found('sum.go rounding')).to.deep.equal(['Sums differ']);
    });

    it('finds one or two characters at the start of a word in the title or ref', async () => {
      const record = async (title: string, more: object = {}): Promise<string> =>
        (await fixture.bugs.record(report({ title, ...more }))).ref;
      const ref = await record('Überlauf in C# (db-pool) 数据', { description: 'Quite another thing' });
      const number = ref.slice(ref.lastIndexOf('-') + 1, ref.lastIndexOf('-') + 3);
      for (const q of [
        'üb',
        'Ü',
        'in',
        'c#',
        'c',
        '(d',
        'd',
        'db',
        'po',
        '数',
        '数据',
        number,
        `üb db 数 ${number} c#`,
      ])
        expect(await found(q), q).to.include('Überlauf in C# (db-pool) 数据');
      for (const q of ['qu', 'rl', '据', 'ol', '#', 'üb xx', 'b-', '\u001e', '\u001eü'])
        expect(await found(q), q).to.not.include('Überlauf in C# (db-pool) 数据');
      // With longer terms, wherever those are.
      expect(await found('db überlauf quite')).to.deep.equal(['Überlauf in C# (db-pool) 数据']);
      expect(await found('qu überlauf')).to.deep.equal([]);
      await fixture.edits.edit(ref, MANAGER, { title: 'Zebra' });
      expect(await found('ze quite')).to.deep.equal(['Zebra']);
      expect(await found(`ze ${number}`)).to.deep.equal(['Zebra']);
      expect(await found('üb quite')).to.deep.equal([]);
    });

    it('shows a project-bound caller nothing of another project, and hands out matching items', async () => {
      const said = { description: 'The zanzibar case' };
      const here = await fixture.bugs.record(report({ title: 'Here', ...said }));
      await fixture.bugs.record(report({ title: 'There', project: 'beta', ...said }));
      expect((await found('zanzibar')).toSorted()).to.deep.equal(['Here', 'There']);
      expect(await found('zanzibar', {}, { ...MANAGER, project: 'beta' })).to.deep.equal(['There']);
      expect(await found('zanzibar', { project: ['alpha'] })).to.deep.equal(['Here']);
      const filter = await fixture.lists.toFilter(MANAGER, { q: ['zanzibar'], project: ['alpha'] });
      const { item } = await fixture.nextItem.reserveNext(MANAGER, { agent: 'a' }, filter);
      expect(item?.id).to.equal(here.id);
      expect((await fixture.nextItem.reserveNext(MANAGER, { agent: 'a' }, filter)).item).to.equal(null);
      expect(await fixture.bulk.count({ q: ['zanzibar'] }, MANAGER)).to.equal(2);
    });

    it('forgets a deleted item', async () => {
      const { id } = await fixture.bugs.record(report({ title: 'Gone', description: 'quicksilver' }));
      await fixture.removal.remove(id, MASTER);
      expect(await found('quicksilver')).to.deep.equal([]);
      expect(await fixture.deps.words.get(id)).to.equal(null);
    });

    it('finds all of twenty concurrent comments', async () => {
      const { id } = await fixture.bugs.record(report({ title: 'Busy' }));
      const other = fixtureOn(fixture.store, fixture.clock);
      await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          (n % 2 === 0 ? fixture : other).comments.add(id, HANNA, { body: `marker${n}x` }),
        ),
      );
      for (let n = 0; n < 20; n++) expect(await found(`marker${n}x`), String(n)).to.deep.equal(['Busy']);
      expect(await fixture.deps.items.get(id)).to.not.have.property('words_at');
      await settled(other);
    });

    it('indexes the comment in the job when the process dies after writing it', async () => {
      const { id } = await fixture.bugs.record(report({ title: 'Cut off' }));
      const dying = fixtureOn(fixture.store, fixture.clock, (deps) => {
        const { words } = deps;
        deps.words = new Proxy(words, {
          get: (target, name) =>
            name === 'get'
              ? async () => {
                  throw new Error('the process is gone');
                }
              : Reflect.get(target, name),
        });
      });
      await dying.comments.add(id, HANNA, { body: 'thunderbolt' }).then(
        () => expect.fail('an answer'),
        (error: Error) => expect(error.message).to.equal('the process is gone'),
      );
      expect(await found('thunderbolt')).to.deep.equal([]);
      fixture.clock.advance(11_000);
      await fixture.jobs.completePendingWork();
      expect(await found('thunderbolt')).to.deep.equal(['Cut off']);
    });
  });
}
