/**
 * The text of a stack (contract 21): what grouping and pages read as its first frame is the event's crash frame, the last
 * that the SDK sent, in every language and with whatever the frame lacks.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { parseFrames, type Frame } from '../../../plugins/bugs/grouping/frames.js';
import { groupingOf } from '../../../plugins/bugs/grouping/key.js';
import { reportOf } from '../../../plugins/sentry/event.js';
import type { ErrorReport } from '../../../ports/domain/errors.js';

const report = (platform: string, frames: object[], before: object[] = []): ErrorReport =>
  reportOf(
    { platform, exception: [...before, { type: 'CartError', value: 'no price', stacktrace: { frames } }] },
    { project: 'shop', id: 'a'.repeat(32) },
  );
const crash = ({ stack_trace }: ErrorReport): Frame | undefined =>
  parseFrames(stack_trace ?? '').find((one) => one.crash);

interface Case {
  name: string;
  platform: string;
  /** The crash frame last, as SDKs send them. */
  frames: object[];
  text: string;
  file: string | null;
  line: number | null;
  origin: string;
}

const cases: Case[] = [
  {
    name: 'Python',
    platform: 'python',
    frames: [
      { filename: 'app/main.py', abs_path: '/srv/app/main.py', function: '<module>', lineno: 3, context_line: 'run()' },
      {
        filename: 'app/cart.py',
        abs_path: '/srv/app/cart.py',
        function: 'total',
        lineno: 41,
        context_line: '  return x',
      },
    ],
    text:
      'Traceback (most recent call last):\n  File "app/main.py", line 3, in <module>\n    run()\n' +
      '  File "app/cart.py", line 41, in total\n    return x',
    file: 'app/cart.py',
    line: 41,
    origin: 'app/cart.py',
  },
  {
    name: 'Node',
    platform: 'node',
    frames: [
      { filename: 'node:internal/main', function: 'run', lineno: 3, colno: 1, in_app: false },
      { filename: '/srv/app/src/cart.mjs', function: 'total', lineno: 41, colno: 9 },
    ],
    text: '    at total (/srv/app/src/cart.mjs:41:9)\n    at run (node:internal/main:3:1)',
    file: '/srv/app/src/cart.mjs',
    line: 41,
    origin: 'src/cart.mjs',
  },
  {
    name: 'a browser, with a hash in the file’s name',
    platform: 'javascript',
    frames: [
      { filename: 'https://shop.example.org/vendor.js', lineno: 1, colno: 2 },
      { filename: 'https://shop.example.org/js/main.3f2504e0.js?v=2', function: '?', lineno: 1, colno: 8041 },
    ],
    text:
      '    at ? (https://shop.example.org/js/main.3f2504e0.js?v=2:1:8041)\n' +
      '    at https://shop.example.org/vendor.js:1:2',
    file: 'https://shop.example.org/js/main.3f2504e0.js?v=2',
    line: 1,
    origin: 'js/main.<hash>.js',
  },
  {
    name: 'Java, whose file needs its package',
    platform: 'java',
    frames: [
      { module: 'java.lang.Thread', filename: 'Thread.java', function: 'run', lineno: 840 },
      { module: 'com.acme.shop.Cart$Lines', filename: 'Cart.java', function: 'total', lineno: 41 },
    ],
    text: '\tat com.acme.shop.Cart$Lines.total(Cart.java:41)\n\tat java.lang.Thread.run(Thread.java:840)',
    file: 'com/acme/shop/Cart.java',
    line: 41,
    origin: 'shop/cart.java',
  },
  {
    name: 'Java without file and line',
    platform: 'java',
    frames: [{ module: 'com.acme.shop.Cart$1', function: '<init>' }],
    text: '\tat com.acme.shop.Cart$1.<init>(Unknown Source)',
    file: 'com/acme/shop/Cart.java',
    line: null,
    origin: 'shop/cart.java',
  },
  {
    name: 'Go, which sends abs_path alone',
    platform: 'go',
    frames: [
      { module: 'main', function: 'main', abs_path: '/srv/shop/main.go', lineno: 9, in_app: true },
      { module: 'example.org/shop/cart', function: '(*Cart).Total', abs_path: '/srv/shop/cart/cart.go', lineno: 41 },
    ],
    text: 'example.org/shop/cart.(*Cart).Total(...)\n\t/srv/shop/cart/cart.go:41\nmain.main(...)\n\t/srv/shop/main.go:9',
    file: '/srv/shop/cart/cart.go',
    line: 41,
    origin: 'cart/cart.go',
  },
  {
    name: 'Go, whose runtime is the crash frame',
    platform: 'go',
    frames: [
      { module: 'main', function: 'main', abs_path: '/srv/shop/main.go', lineno: 9 },
      { module: 'runtime', function: 'gopanic', abs_path: '/usr/local/go/src/runtime/panic.go', lineno: 770 },
    ],
    text: '    at gopanic (/usr/local/go/src/runtime/panic.go:770)\n    at main (/srv/shop/main.go:9)',
    file: '/usr/local/go/src/runtime/panic.go',
    line: 770,
    origin: 'runtime/panic.go',
  },
  {
    name: '.NET',
    platform: 'csharp',
    frames: [
      { module: 'Program', function: 'Main(String[] args)', filename: 'C:\\src\\Program.cs', lineno: 3 },
      { module: 'Acme.Shop.Cart', function: 'Total(Guid id)', filename: 'C:\\src\\Shop\\Cart.cs', lineno: 41 },
    ],
    text: '   at Acme.Shop.Cart.Total() in C:\\src\\Shop\\Cart.cs:line 41\n   at Program.Main() in C:\\src\\Program.cs:line 3',
    file: 'C:\\src\\Shop\\Cart.cs',
    line: 41,
    origin: 'shop/cart.cs',
  },
  {
    name: '.NET without symbols: the method is the place',
    platform: 'csharp',
    frames: [
      { module: 'Program', function: 'Main' },
      { module: 'Acme.Shop.Cart', function: 'Total' },
    ],
    text: '   at Acme.Shop.Cart.Total()\n   at Program.Main()',
    file: null,
    line: null,
    origin: 'acme.shop.cart.total',
  },
  {
    name: 'PHP',
    platform: 'php',
    frames: [
      { filename: '/public/index.php', lineno: 3 },
      { filename: '/src/Cart.php', function: 'Shop\\Cart::total', lineno: 41, in_app: true },
    ],
    text: '    at Shop\\Cart::total (/src/Cart.php:41)\n    at /public/index.php:3',
    file: '/src/Cart.php',
    line: 41,
    origin: 'src/cart.php',
  },
  {
    name: 'Ruby',
    platform: 'ruby',
    frames: [{ filename: 'app/models/cart.rb', abs_path: '/srv/app/models/cart.rb', function: 'total', lineno: 41 }],
    text: '    at total (app/models/cart.rb:41)',
    file: 'app/models/cart.rb',
    line: 41,
    origin: 'models/cart.rb',
  },
  {
    name: 'a frame with a module alone, and no number',
    platform: 'other',
    frames: [
      { filename: 'main.xy', lineno: 1 },
      { module: 'shop.cart', function: 'total' },
    ],
    text: '    at total (shop.cart:0)\n    at main.xy:1',
    file: 'shop.cart',
    line: null,
    origin: 'shop.cart',
  },
  {
    name: 'native code on top: the next frame that has a place',
    platform: 'javascript',
    frames: [
      { filename: '/srv/cart.js', function: 'total', lineno: 41, colno: 2 },
      { filename: '<anonymous>', function: 'JSON.parse', lineno: 1 },
    ],
    text: '    at JSON.parse (<anonymous>)\n    at total (/srv/cart.js:41:2)',
    file: '/srv/cart.js',
    line: 41,
    origin: 'srv/cart.js',
  },
];

