/** Stack traces and breadcrumbs as the pages show them: parts, marks, folds, and nothing lost. */
import { expect } from 'chai';
import fc from 'fast-check';
import { buildTimeline } from '../../../../../plugins/bugs/pages/item/breadcrumb-timeline.js';
import { FrameOwnerIndex } from '../../../../../plugins/bugs/pages/trace/frame-owners.js';
import { FrameValueIndex } from '../../../../../plugins/bugs/pages/trace/frame-values.js';
import { detectLibrary } from '../../../../../plugins/bugs/pages/trace/frame-libraries.js';
import type { TraceRow } from '../../../../../plugins/bugs/pages/trace/collapsed-frames.js';
import type { TracePart } from '../../../../../plugins/bugs/pages/trace/exception-nesting.js';
import { buildTrace } from '../../../../../plugins/bugs/pages/trace/trace-view.js';
import type { Json } from '../../../../../ports/store/index.js';
import { render } from '../../../../web/templates.js';
import { expectLinear } from '../../../../support/cpu-time.js';

const NODE = [
  'Error: outer',
  '    at run (/srv/app/src/run.ts:9:1)',
  '    at Layer.handle [as handle_request] (/srv/app/node_modules/express/lib/router/layer.js:95:5)',
  '    at /srv/app/node_modules/@otel/express/build/index.js:137:13',
  '    at Array.map (<anonymous>)',
  '    at serve (/srv/app/src/serve.ts:3:4) {',
  "  code: 'E1',",
  '  [cause]: TypeError: inner',
  '      at load (/srv/app/src/load.ts:1:2)',
  '}',
].join('\n');

const JAVA = [
  'java.lang.IllegalStateException: outer',
  '\tat com.acme.Order.book(Order.java:118)',
  '\tat org.springframework.web.Servlet.service(Servlet.java:885)',
  '\tat java.base/java.lang.Thread.run(Thread.java:1583)',
  'Caused by: org.postgresql.PSQLException: duplicate',
  '  Detail: exists',
  '\tat org.postgresql.Query.run(Query.java:27)',
  '\tat com.acme.Repository.insert(Repository.java:41)',
  '\t... 23 more',
].join('\n');

const PYTHON = [
  'Traceback (most recent call last):',
  '  File "/app/cart.py", line 33, in total',
  '    return self.lines["price"]',
  '           ~~~~~~~~~~^^^^^^^^^',
  "KeyError: 'price'",
  '',
  'During handling of the above exception, another exception occurred:',
  '',
  'Traceback (most recent call last):',
  '  File "/usr/lib/python3.12/site-packages/flask/app.py", line 1498, in dispatch',
  '    rv = self.dispatch_request()',
  '  File "/usr/lib/python3.12/site-packages/flask/app.py", line 1484, in full',
  '    return f()',
  '  File "/app/web.py", line 12, in checkout',
  '    total()',
  'CartError: broken',
].join('\n');

const GO = [
  'panic: index out of range',
  '',
  'goroutine 1 [running]:',
  'panic({0x1, 0x2})',
  '\t/usr/local/go/src/runtime/panic.go:770 +0x132',
  'main.total(...)',
  '\t/app/cart.go:12 +0x1d',
  'net/http.HandlerFunc.ServeHTTP(0x1)',
  '\t/usr/local/go/src/net/http/server.go:2220 +0x29',
  'created by net/http.(*Server).Serve in goroutine 1',
  '\t/usr/local/go/src/net/http/server.go:3360 +0x485',
].join('\n');

const partsOf = (text: string): TracePart[] => buildTrace(text)?.parts ?? [];
const firstFrameLine = (text: string): number | null => buildTrace(text)?.mark ?? null;

const reported = (row: TraceRow): string => {
  if (row.kind === 'note') return `note ${row.text}`;
  if (row.kind === 'fold') return `fold ${row.label}`;
  return `${row.mark ? '* ' : ''}${row.name} ${row.folder}${row.file}${row.at}`;
};
const shape = (parts: TracePart[]): object[] =>
  parts.map(({ relation, title, rows }) => ({ relation, title, rows: rows.map(reported) }));

