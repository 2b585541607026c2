/** Which callers share a page: those for whom nothing can have changed since it was asked for. */
import { expect } from 'chai';
import { KeptPages } from '../../../../adapters/sqlite/kept/kept-pages.js';
import { CommitWatch } from '../../../../adapters/sqlite/kept/other-commits.js';
import type { Rendered } from '../../../../ports/rendering.js';
import { rejection } from '../../../../testing/contracts/fixture.js';

describe('sqlite: cached pages', () => {
  let now = 0;
  let seen = new CommitWatch();
  let version = 1;
  let pages = new KeptPages(seen, () => version);
  /** Pages that were read, each with how to end its reading. */
  let reads: { done: (json: string) => void; fail: (why: Error) => void }[] = [];
  beforeEach(() => {
    now = 1_000;
    seen = new CommitWatch(undefined, () => now);
    version = 1;
    pages = new KeptPages(
      seen,
      () => version,
      () => now,
    );
    reads = [];
    seen.begin(1);
    seen.end();
  });
  const take = (asked = 'all'): Promise<Rendered> =>
    pages.take(
      ['items', 'texts'],
      asked,
      () =>
        new Promise((resolve, reject) => {
          reads.push({ done: (json) => resolve({ json, next: null }), fail: reject });
        }),
    );

  it('share one read among concurrent callers, and its page with the next ones', async () => {
    const both = [take(), take()];
    expect(reads).to.have.length(1);
    reads[0]?.done('[1]');
    const [one, other] = await Promise.all(both);
    expect(one).to.equal(other);
    now += 4;
    expect(await take()).to.equal(one);
    void take('others');
    expect(reads).to.have.length(2);
  });

  it('include a write to either collection in later reads, also during an earlier read', () => {
    for (const name of ['items', 'texts']) {
      reads = [];
      void take(name);
      pages.written(name);
      void take(name);
      void take(name);
      expect(reads, name).to.have.length(2);
    }
    pages.written('monitors');
    void take('texts');
    expect(reads).to.have.length(2);
  });

  it('include the commit of another process, immediately or after some milliseconds', () => {
    void take();
    seen.begin(2);
    seen.end();
    version += 1;
    void take();
    expect(reads).to.have.length(2);
    version += 1;
    now += 5;
    void take();
    expect(reads).to.have.length(3);
  });

  it('are cached until a write', async () => {
    const page = take();
    reads[0]?.done('[1]');
    now += 60_000;
    expect(await take()).to.equal(await page);
    now += 60_000;
    expect(await take()).to.equal(await page);
    expect(reads).to.have.length(1);
  });

  it('are all cached for fifty alternating pages', async () => {
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 50; i++) {
        const page = take(`page ${i}`);
        reads[i]?.done(`["${'x'.repeat(100_000)}"]`);
        await page;
        now += 20;
      }
    }
    expect(reads).to.have.length(50);
  });

  it('reject the callers of a failed read, and read again for the next', async () => {
    const both = [take(), take()];
    reads[0]?.fail(new Error('no disk'));
    for (const one of both) expect(String(await rejection(one))).to.contain('no disk');
    void take();
    expect(reads).to.have.length(2);
  });

  it('do not cache a long page, nor all of many short ones', async () => {
    const long = take('long');
    reads[0]?.done(`["${'x'.repeat(300_000)}"]`);
    await long;
    void take('long');
    expect(reads).to.have.length(2);
    for (let i = 0; i < 100; i++) void take(`page ${i}`);
    void take('page 0');
    expect(reads).to.have.length(103);
  });
});
