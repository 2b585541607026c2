/**
 * That SQLite answers every hot query from an index, in order, with nothing to sort, or by values
 * of which few documents have one.
 */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '../../../adapters/sqlite/connection/connection.js';
import type { Table } from '../../../adapters/sqlite/connection/table.js';
import { buildFindSql } from '../../../adapters/sqlite/reading/read-requests.js';
import { ensureCollection } from '../../../adapters/sqlite/writing/ensure-collection.js';
import { narrowToAny, excludeReleasedBy } from '../../../plugins/bugs/item/queue-filters.js';
import { COLLECTIONS } from '../../../plugins/bugs/collections.js';
import { listSlotIds } from '../../../plugins/bugs/item/document-ids.js';
import { HOT_QUERIES } from './hot-queries.js';
import type { Filter, Sort } from '../../../ports/store/index.js';

describe('bugs: query plans of hot queries', () => {
  let folder = '';
  let connection: Connection;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-plans-'));
    connection = new Connection({ path: join(folder, 'aos.db'), durability: 'normal' });
    connection.runTransaction(() => COLLECTIONS.forEach((spec) => ensureCollection(connection, spec)));
    connection.refreshSchema();
  });
  after(async () => {
    connection.close();
    await rm(folder, { recursive: true, force: true });
  });

  const planOf = (collection: string, filter: Filter, sort: Sort): string => {
    const sql = buildFindSql(connection.getTable(collection) as Table, { filter, sort }, {}, 'body');
    const rows = connection.prepare(`EXPLAIN QUERY PLAN ${sql.text}`).all([...sql.values, 51]);
    return rows.map((row) => String(row[3])).join('; ');
  };

  for (const { collection, for: what, filter, sort } of HOT_QUERIES) {
    it(`${collection}: uses an index for ${what}`, () => {
      const sorted = sort[0]?.[0];
      const conditions = Object.fromEntries(filter.map((path) => [path, path === sorted ? { gt: 'a' } : 'a']));
      const plan = planOf(collection, conditions, sort);
      const { values } = connection.getTable(collection) as Table;
      if (sorted === undefined && filter.some((path) => values.includes(path))) return;
      expect(plan).to.match(/^(?:SEARCH|SCAN) \w+ USING (?:PRIMARY KEY|(?:COVERING )?INDEX) /);
      if (sorted === undefined) expect(plan).to.match(/^SEARCH /);
      // The last of the order is the id, which only the values of one path are not in.
      else
        expect(plan.replace(/; USE TEMP B-TREE FOR (RIGHT PART OF|LAST TERM OF) ORDER BY/, '')).not.to.include(
          'TEMP B-TREE',
        );
    });
  }

  it('looks up the occurrences of an item by their ids', () => {
    const plan = planOf('occurrences', { id: { in: listSlotIds('a') } }, [['received_at', 'desc']]);
    expect(plan).to.match(/^SEARCH occurrences USING INDEX sqlite_autoindex_occurrences_1 \(id=\?\)/);
  });

  it('action=next of an agent reads the queue in index order, with any filter', () => {
    for (const more of [{}, { project: 'a' }, { type: 'bug' }, { project: 'a', type: 'bug' }, { severity: 'low' }]) {
      const queue = { ...more, target_agent: { in: [null, 'me'] }, queue_key: { gt: '1', lt: '2' } };
      const filter = narrowToAny(queue, excludeReleasedBy('abc123', '2026-11-20T08:15:30.123Z'));
      const plan = planOf('items', filter, [['queue_key', 'asc']]);
      expect(plan)
        .to.match(/^SEARCH items USING INDEX \S*queue_key /)
        .and.not.include('TEMP B-TREE');
    }
  });
});
