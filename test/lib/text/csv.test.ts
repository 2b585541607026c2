import { expect } from 'chai';
import { formatCsvPages, type CsvPage } from '../../../lib/text/csv.js';

describe('formatCsvPages', () => {
  const numbers = Array.from({ length: 25 }, (_, i) => i);
  const requested: (string | null)[] = [];
  const loadPage = async (after: string | null): Promise<CsvPage<number>> => {
    requested.push(after);
    const start = Number(after ?? 0);
    const next = start + 10;
    return { items: numbers.slice(start, next), next: next < numbers.length ? String(next) : null };
  };
  beforeEach(() => void requested.splice(0));

  it('writes the columns once and the rows of all pages', async () => {
    const csv = await formatCsvPages(['n', 'name'], loadPage, (n) => [n, `=${n}`]);
    const lines = csv.split('\r\n');
    expect(lines).to.have.length(27);
    expect(lines.slice(0, 2)).to.deep.equal(['n,name', "0,'=0"]);
    expect(lines.at(-2)).to.equal("24,'=24");
    expect(requested).to.deep.equal([null, '10', '20']);
  });

  it('stops at the limit without another read', async () => {
    const csv = await formatCsvPages(['n'], loadPage, async (n) => [n], 12);
    expect(csv.split('\r\n').at(-2)).to.equal('11');
    expect(requested).to.deep.equal([null, '10']);
  });

  it('writes the columns of an empty list', async () => {
    expect(
      await formatCsvPages(
        ['n'],
        async () => ({ items: [], next: null }),
        () => [],
      ),
    ).to.equal('n\r\n');
  });
});
