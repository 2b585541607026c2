/** Frames that come again: what was kept of them is given again, and only where they are the very same. */
import { expect } from 'chai';
import fc from 'fast-check';
import { framesOf, ownFrame, type StackFrame } from '../../../plugins/sentry/frames.js';
import { KnownStacks, type KeptFrames } from '../../../plugins/sentry/known-stacks.js';
import { reportOf } from '../../../plugins/sentry/event.js';
import type { Json } from '../../../ports/store.js';

const frame = (more: object = {}): object => ({
  filename: '/srv/app/cart.js',
  function: 'total',
  module: 'app:cart',
  lineno: 41,
  in_app: true,
  pre_context: ['  total() {'],
  context_line: '    return this.price.value;',
  post_context: ['  }'],
  ...more,
});

interface Context {
  source?: object;
  frames: object[];
}

function contextOf(...frames: object[]): Context {
  const event = { platform: 'node', exception: { values: [{ type: 'E', value: 'v', stacktrace: { frames } }] } };
  const { details } = reportOf(structuredClone(event), { project: 'shop', id: 'a'.repeat(32) });
  return details().context as unknown as Context;
}

describe('sentry event: repeated frames', () => {
  const outer = frame({ filename: '/srv/app/main.js', lineno: 9 });

  it('returns the same objects', () => {
    const [first, second] = [contextOf(outer, frame()), contextOf(outer, frame())];
    expect(second).to.deep.equal(first);
    expect(second.frames).to.equal(first.frames);
    expect(second.source).to.equal(first.source);
    expect(first.source).to.deep.equal({ 40: '  total() {', 41: '    return this.price.value;', 42: '  }' });
  });

  const others: [string, object][] = [
    ['a line of source before', { pre_context: ['  all() {'] }],
    ['one more line of source', { post_context: ['  }', '}'] }],
    ['the line itself', { context_line: '    return 0;' }],
    ['the function', { function: 'sum' }],
    ['the path', { abs_path: '/other/cart.js' }],
    ['whether it is the application’s', { in_app: undefined }],
  ];
  for (const [what, more] of others) {
    it(`parses them again when ${what} differs`, () => {
      const before = contextOf(outer, frame());
      const other = contextOf(outer, frame(more));
      expect(other).not.to.deep.equal(before);
      expect(contextOf(outer, frame())).to.deep.equal(before);
    });
  }

  it('parses them each time when one has variables', () => {
    const [first, second] = [contextOf(outer, frame({ vars: { n: 1 } })), contextOf(outer, frame({ vars: { n: 2 } }))];
    expect(first).to.deep.include({ locals: { n: 1 } });
    expect(second).to.deep.include({ locals: { n: 2 } });
    expect(contextOf(outer, frame({ vars: { n: 2 } })).frames).not.to.equal(second.frames);
  });

  it('parses them each time when they are long, in total or in an unused member', () => {
    const long = [frame({ context_line: 'x'.repeat(25_000) }), frame({ other: ['x'.repeat(25_000)] })];
    for (const one of [...long, frame({ ['x'.repeat(25_000)]: 1 })])
      expect(contextOf(outer, one).frames).not.to.equal(contextOf(outer, one).frames);
  });

  it('never returns them for other frames', () => {
    const few = <T>(...of: T[]): fc.Arbitrary<T | undefined> => fc.constantFrom(undefined, ...of);
    const given = fc.record({
      filename: few<unknown>('a.js', 'b.js', 7),
      lineno: few<unknown>(1, 2),
      function: few<unknown>('f', 'g'),
      in_app: few<unknown>(true, false, 'yes'),
      context_line: few<unknown>('x', ''),
      pre_context: few<unknown>([], ['x'], ['y'], 'x', { values: ['x'] }),
      vars: few<unknown>({ a: 1 }, { a: 2 }),
    });
    const all = (stack: readonly StackFrame[]): KeptFrames => ({
      source: null,
      frames: structuredClone(stack) as unknown as Json[],
    });
    fc.assert(
      fc.property(fc.array(fc.array(given, { minLength: 1, maxLength: 3 }), { maxLength: 40 }), (stacks) => {
        const known = new KnownStacks();
        for (const one of stacks) {
          const stack = framesOf({ frames: JSON.parse(JSON.stringify(one)) as unknown });
          const own = ownFrame(stack) as StackFrame;
          expect(known.kept(stack, own, () => all(stack))).to.deep.equal(all(stack));
        }
      }),
    );
  });
});
