/**
 * The text of a stack (contract 21): what grouping and pages read as its first frame is the event's
 * crash frame, the last that the SDK sent, in every language and with whatever the frame lacks.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { parseFrames, type Frame } from '../../../plugins/bugs/grouping/stack-trace.js';
import { computeGrouping } from '../../../plugins/bugs/grouping/grouping-key.js';
import { convertEvent } from '../../../plugins/sentry/event-converter.js';
import type { ErrorReport } from '../../../ports/domain/errors.js';

const read = (platform: string, frames: object[], before: object[] = []): ReturnType<typeof convertEvent> =>
  convertEvent(
    { platform, exception: [...before, { type: 'CartError', value: 'no price', stacktrace: { frames } }] },
    { project: 'shop', id: 'a'.repeat(32) },
  );
const report = (...given: Parameters<typeof read>): ErrorReport => read(...given).report;
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
  /** Of a plain report of the same text; `origin` where it is not given. */
  plain?: string;
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
      {
        module: 'example.org/shop/cart',
        function: '(*Cart).Total',
        abs_path: '/srv/shop/cart/cart.go',
        lineno: 41,
        in_app: true,
      },
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
    name: '.NET without symbols: the module is the place',
    platform: 'csharp',
    frames: [
      { module: 'Program', function: 'Main' },
      { module: 'Acme.Shop.Cart', function: 'Total' },
    ],
    text: '   at Acme.Shop.Cart.Total()\n   at Program.Main()',
    file: 'Acme.Shop.Cart',
    line: null,
    origin: 'acme.shop.cart',
    plain: 'acme.shop.cart.total',
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

