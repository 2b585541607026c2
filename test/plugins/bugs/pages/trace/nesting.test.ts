/**
 * Exceptions of a trace as they nest: causes inside what they caused, members inside their group.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { FrameOwnerIndex } from '../../../../../plugins/bugs/pages/trace/frame-owners.js';
import { FrameValueIndex } from '../../../../../plugins/bugs/pages/trace/frame-values.js';
import type { TraceNode } from '../../../../../plugins/bugs/pages/trace/exception-nesting.js';
import { buildTrace } from '../../../../../plugins/bugs/pages/trace/trace-view.js';
import type { Json } from '../../../../../ports/store/index.js';
import { expectLinear } from '../../../../support/cpu-time.js';
import { render } from '../../../../web/templates.js';

const treeOf = (text: string): TraceNode[] => buildTrace(text)?.tree ?? [];
/** `Error: a (Caused by B)` as nested lists. */
const outline = (nodes: readonly TraceNode[]): unknown[] =>
  nodes.map(({ relation, title, inner }) => {
    const said = relation === null ? title : `${relation} ${title}`;
    return inner.length === 0 ? said : [said, ...outline(inner)];
  });
const depthOf = (nodes: readonly TraceNode[]): number =>
  nodes.length === 0 ? 0 : 1 + Math.max(...nodes.map(({ inner }) => depthOf(inner)));
const countOf = (nodes: readonly TraceNode[]): number => nodes.reduce((n, { inner }) => n + 1 + countOf(inner), 0);

