/** What an import reads of the database of another program. */
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readTables } from '../../../../adapters/sqlite/copying/read-tables.js';
import { openDriver } from '../../../../adapters/sqlite/driver/open.js';
import { ServiceError } from '../../../../kernel/errors.js';

describe('readTables', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos tables %20?#'));
    file = join(folder, 'kuma.db');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const write = (...statements: string[]): void => {
    const driver = openDriver(file);
    for (const statement of statements) driver.exec(statement);
    driver.close();
  };

  it('returns the rows of the tables that exist', () => {
    write(
      'CREATE TABLE monitor (id INTEGER PRIMARY KEY, "first name" TEXT)',
      "INSERT INTO monitor VALUES (2, 'b'), (1, NULL)",
    );
    expect(readTables(file, ['monitor', 'tag'])).to.deep.equal({
      monitor: [
        { id: 1, 'first name': null },
        { id: 2, 'first name': 'b' },
      ],
    });
  });

  it('reads rows that exist only in the write-ahead log, and changes neither file', async () => {
    write('PRAGMA journal_mode = WAL', 'CREATE TABLE monitor (id INTEGER)');
    const writer = openDriver(file);
    writer.exec('INSERT INTO monitor VALUES (1)');
    // As after a crash: the log is larger than nothing, and no one has the file open.
    const [database, log] = await Promise.all([readFile(file), readFile(`${file}-wal`)]);
    writer.close();
    await Promise.all([writeFile(file, database), writeFile(`${file}-wal`, log)]);
    expect(readTables(file, ['monitor'])).to.deep.equal({ monitor: [{ id: 1 }] });
    expect((await readFile(file)).equals(database)).to.equal(true);
    expect((await readFile(`${file}-wal`)).equals(log)).to.equal(true);
  });

  it('reads a read-only file', async () => {
    write('CREATE TABLE monitor (id INTEGER)', 'INSERT INTO monitor VALUES (1)');
    await chmod(file, 0o400);
    expect(readTables(file, ['monitor'])).to.deep.equal({ monitor: [{ id: 1 }] });
    expect(await readdir(folder)).to.deep.equal(['kuma.db']);
  });

  it('does not execute a view', () => {
    write('CREATE VIEW monitor AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n');
    expect(readTables(file, ['monitor'])).to.deep.equal({});
  });

  const reject = (): unknown => {
    try {
      return readTables(file, ['monitor']);
    } catch (error) {
      expect(error).to.be.instanceOf(ServiceError);
      const { code, fields } = error as ServiceError;
      return { code, ...fields };
    }
  };
  const code = 'validation_failed';

  it('rejects a file that SQLite cannot read', async () => {
    await writeFile(file, Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(4_000, 7)]));
    expect(reject()).to.deep.equal({ code, file: 'cannot be read as a database: the file is not a database' });
    await rm(file);
    write('CREATE TABLE monitor (id INTEGER, name TEXT)', "INSERT INTO monitor VALUES (1, CAST(x'ff' AS TEXT))");
    expect(reject()).to.deep.equal({
      code,
      file: 'cannot be read as a database: a stored text cannot be read: it is not UTF-8',
    });
    await rm(file);
    write('CREATE TABLE monitor (id TEXT PRIMARY KEY) WITHOUT ROWID');
    expect(reject()).to.deep.equal({ code, file: 'cannot be read as a database: no such column: rowid' });
  });

  for (const [of, insert] of [
    ['a text', "INSERT INTO monitor (id, name) VALUES (1, printf('%.*c', 17000000, 'x'))"],
    ['a blob', 'INSERT INTO monitor (id, name) VALUES (1, zeroblob(17000000))'],
    [
      'many empty rows',
      'INSERT INTO monitor (id) WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 200000) SELECT NULL FROM n',
    ],
  ] as const)
    it(`rejects more than 16 MiB of ${of}`, () => {
      const further = Array.from({ length: 100 }, (_, n) => `c${n} TEXT`);
      write(`CREATE TABLE monitor (id INTEGER, name TEXT, ${further.join()})`, insert);
      expect(reject()).to.deep.equal({ code, file: 'contains more than 16 MiB in the tables monitor' });
    });
});
