/** What is kept of reads, and for how long: no longer than nobody else can have written. */
import { expect } from 'chai';
import fc from 'fast-check';
import { CachedReads, type Begun } from '../../../../adapters/sqlite/kept/cached-reads.js';
import { CommitWatch } from '../../../../adapters/sqlite/kept/other-commits.js';

/** Just short of what an answer is kept without a look, in milliseconds. */
const KEPT = 4.9;

describe('sqlite: cached reads', () => {
  let now = 0;
  /** Of the file; NaN: it cannot be told. */
  let version = Number.NaN;
  let seen = new CommitWatch();
  /** A transaction of the writer that lasts no time. */
  const look = (others: number): void => {
    seen.begin(others);
    seen.end();
  };
  const filled = (known = Number.NaN): CachedReads => {
    now = 1_000;
    version = known;
    seen = new CommitWatch(undefined, () => now);
    const reads = new CachedReads(
      seen,
      () => version,
      () => now,
    );
    look(1);
    reads.keep('rows', 'id a', 'answer', reads.begin('rows'));
    reads.keep('rows', 'id none', null, reads.begin('rows'));
    reads.keep('other', 'id a', 'other answer', reads.begin('other'));
    return reads;
  };

  it('are cached by collection and query, also an empty result', () => {
    const reads = filled();
    expect(reads.get('rows', 'id a')).to.equal('answer');
    expect(reads.get('rows', 'id none')).to.equal(null);
    expect(reads.get('other', 'id a')).to.equal('other answer');
    expect(reads.get('rows', 'id b')).to.equal(undefined);
    expect(reads.get('third', 'id a')).to.equal(undefined);
  });

  it('are dropped by a write to the collection, also reads under way', () => {
    const reads = filled();
    const begun = reads.begin('rows');
    reads.written('rows');
    expect(reads.get('rows', 'id a')).to.equal(undefined);
    expect(reads.get('other', 'id a')).to.equal('other answer');
    reads.keep('rows', 'id a', 'of before', begun);
    expect(reads.get('rows', 'id a')).to.equal(undefined);
    reads.keep('rows', 'id a', 'of after', reads.begin('rows'));
    expect(reads.get('rows', 'id a')).to.equal('of after');
  });

  it('expire after some milliseconds, unless the writer has checked since', () => {
    const reads = filled();
    now += KEPT;
    look(1);
    now += KEPT;
    expect(reads.get('rows', 'id a')).to.equal('answer');
    now += 0.2;
    expect(reads.get('rows', 'id a')).to.equal(undefined);
    look(1);
    expect(reads.get('rows', 'id a')).to.equal(undefined);
  });

  it('expire by the start of the first read', () => {
    const reads = filled();
    const begun = reads.begin('rows');
    now += KEPT;
    reads.keep('rows', 'id b', 'slow', begun);
    expect(reads.get('rows', 'id b')).to.equal('slow');
    now += 0.2;
    expect(reads.get('rows', 'id b')).to.equal(undefined);
  });

  it('are shared by concurrent readers', () => {
    const reads = filled();
    for (let n = 0; n < 3; n++) reads.keep('rows', 'id a', 'answer', reads.begin('rows'));
    reads.written('rows');
    reads.written('other');
    now += KEPT;
    reads.keep('rows', 'id a', 'anew', reads.begin('rows'));
    now += KEPT;
    expect(reads.get('rows', 'id a')).to.equal('anew');
  });

  it('are not kept by an old check', () => {
    const reads = filled();
    look(1);
    now += KEPT + 0.2;
    expect(reads.get('rows', 'id a')).to.equal(undefined);
  });

  it('are kept during a transaction of the writer, and from its end', () => {
    const reads = filled();
    seen.begin(1);
    now += 500;
    expect(reads.get('rows', 'id a')).to.equal('answer');
    seen.end();
    now += KEPT;
    expect(reads.get('rows', 'id a')).to.equal('answer');
    now += 0.2;
    expect(reads.get('rows', 'id a')).to.equal(undefined);
  });

  it('are not kept by a failed transaction', () => {
    const reads = filled();
    seen.begin(1);
    now += KEPT + 0.2;
    seen.fail();
    expect(reads.get('rows', 'id a')).to.equal(undefined);
  });

  it('are dropped by a transaction that starts after the commit of another process', () => {
    const reads = filled();
    seen.begin(2);
    expect(reads.get('rows', 'id a')).to.equal(undefined);
  });

  it('share the checks of the writer with other threads', () => {
    const other = new CommitWatch(seen.shared, () => now);
    seen.begin(7);
    expect([other.others, other.at]).to.deep.equal([7, now]);
    seen.end();
    now += 3;
    expect([other.others, other.at]).to.deep.equal([7, now - 3]);
  });

  it('are dropped by a commit of another process, also reads under way', () => {
    const reads = filled();
    const begun = reads.begin('rows');
    look(2);
    expect(reads.get('rows', 'id a')).to.equal(undefined);
    expect(reads.get('other', 'id a')).to.equal(undefined);
    reads.keep('rows', 'id a', 'of before', begun);
    expect(reads.get('rows', 'id a')).to.equal(undefined);
    reads.keep('rows', 'id a', 'of after', reads.begin('rows'));
    expect(reads.get('rows', 'id a')).to.equal('of after');
  });

  it('are kept until a commit, which is checked once in some milliseconds', () => {
    const reads = filled(1);
    now += 60_000;
    expect(reads.get('rows', 'id a')).to.equal('answer');
    version += 1;
    now += KEPT;
    expect(reads.get('rows', 'id a')).to.equal('answer');
    now += 0.2;
    expect(reads.get('rows', 'id a')).to.equal(undefined);
    expect(reads.get('other', 'id a')).to.equal(undefined);
    reads.keep('rows', 'id a', 'of after', reads.begin('rows'));
    now += 60_000;
    expect(reads.get('rows', 'id a')).to.equal('of after');
  });

  it('may lack a commit during the first read', () => {
    const reads = filled(1);
    now += 60_000;
    version += 1;
    const begun = reads.begin('rows');
    version += 1;
    expect(reads.get('rows', 'id a')).to.equal(undefined);
    reads.keep('rows', 'id a', 'of before', begun);
    expect(reads.get('rows', 'id a')).to.equal(undefined);
    const again = reads.begin('rows');
    version += 1;
    reads.keep('rows', 'id a', 'of between', again);
    now += KEPT + 0.2;
    expect(reads.get('rows', 'id a')).to.equal(undefined);
  });

  it('miss no acknowledged write, and no write of another process after 5 ms', () => {
    const names = ['rows', 'other'];
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ do: fc.constant('time passes'), ms: fc.constantFrom(0.5, 3, 4.9, 5, 40) }) },
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constantFrom(
            'a read begins',
            'a read ends',
            'another process commits',
            'the writer begins',
            'the writer ends',
            'the writer has committed',
            'a write is acknowledged',
            'the file cannot be asked',
          ),
          name: fc.constantFrom(...names),
        }),
      },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        now = 1_000;
        seen = new CommitWatch(undefined, () => now);
        let isDeaf = false;
        /** Commits of all, and of other processes. */
        let [commits, others] = [1, 1];
        const reads = new CachedReads(
          seen,
          () => (isDeaf ? Number.NaN : commits),
          () => now,
        );
        /** By collection: its last commit, the last acknowledged one, and those of other processes with their times. */
        const last = new Map(names.map((name) => [name, 1]));
        const due = new Map(names.map((name) => [name, 1]));
        const foreign: { name: string; at: number; n: number }[] = [];
        const reading: { name: string; begun: Begun; n: number }[] = [];
        const answers: { name: string; n: number }[] = [];
        let writer: 'idle' | 'holds' | 'commits' = 'idle';
        let written = '';
        for (const one of steps) {
          const { name = '' } = one as { name?: string };
          if (one.do === 'time passes') now += (one as { ms: number }).ms;
          else if (one.do === 'a read begins') reading.push({ name, begun: reads.begin(name), n: last.get(name) ?? 0 });
          else if (one.do === 'a read ends') {
            const ended = reading.shift();
            if (ended !== undefined) reads.keep(ended.name, 'asked', ended.n, ended.begun);
          } else if (one.do === 'the file cannot be asked') isDeaf = !isDeaf;
          else if (one.do === 'another process commits' && writer === 'idle') {
            [commits, others] = [commits + 1, others + 1];
            last.set(name, commits);
            foreign.push({ name, at: now, n: commits });
          } else if (one.do === 'the writer begins' && writer === 'idle') {
            seen.begin(others);
            [writer, written] = ['holds', name];
          } else if (one.do === 'the writer ends' && writer === 'holds') {
            seen.end();
            writer = 'commits';
          } else if (one.do === 'the writer has committed' && writer === 'commits') {
            commits += 1;
            last.set(written, commits);
            answers.push({ name: written, n: commits });
            writer = 'idle';
          } else if (one.do === 'a write is acknowledged') {
            const answer = answers.shift();
            if (answer !== undefined) {
              reads.written(answer.name);
              due.set(answer.name, answer.n);
            }
          }
          for (const asked of names) {
            const got = reads.get(asked, 'asked') as number | undefined;
            if (got === undefined) continue;
            expect(got).to.be.at.least(due.get(asked) ?? 0);
            for (const { name: of, at, n } of foreign)
              if (of === asked && now - at > 5) expect(got, `${now - at} ms`).to.be.at.least(n);
          }
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('are bounded in number', () => {
    const reads = filled();
    const kept = (n: number): unknown => reads.get('rows', `id ${n}`);
    for (let n = 0; n < 2_500; n++) {
      look(1);
      reads.keep('rows', `id ${n}`, n, reads.begin('rows'));
    }
    const left = Array.from({ length: 2_500 }, (_, n) => n).filter((n) => kept(n) !== undefined);
    expect(left.length).to.be.at.most(1_000);
    expect(left.at(-1)).to.equal(2_499);
  });
});
