/** How rows go to the event loop: as one buffer of UTF-8, whatever letters they have. */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '../../../../adapters/sqlite/connection/connection.js';
import { PageRenderer } from '../../../../adapters/sqlite/reading/page-renderer.js';
import { ensureCollection } from '../../../../adapters/sqlite/writing/ensure.js';
import { performWrite } from '../../../../adapters/sqlite/writing/perform.js';
import { RENDERED } from '../../../../testing/contracts/rendered.js';
import { requestOf } from '../support/request.js';

describe('sqlite, rendering', () => {
  let folder = '';
  let connection: Connection;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-rendering-'));
    connection = new Connection({ path: join(folder, 'aos.db'), durability: 'normal' });
  });
  after(async () => {
    connection.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('pages are UTF-8 in a buffer of their own, with ASCII and other letters side by side, also of rows that are known already', async () => {
    const write = (kind: 'insert' | 'change', request: object): unknown =>
      connection.transaction(() => performWrite(connection, requestOf(kind, 'rows', request)));
    connection.transaction(() => ensureCollection(connection, { name: 'rows', indexes: [] }));
    write('insert', { id: 'a', n: 1, text: 'plain' });
    write('insert', { id: 'b', n: 1, text: 'a \u0001 \u007f' });
    const renderer = new PageRenderer(connection);
    const find = { filter: {}, sort: [['id', 'asc']], rows: 11, after: null };
    const request = JSON.stringify({ find, module: RENDERED.module.href, beside: null, context: '{"add":1}' });
    const made = async (): Promise<object[]> => {
      const { json } = await renderer.page('rows', request);
      if (typeof json === 'string') throw new TypeError('text');
      // Of a larger buffer the whole would be handed over.
      expect(json.byteLength).to.equal(json.buffer.byteLength);
      return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(json)) as object[];
    };
    expect(await made()).to.have.length(2);
    for (const letter of ['\u0080', '\u00e9', '\u201c', '\u{1f600}']) {
      write('change', { filter: { id: 'b' }, update: { set: { text: letter } } });
      for (let round = 0; round < 2; round++) expect((await made())[1]).to.include({ text: letter });
    }
    write('change', { filter: { id: 'b' }, update: { set: { text: '' } } });
    expect((await made())[1]).to.include({ text: '' });
    connection.transaction(() => performWrite(connection, ['remove', 'rows', '{}']));
    expect(await made()).to.deep.equal([]);
  });
});