describe('bugs: pages: stack traces', () => {
  it('V8: marks the first frame, folds libraries, shows the cause as a separate part', () => {
    expect(shape(partsOf(NODE))).to.deep.equal([
      {
        relation: null,
        title: 'Error: outer',
        rows: [
          '* run /srv/app/src/run.ts:9:1',
          'fold 3 library frames: express, @otel/express, built-in',
          'serve /srv/app/src/serve.ts:3:4',
          "note code: 'E1',",
        ],
      },
      { relation: 'Caused by', title: 'TypeError: inner', rows: ['load /srv/app/src/load.ts:1:2'] },
    ]);
  });

  it('Java: shows causes with their multi-line messages', () => {
    expect(shape(partsOf(JAVA))).to.deep.equal([
      {
        relation: null,
        title: 'java.lang.IllegalStateException: outer',
        rows: ['* com.acme.Order.book Order.java:118', 'fold 2 library frames: org.springframework, java'],
      },
      {
        relation: 'Caused by',
        title: 'org.postgresql.PSQLException: duplicate\nDetail: exists',
        rows: [
          'org.postgresql.Query.run Query.java:27',
          'com.acme.Repository.insert Repository.java:41',
          'note ... 23 more',
        ],
      },
    ]);
  });

  it('Python: shows the exception above its frames, each with its line of code', () => {
    const parts = partsOf(PYTHON);
    expect(shape(parts)).to.deep.equal([
      { relation: null, title: "KeyError: 'price'", rows: ['total /app/cart.py:33'] },
      {
        relation: 'While handling',
        title: 'CartError: broken',
        rows: ['fold 2 library frames: flask', '* checkout /app/web.py:12'],
      },
    ]);
    expect(parts[0]?.rows[0]).to.deep.include({
      source: ['    return self.lines["price"]', '           ~~~~~~~~~~^^^^^^^^^'],
    });
  });

  it('Go: reads the function name from the line above, and folds runtime frames', () => {
    expect(shape(partsOf(GO))).to.deep.equal([
      {
        relation: null,
        title: 'panic: index out of range\ngoroutine 1 [running]:',
        rows: [
          'panic /usr/local/go/src/runtime/panic.go:770',
          '* main.total /app/cart.go:12',
          'fold 2 library frames: Go',
        ],
      },
    ]);
  });

  it('PHP, Ruby and Rust: recognizes the headers', () => {
    const php =
      'PDOException: no in /app/Db.php:12\nStack trace:\n#0 /app/Order.php(40): insert()\n#1 {main}\n\nNext RuntimeException: failed in /app/Order.php:44\nStack trace:\n#0 {main}';
    expect(shape(partsOf(php))).to.deep.equal([
      { relation: null, title: 'PDOException: no', rows: ['null /app/Db.php:12', 'insert() /app/Order.php:40'] },
      { relation: 'Caused by', title: 'RuntimeException: failed', rows: ['* null /app/Order.php:44'] },
    ]);
    const ruby = "/app/a.rb:12:in 'div': divided by 0 (ZeroDivisionError)\n\tfrom /app/a.rb:3:in 'add'";
    expect(partsOf(ruby)[0]).to.include({ title: 'divided by 0 (ZeroDivisionError)' });
    const rust =
      "thread 'main' panicked at src/main.rs:12:5:\nbad index\nstack backtrace:\n   0: rust_begin_unwind\n             at /rustc/9fc/library/std/src/panicking.rs:665:5\n   1: core::panic\n             at /rustc/9fc/library/core/src/panicking.rs:74:14";
    expect(partsOf(rust)[0]?.rows.map(reported)).to.deep.equal([
      '* null src/main.rs:12:5',
      'note bad index',
      'fold 2 library frames: Rust',
    ]);
  });

  it('never folds the first frame, nor a trace that consists only of library frames', () => {
    const all =
      'E: x\n    at a (/s/node_modules/p/a.js:1:1)\n    at b (/s/node_modules/p/b.js:1:1)\n    at c (/s/node_modules/p/c.js:1:1)';
    expect(partsOf(all)[0]?.rows.map(reported)).to.deep.equal([
      '* a /s/node_modules/p/a.js:1:1',
      'fold 2 library frames: p',
    ]);
  });

  it('folds the middle of a long recursion, except the first frame', () => {
    const frames = Array.from({ length: 300 }, (_, i) => `\tat com.acme.Tree.walk(Tree.java:${i})`);
    const rows = partsOf(['E: x', ...frames].join('\n'))[0]?.rows ?? [];
    expect(rows).to.have.length(35);
    expect(rows.filter(({ kind }) => kind === 'fold').map(reported)).to.deep.equal(['fold 266 more frames']);
  });

  it('returns no parts for a text without frames', () => {
    expect(partsOf('it broke\nbadly')).to.deep.equal([]);
    expect(firstFrameLine('it broke')).to.equal(null);
  });

  it('parses any text, shows every frame once, and marks the frame used for grouping', () => {
    const line = fc.constantFrom(
      ...NODE.split('\n'),
      ...JAVA.split('\n'),
      ...PYTHON.split('\n'),
      ...GO.split('\n'),
      'x',
      '',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(line, fc.string()), { maxLength: 60 }), (lines) => {
        const text = lines.join('\n');
        const rows = partsOf(text).flatMap((part) => part.rows);
        const frames = rows.flatMap((row) => (row.kind === 'fold' ? row.frames : row.kind === 'frame' ? [row] : []));
        const marked = frames.filter(({ mark }) => mark).length;
        expect(marked).to.equal(firstFrameLine(text) === null ? 0 : 1);
        expect(rows.some((row) => row.kind === 'fold' && row.frames.some(({ mark }) => mark))).to.equal(false);
      }),
      { numRuns: 300 },
    );
  });

  it('parses a hostile trace of 64 KiB in linear time', () => {
    const hostile = [
      `E: ${'('.repeat(65_000)}`,
      '    at f (/a/node_modules/'.repeat(2600),
      Array.from({ length: 2000 }, () => 'Caused by: x: y').join('\n'),
      Array.from({ length: 1800 }, (_, i) => `    at f${i} (/a/node_modules/b/c.js:1:1)`).join('\n'),
      `${'/'.repeat(65_000)}:1:1`,
    ];
    for (const text of hostile) expectLinear(() => partsOf(text), text.slice(0, 40));
  });

  const LIBRARIES: [file: string | null, name: string | null, library: string | null][] = [
    ['/srv/node_modules/.pnpm/koa@2/node_modules/koa/lib/a.js', 'f', 'koa'],
    ['webpack-internal:///./node_modules/@scope/x/a.js', 'f', '@scope/x'],
    ['C:\\app\\node_modules\\left\\a.js', 'f', 'left'],
    ['node:internal/process/task_queues', 'f', 'Node.js'],
    ['/usr/lib/ruby/gems/3.3.0/gems/rack-3.0.8/lib/rack.rb', 'call', 'rack'],
    ['/app/vendor/doctrine/dbal/src/C.php', 'f', 'doctrine/dbal'],
    ['/src/vendor/github.com/acme/x/y.go', 'f', 'github.com/acme/x'],
    ['/go/pkg/mod/github.com/acme/x@v1.2.3/y.go', 'f', 'github.com/acme/x'],
    ['/home/u/.cargo/registry/src/index.crates.io-6f17/serde-1.0.2/src/a.rs', 'f', 'serde'],
    [null, 'System.Threading.Tasks.Task.Run', 'System'],
    [null, 'Acme.Order.Load', null],
    ['/srv/app/src/a.ts', 'javascript', null],
    ['/srv/app/src/invendor/a.ts', 'f', null],
    ['com/acme/A.java', 'com.acme.A.b', null],
    ['/assets/vendor.3f2.js', 'f', 'vendor bundle'],
  ];
  for (const [file, name, library] of LIBRARIES) {
    it(`assigns ${file ?? name} to ${library ?? 'the application'}`, () => {
      expect(detectLibrary(file, name)).to.equal(library);
    });
  }

  it('renders escaped HTML with folds that open without scripts', () => {
    const html = render('{{stack-parts p}}', {
      p: partsOf(
        '<b>E</b>: x\n    at <i>f</i> (/a/<u>b</u>.js:1:1)\n    at g (/n/node_modules/<s>/c.js:1:1)\n    at h (/n/node_modules/p/c.js:1:1)',
      ),
    });
    expect(html).to.not.match(/<(?:b|i|u|s)>/);
    expect(html).to.include('&lt;i&gt;f&lt;/i&gt;').and.include('first frame').and.include('<details><summary>');
    expect(html.match(/is-marked/g)).to.have.length(1);
    expect(render('{{stack-parts p}}', { p: [] })).to.equal('');
  });
});

