/** Look-ups over documents that are there already, taken in by steps by a process that is killed again and again. */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from '../../../../../adapters/sqlite/connection/connection.js';
import type { Table } from '../../../../../adapters/sqlite/connection/table.js';
import { candidatesOf, planOf } from '../../../../../adapters/sqlite/lookups/candidates.js';
import { takeIn } from '../../../../../adapters/sqlite/lookups/lookups.js';
import { takenIn } from '../../../../../adapters/sqlite/schema/lookup-tables.js';
import { SqliteStore } from '../../../../../adapters/sqlite/store.js';
import type { Doc, Filter } from '../../../../../ports/store.js';

const DECLARER = fileURLToPath(new URL('../support/lookups.js', import.meta.url));

describe('sqlite, look-ups of a killed process', () => {
  let folder = '';
  let path = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-lookups-'));
    path = join(folder, 'aos.db');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const allIn = (connection: Connection): void => {
    while (connection.transaction(() => takeIn(connection, 'rows')) !== null);
  };
  const candidates = (connection: Connection, filter: Filter): string[] | null => {
    const table = connection.table('rows') as Table;
    const plan = planOf(table, filter, [['at', 'desc']]);
    const rows = plan && candidatesOf(connection, table, plan);
    const id = connection.prepare('SELECT id FROM rows WHERE rowid = ?');
    return rows && rows.map((row) => String(id.get([row])?.[0]));
  };
  const held = (connection: Connection): unknown[] =>
    ['fresh', 'numbers'].map((table) => connection.prepare(`SELECT count(*) FROM "rows:${table}"`).get([])?.[0]);

  it('fills existing rows in batches, also after a kill, with complete results at any time', async () => {
    const ALL = 6_000;
    const KILLS = 3;
    const store = new SqliteStore({ path });
    await store.connect();
    const rows = store.collection<Doc & { at: number; text: string }>('rows');
    const text = (i: number): string => `row ${i} ${'some words of it '.repeat(20)}`;
    for (let i = 0; i < ALL; i += 1_000)
      await rows.bulk(
        Array.from({ length: 1_000 }, (_, k) => ({ insert: { id: `r${i + k}`, at: i + k, text: text(i + k) } })),
      );
    await store.close();
    const state = (): string | null => {
      const connection = new Connection({ path, durability: 'normal' });
      const id = takenIn(connection, 'rows');
      connection.close();
      return id;
    };
    let kills = 0;
    for (let last: string | null = ''; last !== null;) {
      const child = spawn(process.execPath, [DECLARER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(child.stdout, 'data');
      const before = last;
      const toTheEnd = kills === KILLS;
      do {
        await new Promise((resolve) => setTimeout(resolve, 5));
        last = state();
      } while (toTheEnd ? last !== null : last === before);
      child.kill('SIGKILL');
      await once(child, 'exit');
      kills++;
      last = state();
      if (kills === 2) {
        const other = new SqliteStore({ path });
        await other.connect();
        const others = other.collection<Doc & { at: number; text: string }>('rows');
        expect(await others.count({ text: { contains: 'row 5999 ' } })).to.equal(1);
        expect(await others.count({ text: { contains: 'row 1 ' } })).to.equal(1);
        await others.change({ id: 'r5999' }, { set: { text: 'changed meanwhile' } });
        await others.remove({ id: 'r5998' });
        expect(await others.count({ text: { contains: 'changed meanwhile' } })).to.equal(1);
        await other.close();
      }
    }
    expect(kills).to.equal(KILLS + 1);
    const connection = new Connection({ path, durability: 'normal' });
    connection.refresh();
    allIn(connection);
    expect(held(connection)).to.deep.equal([0, ALL - 1]);
    expect(candidates(connection, { text: { contains: 'changed meanwhile' } })).to.deep.equal(['r5999']);
    expect(candidates(connection, { text: { contains: 'row 4321 ' } })).to.deep.equal(['r4321']);
    connection.close();
  });
});
