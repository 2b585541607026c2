/** The rows of a page are those that a statement gives one by one, whatever is in them. */
import { expect } from 'chai';
import fc from 'fast-check';
import { DamagedTextError } from '../../../../adapters/sqlite/driver/damage.js';
import type { Driver, SqlValue } from '../../../../adapters/sqlite/driver/driver.js';
import { openDriver } from '../../../../adapters/sqlite/driver/open.js';

const value: fc.Arbitrary<SqlValue> = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({ unit: 'binary-ascii', maxLength: 20 }),
  fc.constantFrom<SqlValue>(null, '', '\0', 'real', 'x00', '7', '\ufffd', 2 ** 53 - 1, -(2 ** 53 - 1)),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.uint8Array({ maxLength: 8 }),
);

describe('sqlite driver: rows of a page', () => {
  let driver: Driver;
  const SELECT = 'SELECT body, n FROM t WHERE n > ? ORDER BY n LIMIT ?';

  beforeEach(() => {
    driver = openDriver(':memory:');
    driver.exec('CREATE TABLE t (n INTEGER PRIMARY KEY, body)');
  });
  afterEach(() => driver.close());

  const filled = (values: readonly SqlValue[]): void => {
    driver.exec('DELETE FROM t');
    const insert = driver.prepare('INSERT INTO t VALUES (?, ?)');
    for (const [n, one] of values.entries()) insert.run([n + 1, one]);
  };

  it('are the rows of `all`, in order', () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 12 }), fc.nat(3), (values, from) => {
        filled(values);
        const statement = driver.prepare(SELECT);
        expect(statement.page([from, 8])).to.deep.equal(statement.all([from, 8]));
      }),
    );
  });

  it('are rejected with the id of the damaged row when a text is not UTF-8', () => {
    filled(['{"id":"a"}', 'ü', null]);
    driver.exec(`INSERT INTO t VALUES (7, CAST('{"id":"b"' || x'ff' AS TEXT))`);
    expect(() => driver.prepare(SELECT).page([0, 9]))
      .to.throw(DamagedTextError)
      .with.property('id', 'b');
    expect(driver.prepare(SELECT).page([0, 3])).to.deep.equal([
      ['{"id":"a"}', 1],
      ['ü', 2],
      [null, 3],
    ]);
  });
});
