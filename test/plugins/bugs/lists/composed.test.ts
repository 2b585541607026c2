/** Letters with marks, composed and decomposed, and refs in any case (contract 00, Amendments). */
import { expect } from 'chai';
import { errorReport, listed, MANAGER, memoryFixture, report, type Fixture } from '../fixture.js';

describe('bugs: Unicode normalization (NFC)', () => {
  let fixture: Fixture;
  beforeEach(async () => (fixture = await memoryFixture()));
  const found = async (q: string): Promise<string[]> =>
    listed(await fixture.lists.list(MANAGER, { q: [q], limit: 10 })).map(({ id }) => id);

  for (const [stored, typed] of [
    ['NFD', 'NFC'],
    ['NFC', 'NFD'],
  ] as const)
    it(`search-nfd: finds ${stored} by ${typed}, in message, description and comment`, async () => {
      const message = 'Datei Übersicht.txt fehlt'.normalize(stored);
      const { id } = await fixture.bugs.record(errorReport({ error_message: message, file_path: 'd.py' }));
      const { id: described } = await fixture.bugs.record(
        report({ title: 'Described', description: 'Die Größe von Ärger'.normalize(stored) }),
      );
      expect(await found('Übersicht'.normalize(typed))).to.deep.equal([id]);
      expect(await found('ÜBERSICHT.TXT'.normalize(typed))).to.deep.equal([id]);
      expect(await found('"von ärger"'.normalize(typed))).to.deep.equal([described]);
    });

  it('finds an item by its ref in any case', async () => {
    const { id, ref } = await fixture.bugs.record(report());
    for (const name of [ref, ref.toUpperCase(), id.toUpperCase()])
      expect((await fixture.lists.getDetail(name, MANAGER)).item.id, name).to.equal(id);
    expect(await found(ref.toUpperCase())).to.include(id);
  });
});