describe('bugs: pages: breadcrumbs', () => {
  const END = '2026-11-20T08:15:30.000Z';

  it('show the time before the error, for any timestamp format', () => {
    const at = Date.parse(END) - 3200;
    const given = [at / 1000, at, at * 1e6, new Date(at).toISOString(), String(at / 1000)];
    const crumbs = buildTimeline(
      given.map((timestamp) => ({ timestamp, message: 'x' })),
      END,
    );
    expect(crumbs.map(({ before }) => before)).to.deep.equal(given.map(() => '3.2 s before'));
    const odd = buildTimeline(
      [{ timestamp: 'soon', message: 'x' }, { message: 'y' }, { timestamp: 1e300, message: 'z' }],
      END,
    );
    expect(odd.map(({ at: time }) => time)).to.deep.equal([null, null, null]);
  });

  it('show the message, request, navigation or the whole breadcrumb', () => {
    const crumbs = buildTimeline(
      [
        { category: 'ui.click', message: 'button#pay' },
        { type: 'http', data: { method: 'POST', url: '/pay', status_code: 500 }, level: 'error' },
        { category: 'navigation', data: { from: '/', to: '/cart' } },
        { foo: 1 },
        'only text',
        7,
      ],
      END,
    );
    expect(crumbs.map(({ message }) => message)).to.deep.equal([
      'button#pay',
      'POST /pay → 500',
      '/ → /cart',
      '{"foo":1}',
      'only text',
      '7',
    ]);
    expect(crumbs[1]).to.include({ level: 'error', icon: 'alert' });
  });

  it('are parsed in Sentry’s format, and otherwise ignored', () => {
    expect(buildTimeline({ values: [{ message: 'x' }] }, END)).to.have.length(1);
    for (const none of [null, undefined, 'x', 1, {}]) expect(buildTimeline(none, END)).to.deep.equal([]);
  });

  it('accept any JSON', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (values) => {
        expect(buildTimeline(values, END)).to.have.length(values.length);
      }),
    );
  });
});

