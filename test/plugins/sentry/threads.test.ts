/**
 * Threads of an event in the report's context: the crashed one first, each with its stack while
 * there is room.
 */
import { expect } from 'chai';
import { convertEvent } from '../../../plugins/sentry/event-converter.js';
import { buildThreads } from '../../../plugins/sentry/event-threads.js';
import type { Json } from '../../../ports/store/index.js';

const stacktrace = {
  frames: [
    { filename: 'a.js', function: 'low', lineno: 1 },
    { filename: 'b.js', function: 'top', lineno: 2 },
  ],
};

describe('sentry: threads', () => {
  it('are stored with names, states and stacks, the crashed thread first', () => {
    const event = {
      threads: {
        values: [
          { id: 1, name: 'main', main: true, state: 'WAITING', stacktrace },
          { id: 2, name: 'worker\n2', crashed: true, current: true, held_locks: { a: {} } },
        ],
      },
    };
    expect(buildThreads(event, 'node')).to.deep.equal([
      { id: '2', name: 'worker 2', crashed: true, current: true, locks: 1 },
      { id: '1', name: 'main', state: 'WAITING', main: true, stack: '    at top (b.js:2)\n    at low (a.js:1)' },
    ]);
    const { details } = convertEvent({ ...event, extra: { a: 1 } }, { project: 'shop', id: 'a'.repeat(32) });
    expect(Object.keys(details().context ?? {})).to.deep.equal(['threads', 'extra']);
  });

  it('are stored with as many complete stacks as fit', () => {
    const values = Array.from({ length: 500 }, (_, id) => ({ id, name: `t${id}`, stacktrace }));
    const threads = buildThreads({ threads: { values } }, null) as { [key: string]: Json }[];
    expect(threads).to.have.length(32);
    const long = {
      frames: Array.from({ length: 30 }, () => ({ filename: 'x'.repeat(200), function: 'f', lineno: 1 })),
    };
    const many = buildThreads(
      {
        threads: [
          { id: 1, stacktrace: long },
          { id: 2, stacktrace },
        ],
      },
      null,
    ) as typeof threads;
    expect(many.map((thread) => Object.keys(thread))).to.deep.equal([['id'], ['id', 'stack']]);
  });

  it('are omitted for a single thread without name and state', () => {
    expect(buildThreads({ threads: [{ id: 1, current: true }] }, null)).to.equal(null);
    expect(buildThreads({}, null)).to.equal(null);
    for (const threads of [
      null,
      'x',
      [null, 'y', 4],
      { values: 'z' },
      [{ id: {}, name: [], stacktrace: { frames: 'no' } }],
    ])
      expect(() => buildThreads({ threads }, null)).to.not.throw();
  });
});
