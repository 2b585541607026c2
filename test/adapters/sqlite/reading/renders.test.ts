/** Modules of renderings that cannot be loaded: a programming error of one call, after which the store goes on. */
import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SqliteStore } from '../../../../adapters/sqlite/store.js';
import { changeRendered, findRendered, type Rendering } from '../../../../ports/rendering.js';
import type { Collection, Doc } from '../../../../ports/store.js';
import { rejection } from '../../../../testing/contracts/fixture.js';
import { RENDERED } from '../../../../testing/contracts/rendered.js';

interface Row extends Doc {
  n: number;
}

describe('sqlite, modules of renderings', () => {
  let folder = '';
  let store: SqliteStore;
  let rows: Collection<Row>;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-render-'));
    store = new SqliteStore({ path: join(folder, 'store.db') });
    await store.connect();
    rows = store.collection<Row>('rows');
    await rows.insert({ id: 'a', n: 1 });
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  const render = (): object => ({});
  const renderingOf = (file: string): Rendering => ({
    render,
    module: pathToFileURL(join(folder, file)),
    context: null,
  });
  const change = (rendering: Rendering): Promise<string | null> =>
    changeRendered(rows, { id: 'a' }, { inc: { n: 1 } }, rendering);

  it('read and change nothing when the function or the module is missing', async () => {
    await writeFile(join(folder, 'empty.mjs'), 'export const other = 1;');
    for (const [file, reason] of [
      ['empty.mjs', 'exports no function `render`'],
      ['nowhere.mjs', 'nowhere.mjs'],
    ] as const) {
      for (const call of [() => findRendered(rows, {}, renderingOf(file)), () => change(renderingOf(file))])
        expect(await rejection(call()), file)
          .to.be.instanceOf(Error)
          .with.property('message')
          .that.contains(reason);
      expect(await rows.get('a')).to.deep.equal({ id: 'a', n: 1 });
    }
    const rendering = { ...RENDERED, context: { add: 100 } };
    expect(JSON.parse((await change(rendering)) ?? '')).to.deep.include({ sum: 102 });
  });

  it('are loaded again after a failure', async () => {
    expect(await rejection(change(renderingOf('late.mjs')))).to.be.instanceOf(Error);
    await writeFile(join(folder, 'late.mjs'), 'export const render = ({ n }) => ({ n });');
    expect(await change(renderingOf('late.mjs'))).to.equal('{"n":2}');
  });
});
