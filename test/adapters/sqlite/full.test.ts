/** A disk that is full: the port's own error, and what is stored stays (contract 00, limits). */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Connection } from '../../../adapters/sqlite/connection/connection.js';
import { unwrapOutcome, type WriteRequest } from '../../../adapters/sqlite/threads/messages.js';
import { commitBatch } from '../../../adapters/sqlite/writing/writer.js';
import { performRead } from '../../../adapters/sqlite/reading/read-requests.js';
import { StoreFull } from '../../../ports/store/index.js';
import { requestOf } from './support/request.js';

describe('sqlite: full disk', () => {
  let folder: string;
  let connection: Connection;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-full-'));
    connection = new Connection({ path: join(folder, 'aos.db'), durability: 'normal' });
    commitBatch(connection, [['ensure', '', JSON.stringify([{ name: 'notes', indexes: [] }])]]);
  });
  after(async () => {
    connection.close();
    await rm(folder, { recursive: true, force: true });
  });

  const insert = (id: string, size: number): WriteRequest =>
    requestOf('insert', 'notes', { id, text: 'x'.repeat(size) });

  it('reports StoreFull for each write that does not fit, and preserves the stored data', () => {
    expect(commitBatch(connection, [insert('before', 10)])).to.have.nested.property('[0].value');
    connection.driver.exec('PRAGMA max_page_count = 40');
    const outcomes = commitBatch(connection, [insert('small', 10), insert('large', 1_000_000)]);
    expect(() => unwrapOutcome(outcomes[1] ?? { value: null })).to.throw(StoreFull);
    connection.driver.exec('PRAGMA max_page_count = 1000000');
    expect(commitBatch(connection, [insert('after', 1_000_000)])).to.have.nested.property('[0].value');
    expect(performRead(connection, ['count', 'notes', JSON.stringify({ id: { in: ['before', 'after'] } })])).to.equal(
      2,
    );
  });
});