describe('bugs: pages: stack traces with in_app frames', () => {
  const frame = (filename: string, lineno: number, in_app: boolean, module: string): object => ({
    filename,
    lineno,
    in_app,
    module,
    abs_path: `/srv/app/${filename}`,
  });
  const text = [
    'Traceback (most recent call last):',
    '  File "app/main.py", line 3, in <module>',
    '  File "vendored/a.py", line 1, in a',
    '  File "vendored/b.py", line 2, in b',
    '  File "app/cart.py", line 9, in load',
    '  File "json/__init__.py", line 346, in loads',
    '  File "json/decoder.py", line 355, in raw_decode',
  ].join('\n');
  const frames = [
    frame('json/decoder.py', 355, false, 'json.decoder'),
    frame('json/__init__.py', 346, false, 'json'),
    frame('app/cart.py', 9, true, 'app.cart'),
    frame('vendored/b.py', 2, false, 'acme.b'),
    frame('vendored/a.py', 1, false, 'acme.a'),
    frame('app/main.py', 3, true, 'app.main'),
  ];
  const stated = (file: string | null, line: number | null, given: unknown = frames) =>
    buildTrace(text, {
      file,
      line,
      owners: new FrameOwnerIndex({ frames: given } as Json),
      values: new FrameValueIndex(null),
    })?.parts ?? [];

  it('marks the frame in the report, and folds library frames above and below it', () => {
    expect(shape(stated('app/cart.py', 9))[0]).to.deep.include({
      rows: [
        '<module> app/main.py:3',
        'fold 2 library frames: acme',
        '* load app/cart.py:9',
        'fold 2 library frames: json',
      ],
    });
  });

  it('marks the first frame when none matches the location in the report', () => {
    expect(shape(stated('other.py', 1))[0]).to.deep.include({
      rows: [
        '<module> app/main.py:3',
        'fold 2 library frames: acme',
        'load app/cart.py:9',
        'loads json/__init__.py:346',
        '* raw_decode json/decoder.py:355',
      ],
    });
  });

  it('ignores in_app when all frames have it, and ignores invalid frames', () => {
    const all = frames.map((one) => Object.assign({}, one, { in_app: true }));
    for (const given of [all, [null, 7, [], { in_app: 'no' }], 'text', null])
      expect(shape(stated('app/cart.py', 9, given))[0]).to.deep.include({ title: '' });
    expect(JSON.stringify(stated('app/cart.py', 9, all))).not.to.include('"fold"');
  });

  it('shows members of a Python exception group as siblings', () => {
    const group = [
      '  + Exception Group Traceback (most recent call last):',
      '  |   File "cart.py", line 41, in total',
      '  |     raise ExceptionGroup("two", errors)',
      '  | ExceptionGroup: two (2 sub-exceptions)',
      '  +-+---------------- 1 ----------------',
      '    | Traceback (most recent call last):',
      '    |   File "a.py", line 1, in f',
      '    | ValueError: of 1',
      '    +---------------- 2 ----------------',
      '    | KeyError: of 2',
      '    +------------------------------------',
    ].join('\n');
    expect(shape(partsOf(group))).to.deep.equal([
      { relation: null, title: 'ExceptionGroup: two (2 sub-exceptions)', rows: ['* total cart.py:41'] },
      { relation: 'Member 1 of the group', title: 'ValueError: of 1', rows: ['f a.py:1'] },
      { relation: 'Member 2 of the group', title: 'KeyError: of 2', rows: [] },
    ]);
  });

  it('shows group members and wrappers of other languages', () => {
    const parts = partsOf(
      '    at total (cart.js:41:1)\nMember of the group: TypeError: x\n    at f (a.js:1:1)\nWrapped by: cart 12: x',
    );
    expect(parts.map(({ relation, title }) => [relation, title])).to.deep.equal([
      [null, ''],
      ['Member of the group', 'TypeError: x'],
      ['Wrapped by', 'cart 12: x'],
    ]);
  });
});
