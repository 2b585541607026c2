/**
 * Memory of an export: a machine of 256 MB exports source maps too (docs/backup.md,
 * backup and moving).
 */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeExport } from '../../../adapters/archive/transfer/export.js';
import { MemoryStore } from '../../../adapters/memory/store.js';
import type { Collection, Doc } from '../../../ports/store/index.js';

const ABOUT = { version: '1.0.0', created_at: '2026-11-27T12:00:00.000Z', keys: {} };

/** The same with some methods replaced. */
const bound = <T extends object>(it: T, methods: Partial<T>): T =>
  new Proxy(it, {
    get: (target, key): unknown => {
      if (key in methods) return Reflect.get(methods, key);
      const own: unknown = Reflect.get(target, key, target);
      return typeof own === 'function' ? own.bind(target) : own;
    },
  });

describe('archive export', () => {
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'aos-export-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** The characters of each page that an export of these documents reads. */
  async function pagesOf(documents: number, characters: number): Promise<number[]> {
    const store = new MemoryStore();
    const rows = store.collection<Doc & { data: string }>('maps_pieces');
    for (let n = 0; n < documents; n++) await rows.insert({ id: `p${n}`, data: 'x'.repeat(characters) });
    const pages: number[] = [];
    const collection = <T extends Doc>(name: string): Collection<T> => {
      const it = store.collection<T>(name);
      const find: typeof it.find = async (query) => {
        const page = await it.find(query);
        if (name === 'maps_pieces') pages.push(JSON.stringify(page.items).length);
        return page;
      };
      return bound(it, { find });
    };
    const watched = bound(store, { collection });
    const { contents } = await writeExport(join(folder, 'e.tar.gz'), ABOUT, watched, null);
    expect(contents.documents).to.equal(documents);
    return pages;
  }

  it('reads large documents in small batches', async () => {
    expect(Math.max(...(await pagesOf(60, 350_000)))).to.be.below(4.5 * 1024 * 1024);
  });

  it('reads small documents in large batches', async () => {
    expect(await pagesOf(1_000, 10)).to.have.length.below(10);
  });
});