describe('sentry stack', () => {
  for (const { name, platform, frames, text, file, line, origin } of cases) {
    it(`reads like the language’s own: ${name}`, () => {
      const made = report(platform, frames);
      expect(made.stack_trace).to.equal(text);
      expect(made).to.include({ file, line });
      const grouping = groupingOf({
        type: 'error',
        project: 'shop',
        file_path: made.file,
        stack_trace: made.stack_trace,
      });
      expect(grouping.origin).to.equal(origin);
      // A plain report of the same text, without `file`, meets it.
      const plain = groupingOf({ type: 'error', project: 'shop', stack_trace: made.stack_trace });
      expect(plain.origin).to.equal(origin);
      if (file !== null) expect(crash(made)).to.include({ file });
    });
  }

  it('marks the crash frame, whatever the frames are', () => {
    const word = fc.stringMatching(/^[a-zA-Z_][\w.$-]{0,12}$/);
    const frame = fc.record(
      {
        filename: fc
          .tuple(word, fc.constantFrom('.py', '.js', '.java', '.go', '.cs', '.rb', '.xyz', ''))
          .map((p) => p.join('')),
        abs_path: word.map((name) => `/srv/app/${name}.src`),
        module: fc.array(word, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.')),
        function: fc.oneof(word, fc.constantFrom('<lambda>', '(*T).run', 'operator()', 'a b', 'f(int) (x)', '?')),
        lineno: fc.integer({ min: 1, max: 99_999 }),
        colno: fc.integer({ min: 1, max: 500 }),
        context_line: fc.constantFrom('  throw new Error("at x (y.js:1:2)");', 'File "z.py", line 3', '/a/b.go:12'),
      },
      { requiredKeys: ['filename', 'lineno'] },
    );
    const platform = fc.constantFrom('python', 'java', 'go', 'csharp', 'javascript', 'ruby', 'native');
    fc.assert(
      fc.property(platform, fc.array(frame, { minLength: 1, maxLength: 5 }), (name, frames) => {
        const made = report(name, frames, [
          { type: 'X', value: 'at y (z.js:1:2)', stacktrace: { frames: [{ filename: 'z.js', lineno: 1 }] } },
        ]);
        const marked = crash(made);
        expect(marked, made.stack_trace ?? '').to.not.equal(undefined);
        expect(marked).to.include({ file: made.file, line_no: made.line });
      }),
      { numRuns: 500 },
    );
  });

  it('puts causes where the language puts them', () => {
    const cause = {
      type: 'KeyError',
      value: 'price\nsecond line',
      stacktrace: { frames: [{ filename: 'a.py', lineno: 1 }] },
    };
    const frames = [{ filename: 'cart.py', lineno: 41 }];
    expect(report('python', frames, [cause]).stack_trace).to.equal(
      'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nKeyError: price second line\n\n' +
        'The above exception was the cause of the following exception:\n\n' +
        'Traceback (most recent call last):\n  File "cart.py", line 41, in <module>',
    );
    expect(report('node', frames, [cause]).stack_trace).to.equal(
      '    at cart.py:41\nCaused by: KeyError: price second line\n    at a.py:1',
    );
  });

  it('takes the stack of the event or of its thread when the exception has none', () => {
    const frames = [{ filename: 'cart.js', lineno: 41 }];
    const bare = { type: 'CartError', value: 'no price' };
    const threads = {
      values: [
        { id: 1, stacktrace: { frames: [] } },
        { id: 2, crashed: true, stacktrace: { frames } },
      ],
    };
    for (const event of [
      { exception: [bare], stacktrace: { frames } },
      { exception: [bare], threads },
      { message: 'low', threads: { values: [{ current: true, stacktrace: { frames } }] } },
      { message: 'low', threads: [{ stacktrace: { frames } }] },
    ]) {
      const made = reportOf(event, { project: 'shop', id: 'a' });
      expect(made).to.include({ file: 'cart.js', line: 41, stack_trace: '    at cart.js:41' });
    }
  });

  it('leaves the observer out of a thread that looks at itself', () => {
    const frames = [
      { module: 'shop.Cart', filename: 'Cart.java', function: 'total', lineno: 41 },
      { module: 'io.sentry.Sentry', filename: 'Sentry.java', function: 'captureMessage', lineno: 1 },
      { module: 'java.lang.Thread', filename: 'Thread.java', function: 'getStackTrace', lineno: 1619 },
    ];
    const event = { platform: 'java', message: 'low', threads: [{ current: true, stacktrace: { frames } }] };
    expect(reportOf(event, { project: 'shop', id: 'a' })).to.include({ file: 'shop/Cart.java', line: 41 });
  });

  it('keeps the crash of a deep recursion', () => {
    const frames = Array.from({ length: 5000 }, (_, i) => ({ filename: 'cart.py', function: 'f', lineno: i + 1 }));
    const made = report('python', frames);
    expect(made.line).to.equal(5000);
    expect(crash(made)).to.include({ line_no: 5000 });
  });
});