describe('sentry stack traces', () => {
  for (const { name, platform, frames, text, file, line, origin, plain: plainOrigin = origin } of cases) {
    it(`formats in the language’s native style: ${name}`, () => {
      const made = report(platform, frames);
      expect(made.stack_trace).to.equal(text);
      expect(made).to.include({ file, line });
      const grouping = computeGrouping({
        type: 'error',
        project: 'shop',
        file_path: made.file,
        stack_trace: made.stack_trace,
      });
      expect(grouping.origin).to.equal(origin);
      // A plain report of the same text, without `file`, meets it.
      const plain = computeGrouping({ type: 'error', project: 'shop', stack_trace: made.stack_trace });
      expect(plain.origin).to.equal(plainOrigin);
      if (plainOrigin === origin) expect(crash(made)).to.include({ file });
    });
  }

  it('marks the crash frame for any frames', () => {
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

  it('places causes where the language places them', () => {
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

  it('uses the stack of the event or its thread when the exception has none', () => {
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
      const made = convertEvent(event, { project: 'shop', id: 'a' }).report;
      expect(made).to.include({ file: 'cart.js', line: 41, stack_trace: '    at cart.js:41' });
    }
  });

  it('removes the capturing frames when a thread captures its own stack', () => {
    const frames = [
      { module: 'shop.Cart', filename: 'Cart.java', function: 'total', lineno: 41 },
      { module: 'io.sentry.Sentry', filename: 'Sentry.java', function: 'captureMessage', lineno: 1 },
      { module: 'java.lang.Thread', filename: 'Thread.java', function: 'getStackTrace', lineno: 1619 },
    ];
    const event = { platform: 'java', message: 'low', threads: [{ current: true, stacktrace: { frames } }] };
    expect(convertEvent(event, { project: 'shop', id: 'a' }).report).to.include({ file: 'shop/Cart.java', line: 41 });
  });

  it('preserves the crash frame of a deep recursion', () => {
    const frames = Array.from({ length: 5000 }, (_, i) => ({ filename: 'cart.py', function: 'f', lineno: i + 1 }));
    const made = report('python', frames);
    expect(made.line).to.equal(5000);
    expect(crash(made)).to.include({ line_no: 5000 });
  });
});

const grouped = (report_: ErrorReport): string =>
  computeGrouping({
    type: 'error',
    project: 'shop',
    exception_class: report_.exception_class ?? null,
    error_message: report_.error_message,
    message_template: report_.message_template ?? null,
    file_path: report_.file ?? null,
    function_name: report_.function ?? null,
    stack_trace: report_.stack_trace ?? null,
  }).dedup_key;

describe('sentry stack traces: culprit frame', () => {
  const library = {
    filename: 'json/decoder.py',
    abs_path: '/usr/lib/python3.11/json/decoder.py',
    module: 'json.decoder',
  };
  const json = (caller: object): ErrorReport =>
    report('python', [
      { filename: 'app/main.py', module: 'app.main', function: '<module>', lineno: 3, in_app: true },
      { abs_path: '/srv/app/cart.py', in_app: true, ...caller },
      { ...library, function: 'raw_decode', lineno: 355, in_app: false },
    ]);

  it('is the last application frame when a library parser throws', () => {
    const load = json({ filename: 'app/cart.py', function: 'load', lineno: 9 });
    const save = json({ filename: 'app/cart.py', function: 'save', lineno: 30 });
    const stock = json({ filename: 'app/stock.py', function: 'load', lineno: 9 });
    expect(load).to.include({ file: 'app/cart.py', function: 'load', line: 9 });
    expect(new Set([load, save, stock].map(grouped)).size).to.equal(3);
    expect(load.stack_trace).to.include('File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode');
  });

  it('skips frames without in_app when others have it', () => {
    const { report: made, details } = read('python', [
      { filename: 'app/cart.py', abs_path: '/srv/app/cart.py', function: 'load', lineno: 9, in_app: true },
      { ...library, function: 'raw_decode', lineno: 355 },
    ]);
    expect(made).to.include({ file: 'app/cart.py', function: 'load' });
    expect(made.stack_trace).to.include('File "/usr/lib/python3.11/json/decoder.py"');
    expect(details().context?.['frames']).to.deep.equal([
      { ...library, function: 'raw_decode', lineno: 355, in_app: false },
      { filename: 'app/cart.py', abs_path: '/srv/app/cart.py', function: 'load', lineno: 9, in_app: true },
    ]);
  });

  it('is the last frame when there is no application frame', () => {
    const made = report('python', [
      { ...library, function: 'decode', lineno: 340, in_app: false },
      { ...library, function: 'raw_decode', lineno: 355, in_app: false },
    ]);
    expect(made).to.include({ function: 'raw_decode', line: 355 });
  });

  it('is distinguished by function within a bundle and within a Go file', () => {
    const keys = (platform: string, frame: object): Set<string> =>
      new Set(['a', 'b', 'c'].map((name) => grouped(report(platform, [{ ...frame, function: name, in_app: true }]))));
    expect(keys('javascript', { filename: 'https://x.example/a-BdJ3kf9Q.js', lineno: 1, colno: 9 }).size).to.equal(3);
    expect(keys('go', { module: 'main', abs_path: '/srv/main.go', lineno: 9 }).size).to.equal(3);
  });

  it('is in the same group after a deploy of the bundle', () => {
    const key = (hash: string, line: number): string =>
      grouped(report('javascript', [{ filename: `https://x.example/a-${hash}.js`, function: 't', lineno: line }]));
    expect(key('CkLzaFvZ', 1)).to.equal(key('BdJ3kf9Q', 2));
  });

  it('is identified by its module for a Python package', () => {
    const init = (module: string): ErrorReport =>
      report('python', [{ filename: '__init__.py', module, function: 'load', lineno: 978, in_app: true }]);
    expect(init('shop')).to.include({ file: 'shop/__init__.py' });
    expect(grouped(init('shop'))).not.to.equal(grouped(init('stock')));
  });

  it('skips frames of the standard library in Rust', () => {
    const frames = [
      { function: 'shop::load', abs_path: '/srv/shop/src/cart.rs', filename: 'cart.rs', lineno: 12 },
      {
        function: '<core::result::Result<T,F>>::from_residual',
        abs_path: '/rustc/59807/library/core/src/result.rs',
        filename: 'result.rs',
        lineno: 2009,
        in_app: true,
      },
    ];
    // Anyone who sends it may call the platform `native` and name no SDK: the standard library's
    // path says what it is.
    for (const platform of ['rust', 'native', 'other'])
      for (const in_app of [true, undefined])
        expect(report(platform, [{ ...frames[0], in_app }, frames[1] ?? {}]), platform).to.include({
          file: '/srv/shop/src/cart.rs',
          function: 'shop::load',
        });
  });

  it('is distinguished by module, package and function when there are no files', () => {
    const crashes = [
      [{ package: '/data/app/~~x==/lib/arm64/libshop.so', function: 'price', instruction_addr: '0x1', in_app: true }],
      [{ package: '/data/app/~~x==/lib/arm64/libshop.so', function: 'stock', instruction_addr: '0x2', in_app: true }],
      [{ package: '/data/app/~~x==/lib/arm64/libpay.so', function: 'price', instruction_addr: '0x3', in_app: true }],
      [{ module: 'Shop', function: 'price', in_app: true }],
      [{ package: 'C:\\Program Files\\Shop\\shop.dll', instruction_addr: '0x4' }],
    ].map((frames) => report('native', [{ function: 'main', package: '/bin/app_process64' }, ...frames]));
    expect(crashes.map(({ file }) => file)).to.deep.equal([
      'libshop.so',
      'libshop.so',
      'libpay.so',
      'Shop',
      'shop.dll',
    ]);
    expect(new Set(crashes.map(grouped)).size).to.equal(5);
    // Another phone keeps the library elsewhere.
    const other = [
      { package: '/data/app/~~y==/lib/arm/libshop.so', function: 'price', instruction_addr: '0x9', in_app: true },
    ];
    expect(grouped(report('native', other))).to.equal(grouped(crashes[0] as ErrorReport));
  });
});

describe('sentry stack traces: several exceptions', () => {
  const of = (platform: string, values: object[]): ErrorReport =>
    convertEvent({ platform, exception: { values } }, { project: 'shop', id: 'a'.repeat(32) }).report;
  const goFrames = (name: string): object => ({
    frames: [{ module: 'main', function: name, abs_path: '/srv/shop/main.go', lineno: 9, in_app: true }],
  });

  it('uses the title of the wrapped exception for wrappers without a name', () => {
    const made = of('go', [
      { type: '*shop.CartError', value: 'the cart is empty' },
      { type: '*errors.withStack', value: 'the cart is empty', stacktrace: goFrames('load') },
      { type: '*fmt.wrapError', value: 'checkout: the cart is empty', stacktrace: goFrames('report') },
    ]);
    expect(made).to.include({
      exception_class: '*shop.CartError',
      error_message: 'the cart is empty',
      function: 'load',
    });
    expect(made.stack_trace).to.equal(
      'main.load(...)\n\t/srv/shop/main.go:9\nWrapped by: checkout: the cart is empty\nmain.report(...)\n\t/srv/shop/main.go:9',
    );
  });

  it('uses its message as title without a wrapper', () => {
    const made = of('go', [
      { type: '*errors.errorString', value: 'no price' },
      { type: '*fmt.wrapError', value: 'cart 12: no price', stacktrace: goFrames('load') },
    ]);
    expect(made).to.include({ exception_class: null, error_message: 'cart 12: no price', function: 'load' });
    expect(of('go', [{ type: '*errors.errorString', value: 'no price' }])).to.include({
      exception_class: null,
      error_message: 'no price',
    });
  });

  const member = (n: number, type: string, more: object = {}): object => ({
    type,
    value: `of ${n}`,
    mechanism: { exception_id: n, parent_id: 0, source: `exceptions[${n - 1}]`, type: 'chained', ...more },
    stacktrace: { frames: [{ filename: `m${n}.py`, function: 'f', lineno: n }] },
  });
  const group = {
    type: 'ExceptionGroup',
    value: 'two of them (2 sub-exceptions)',
    mechanism: { exception_id: 0, is_exception_group: true },
    stacktrace: { frames: [{ filename: 'cart.py', function: 'total', lineno: 41 }] },
  };

  it('shows group members as siblings, like Python does', () => {
    const cause = member(3, 'OSError', { parent_id: 2, source: '__cause__' });
    const made = of('python', [cause, member(2, 'KeyError'), member(1, 'ValueError'), group]);
    expect(made).to.include({ exception_class: 'ExceptionGroup', file: 'cart.py', line: 41 });
    const between = ['', 'The above exception was the cause of the following exception:', ''];
    expect(made.stack_trace?.split('\n')).to.deep.equal([
      'Traceback (most recent call last):',
      '  File "cart.py", line 41, in total',
      'ExceptionGroup: two of them (2 sub-exceptions)',
      '  +-+---------------- 1 ----------------',
      '    | Traceback (most recent call last):',
      '    |   File "m1.py", line 1, in f',
      '    | ValueError: of 1',
      '    +---------------- 2 ----------------',
      '    | Traceback (most recent call last):',
      '    |   File "m3.py", line 3, in f',
      '    | OSError: of 3',
      ...between.slice(1, 2).map((line) => `    | ${line}`),
      '    | Traceback (most recent call last):',
      '    |   File "m2.py", line 2, in f',
      '    | KeyError: of 2',
    ]);
    expect(crash(made)).to.include({ file: 'cart.py' });
  });

  it('indents nested groups further, for any ids', () => {
    const inner = member(2, 'ExceptionGroup', { is_exception_group: true });
    const deep = member(3, 'TypeError', { parent_id: 2 });
    const text = of('python', [member(4, 'OSError'), deep, inner, member(1, 'ValueError'), group]).stack_trace ?? '';
    const rules = text.split('\n').filter((line) => line.includes('------'));
    expect(rules.map((line) => line.replaceAll(/-{3,}/g, '-'))).to.deep.equal([
      '  +-+- 1 -',
      '    +- 2 -',
      '    +-+- 1 -',
      '    +- 3 -',
    ]);
    expect(text).to.include('\n      | TypeError: of 3');
    const circular = [
      member(3, 'A', { parent_id: 3 }),
      member(2, 'B', { parent_id: 3, is_exception_group: true }),
      group,
    ];
    expect(of('node', circular).stack_trace).to.include('Caused by: B: of 2').and.include('of 3');
    const several = [deep, inner, member(1, 'ValueError'), group];
    expect(of('node', several).stack_trace).to.include('\n  Member of the group: TypeError: of 3\n');
  });

  it('does not list the cause of a group as a member', () => {
    const cause = member(1, 'OSError', { source: '__cause__' });
    expect(of('python', [member(3, 'TypeError'), member(2, 'KeyError'), cause, group]).stack_trace).to.match(
      /^Traceback[^]*OSError: of 1\n\nThe above exception was the cause[^]*ExceptionGroup: two[^]* 1 -+\n[^]*KeyError: of 2\n[^]*TypeError: of 3$/,
    );
  });

  it('shows members of an AggregateError as siblings too', () => {
    const made = of('node', [member(2, 'RangeError'), member(1, 'TypeError'), { ...group, type: 'AggregateError' }]);
    expect(made.stack_trace).to.include('\nMember of the group: TypeError: of 1\n');
    expect(made.stack_trace).to.include('\nMember of the group: RangeError: of 2\n');
    expect(made.stack_trace).not.to.include('Caused by');
  });
});
