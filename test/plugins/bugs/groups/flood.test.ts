/** Messages whose ids no mask knows (contract 21, flood). */
import { expect } from 'chai';
import fc from 'fast-check';
import { toCoarseText, isCoarse } from '../../../../plugins/bugs/grouping/coarse-form.js';
import { hashWithinProject } from '../../../../plugins/bugs/item/document-ids.js';
import type { Report } from '../../../../ports/domain/bugs.js';
import { errorReport, MANAGER, MASTER, memoryFixture, report, settled, type Fixture } from '../fixture.js';

/** Short words of letters and digits, which stay as they are. */
const strange = (n: number): Report => errorReport({ title: `E: ${n}`, error_message: `no seat ${n}A in hall Q${n}` });

describe('bugs: flood protection', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await memoryFixture();
  });
  afterEach(() => settled(fixture));

  const idsOf = async (from: number, to: number, fields: Partial<Report> = {}): Promise<string[]> => {
    const ids: string[] = [];
    for (let n = from; n <= to; n++) ids.push((await fixture.bugs.record({ ...strange(n), ...fields })).id);
    return ids;
  };

  it('creates 25 items from ids that no mask matches, then counts further reports in the first', async () => {
    const first = await idsOf(1, 25);
    expect(new Set(first).size).to.equal(25);
    expect(new Set(await idsOf(26, 60))).to.deep.equal(new Set([first[0]]));
    expect((await fixture.deps.items.get(first[0] ?? ''))?.flooded).to.equal(35);
    expect(await fixture.deps.items.count()).to.equal(25);
  });

  it('counts every merged key in that first item permanently', async () => {
    const [first] = await idsOf(1, 30);
    fixture.clock.advance(3 * 3_600_000);
    expect((await fixture.bugs.record(strange(28))).id).to.equal(first);
    expect((await fixture.deps.items.get(first ?? ''))?.flooded).to.equal(5);
  });

  it('creates items again after an hour', async () => {
    await idsOf(1, 25);
    fixture.clock.advance(3_600_001);
    expect((await fixture.bugs.record(strange(70))).created).to.equal(true);
  });

  it('counts in the next item when the first is deleted, and in its target when it is merged', async () => {
    const made = await idsOf(1, 25);
    const [first, second, third] = made as [string, string, string];
    await fixture.removal.remove(first, MASTER);
    expect((await fixture.bugs.record(strange(30))).id).to.equal(second);
    await fixture.merging.merge(second, third, MANAGER);
    expect((await fixture.bugs.record(strange(31))).id).to.equal(third);
    await fixture.merging.split(second, MANAGER);
    expect((await fixture.bugs.record(strange(32))).id).to.equal(second);
  });

  it('creates an item when all with the coarse key are deleted, and counts in the new item', async () => {
    for (const id of await idsOf(1, 25)) await fixture.removal.remove(id, MASTER);
    const next = await fixture.bugs.record(strange(30));
    expect(next).to.include({ created: true });
    expect((await fixture.bugs.record(strange(31))).id).to.equal(next.id);
  });

  it('finds the coarse keys of all items of a source, both early and later ones', async () => {
    const kinds = Array.from({ length: 40 }, (_, n) => ({ error_message: `${'x'.repeat(n + 1)} seat 1Q` }));
    const made: string[] = [];
    for (const kind of kinds) made.push((await fixture.bugs.record({ ...strange(1), ...kind })).id);
    expect(new Set(made).size).to.equal(40);
    expect(await fixture.deps.keys.count({ key: { prefix: 'c3:' } })).to.equal(15);
    for (const [n, { error_message }] of kinds.entries()) {
      const again = await fixture.bugs.record({ ...strange(1), error_message: error_message.replace('1Q', '2Q') });
      expect(again.id, error_message).to.equal(made[n]);
    }
  });

  it('uses coarse keys stored by earlier versions', async () => {
    const made = await idsOf(1, 25);
    const [{ id, first = [] } = { id: '' }] = (await fixture.deps.floods.find()).items;
    const [entry] = first;
    const key = entry?.key ?? '';
    await fixture.deps.floods.change({ id }, { unset: ['first'] });
    const of = hashWithinProject('alpha', key);
    await fixture.deps.keys.insert({ id: of, project: 'alpha', key, item_id: made[7] ?? '' });
    expect((await fixture.bugs.record(strange(30))).id).to.equal(made[7]);
  });

  it('stores no coarse key for a message with a single group', async () => {
    await fixture.bugs.record(errorReport({ error_message: 'no seat left in the hall' }));
    await fixture.bugs.record(errorReport({ error_message: 'no seat <word> in the hall' }));
    const [source] = (await fixture.deps.floods.find()).items;
    expect([source?.first?.length, source?.made_at.length]).to.deep.equal([1, 2]);
    expect(await fixture.deps.keys.count({ key: { prefix: 'c3:' } })).to.equal(0);
  });

  it('groups a class across origins, and joins pages and classes that differ in words with digits', async () => {
    const variants: readonly ((n: number) => Partial<Report>)[] = [
      (n) => ({ file_path: `/srv/part-${n}x/cart.js`, error_message: 'no price' }),
      (n) => ({ file_path: 'src/cart.js', function_name: `f${n}x`, error_message: 'no stock' }),
      (n) => ({
        file_path: `https://shop.example/item/${'abcdefgh'.charAt(n % 8)}${'x'.repeat(n)}`,
        error_message: 'no',
      }),
      (n) => ({ exception_class: `Late${n}X`, error_message: 'no time' }),
    ];
    for (const [kind, fields] of variants.entries()) {
      const made: string[] = [];
      for (let n = 1; n <= 60; n++)
        made.push(
          (await fixture.bugs.record({ ...strange(1), project: kind < 3 ? 'alpha' : 'beta', ...fields(n) })).id,
        );
      expect(new Set(made).size, String(kind)).to.be.at.most(25);
    }
    expect(await fixture.bugs.record({ ...strange(1), file_path: 'src/none.js', error_message: 'new' })).to.include({
      created: true,
    });
  });

  it('detects coarse texts of any message (property)', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[ab1 ]*(<word>)?$/));
    fc.assert(fc.property(text, (one) => isCoarse(toCoarseText(one)) || toCoarseText(one) === one));
  });

  it('creates a separate item for another class, origin, type or wording', async () => {
    await idsOf(1, 25);
    for (const fields of [
      { exception_class: 'F' },
      { file_path: 'src/other.ts' },
      { error_message: 'another text' },
      { project: 'beta' },
      { type: 'bug' as const },
      { fingerprint: ['mine'] },
    ]) {
      expect(await fixture.bugs.record({ ...strange(99), ...fields })).to.include({ created: true });
    }
  });

  it('does not apply to bugs and features, whose titles are intentional', async () => {
    for (let n = 1; n <= 40; n++)
      expect(await fixture.bugs.record(report({ title: `Step ${n}` }))).to.include({ created: true });
  });

  it('can be disabled', async () => {
    fixture.deps.grouping.flood_items = 0;
    expect(new Set(await idsOf(1, 40)).size).to.equal(40);
    expect(await fixture.deps.floods.count()).to.equal(0);
  });

  it('masks only words that contain a digit', () => {
    expect(toCoarseText('no seat 12A in hall=Q7 (x9.2/b), <id>')).to.equal(
      'no seat <word> in hall=<word> (<word>), <id>',
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(toCoarseText(text)).not.to.match(/\d/);
        expect(toCoarseText(toCoarseText(text))).to.equal(toCoarseText(text));
      }),
    );
  });
});