describe('bugs: pages: nested exceptions', () => {
  it('Java: nests causes, and suppressed exceptions with their causes', () => {
    const text = [
      'A: outer',
      '\tat a.B.c(B.java:1)',
      '\tSuppressed: S: while closing',
      '\t\tat a.B.close(B.java:9)',
      '\tCaused by: T: of the suppressed one',
      '\t\tat a.B.flush(B.java:8)',
      'Caused by: C: middle',
      '\tat a.C.d(C.java:2)',
      'Caused by: D: inner',
      '\tat a.D.e(D.java:3)',
    ].join('\n');
    expect(outline(treeOf(text))).to.deep.equal([
      [
        'A: outer',
        ['Suppressed S: while closing', 'Caused by T: of the suppressed one'],
        ['Caused by C: middle', 'Caused by D: inner'],
      ],
    ]);
  });

  it('Python: shows the last exception outermost, with its causes nested', () => {
    const block = (name: string): string =>
      `Traceback (most recent call last):\n  File "a.py", line 1, in f\n${name}: x`;
    const text = [
      block('KeyError'),
      'The above exception was the direct cause of the following exception:',
      block('ValueError'),
      'During handling of the above exception, another exception occurred:',
      block('CartError'),
    ].join('\n\n');
    expect(outline(treeOf(text))).to.deep.equal([
      ['CartError: x', ['While handling ValueError: x', 'Caused by KeyError: x']],
    ]);
  });

  it('Python: nests groups in groups, and causes of members', () => {
    const text = [
      '  + Exception Group Traceback (most recent call last):',
      '  |   File "a.py", line 1, in f',
      '  | ExceptionGroup: all (2 sub-exceptions)',
      '  +-+---------------- 1 ----------------',
      '    | Traceback (most recent call last):',
      '    |   File "a.py", line 2, in g',
      '    | KeyError: a',
      '    | ',
      '    | The above exception was the direct cause of the following exception:',
      '    | ',
      '    | Traceback (most recent call last):',
      '    |   File "a.py", line 3, in g',
      '    | ValueError: b',
      '    +---------------- 2 ----------------',
      '    | ExceptionGroup: some (1 sub-exception)',
      '    +-+---------------- 1 ----------------',
      '      | Traceback (most recent call last):',
      '      |   File "a.py", line 4, in h',
      '      | TypeError: c',
      '      +------------------------------------',
    ].join('\n');
    expect(outline(treeOf(text))).to.deep.equal([
      [
        'ExceptionGroup: all (2 sub-exceptions)',
        ['Member 1 of the group ValueError: b', 'Caused by KeyError: a'],
        ['Member 2 of the group ExceptionGroup: some (1 sub-exception)', 'Member 1 of the group TypeError: c'],
      ],
    ]);
  });

  it('.NET: assigns the frames below an inner exception to the outer exception', () => {
    const text = [
      'System.Exception: outer',
      ' ---> System.IO.IOException: inner',
      '   at Acme.Disk.Read() in /src/Disk.cs:line 3',
      '   --- End of inner exception stack trace ---',
      '   at Acme.Cart.Total() in /src/Cart.cs:line 42',
    ].join('\n');
    const [outer] = treeOf(text);
    expect(outline(treeOf(text))).to.deep.equal([
      ['System.Exception: outer', 'Caused by System.IO.IOException: inner'],
    ]);
    expect(outer?.rows).to.have.length(1);
    expect(outer?.rows[0]).to.include({ file: 'Cart.cs', at: ':42' });
  });

  it('other languages: shows group members, nested groups and wrappers', () => {
    const text = [
      '    at total (cart.js:41:1)',
      'Member of the group: AggregateError: b',
      '    at f (a.js:1:1)',
      '  Member of the group: TypeError: c',
      '    at f (a.js:2:1)',
      'Member of the group: RangeError: d',
      'Caused by: Error: e',
      'Wrapped by: cart 12',
    ].join('\n');
    expect(outline(treeOf(text))).to.deep.equal([
      [
        '',
        ['Member of the group AggregateError: b', 'Member of the group TypeError: c'],
        ['Member of the group RangeError: d', 'Caused by Error: e'],
        'Wrapped by cart 12',
      ],
    ]);
  });

  const BETWEEN = '\n\nThe above exception was the direct cause of the following exception:\n\n';
  const chains: [what: string, text: (n: number) => string][] = [
    ['causes', (n) => `A: x\n\tat a.B.c(B.java:1)\n${'Caused by: A: x\n\tat a.B.c(B.java:1)\n'.repeat(n)}`],
    [
      'causes of Python',
      (n) =>
        Array.from(
          { length: n },
          (_, i) => `Traceback (most recent call last):\n  File "a.py", line 1, in f\nE: ${i}`,
        ).join(BETWEEN),
    ],
    [
      'indents',
      (n) =>
        `A: x\n\tat a.B.c(B.java:1)\n${Array.from({ length: n }, (_, i) => `${' '.repeat(i % 300)}Suppressed: A: x`).join('\n')}`,
    ],
    [
      'inner ones',
      (n) =>
        `A: x\n${' ---> B: y\n   at A.b() in /c.cs:line 1\n   --- End of inner exception stack trace ---\n'.repeat(n)}`,
    ],
  ];
  for (const [what, text] of chains) {
    it(`renders a chain of thousands of ${what} completely, with limited depth, in linear time`, () => {
      const whole = buildTrace(text(1000));
      expect(depthOf(whole?.tree ?? [])).to.be.at.most(16);
      expect(countOf(whole?.tree ?? [])).to.equal(whole?.parts.length);
      expect(render('{{stack-parts t}}', { t: whole?.tree })).to.include('trace-part');
      expectLinear(() => treeOf(text(1000)), what);
    });
  }

  it('loses no part of any text', () => {
    const line = fc.constantFrom(
      'Caused by: A: x',
      '  Suppressed: B: y',
      'The above exception was the direct cause of the following exception:',
      '  +-+---------------- 1 ----------------',
      '    +---------------- 2 ----------------',
      '    | ValueError: z',
      '    |   File "a.py", line 1, in f',
      '  File "b.py", line 2, in g',
      '\tat a.B.c(B.java:1)',
      '---> C: w',
      '--- End of inner exception stack trace ---',
      'Wrapped by: D',
      'KeyError: k',
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
        const trace = buildTrace(lines.join('\n'));
        expect(countOf(trace?.tree ?? [])).to.equal(trace?.parts.length ?? 0);
      }),
      { numRuns: 400 },
    );
  });

  it('shows escaped code and variables at their frames', () => {
    const context = {
      source: { '41': '  return price.total;', '42': '</code><script>alert(1)</script>' },
      locals: { price: null, '<img src=x>': { a: ['<b>'] } },
      frames: [{ filename: 'lib/a.js', lineno: 7, locals: { n: 1 } }, 'no frame', null, { lineno: {} }],
    } as unknown as Json;
    const trace = buildTrace('E: x\n    at total (src/cart.js:41:1)\n    at f (lib/a.js:7:2)', {
      file: 'src/cart.js',
      line: 41,
      owners: new FrameOwnerIndex(context),
      values: new FrameValueIndex(context),
    });
    const html = render('{{stack-parts t}}', { t: trace?.tree });
    expect(html)
      .to.include('<span class="code-line is-here"><span class="code-at">41</span>')
      .and.include('2 variables');
    expect(html).to.include('&lt;img src&#x3D;x&gt;').and.not.include('<script').and.not.include('<img');
    expect(html.match(/frame-more/g)).to.have.length(2);
  });
});
