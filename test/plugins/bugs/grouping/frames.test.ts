/**
 * Stack traces of each language: the frame that the error comes from (contract 21, first frame).
 */
import { expect } from 'chai';
import { computeGrouping } from '../../../../plugins/bugs/grouping/grouping-key.js';
import { findFirstFrame, parseFrames } from '../../../../plugins/bugs/grouping/stack-trace.js';

/** name → stack, then origin, line number and index of the crash's line. */
const STACKS: Record<string, readonly [string, string, number | null, number]> = {
  V8: ['TypeError: x\n    at f (/srv/app/src/a.js:42:13)\n    at async g (/srv/b.js:1:2)', 'src/a.js', 42, 1],
  'V8 without function': ['Error\n    at /srv/app/a.js:1:2\n    at g (/srv/b.js:1:2)', 'app/a.js', 1, 1],
  'V8 module and async': ['Error\n    at async file:///srv/app/a.mjs:7:2', 'app/a.mjs', 7, 1],
  'V8 alias': ['Error\n    at Object.f [as g] (C:\\app\\src\\a.js:7:2)', 'src/a.js', 7, 1],
  'V8 blanks and brackets': ['Error\n    at f (/srv/my app (1)/a.js:7:2)', 'my app (1)/a.js', 7, 1],
  'V8 built-in first': [
    'SyntaxError: x\n    at JSON.parse (<anonymous>)\n    at f (/srv/app/a.js:3:4)',
    'app/a.js',
    3,
    2,
  ],
  'V8 eval': [
    'E\n    at eval (eval at f (/srv/app/a.js:3:4), <anonymous>:1:1)\n    at g (/b.js:1:1)',
    'app/a.js',
    3,
    1,
  ],
  'V8 node internals': ['E\n    at f (node:internal/fs/utils:1:2)\n    at g (/srv/b.js:1:2)', 'fs/utils', 1, 1],
  Hermes: ['E\n    at f (address at index.android.bundle:1:23)', 'index.android.bundle', 1, 1],
  PowerShell: [
    'at Pay, C:\\app\\shop\\cart.psm1: line 12\nat <ScriptBlock>, C:\\app\\main.ps1: line 3',
    'shop/cart.psm1',
    12,
    0,
  ],
  'PowerShell of a prompt, in German': [
    'bei <ScriptBlock>, <Keine Datei>: Zeile 1\nbei <ScriptBlock>, C:\\a, b\\main.ps1: Zeile 3',
    'b/main.ps1',
    3,
    1,
  ],
  webpack: ['E\n    at f (webpack-internal:///./src/App.vue:12:3)', 'src/app.vue', 12, 1],
  'V8 with a message of lines': ['Error: one\ntwo in 3 lines\n    at f (/srv/app/a.js:1:2)', 'app/a.js', 1, 2],
  Firefox: ['f/<@https://host/js/a.js:12:34\n@https://host/b.js:1:2', 'js/a.js', 12, 0],
  'Firefox eval': ['f@https://host/js/a.js line 10 > eval:1:1', 'js/a.js', 10, 0],
  'Firefox scope in path': ['f@https://host/@scope/a.js:12:34', '@scope/a.js', 12, 0],
  Safari: ['[native code]\nf@https://host/js/a.js:12:34\nglobal code@https://host/b.js:1:2', 'js/a.js', 12, 1],
  'Safari without function': ['https://host/js/a.js:12:34', 'js/a.js', 12, 0],
  'Python innermost': [
    'Traceback (most recent call last):\n  File "/app/main.py", line 10, in <module>\n    run()\n  File "/app/shop/cart.py", line 33, in add\n    raise V\nV: bad',
    'shop/cart.py',
    33,
    3,
  ],
  'Python chained': [
    'Traceback (most recent call last):\n  File "/app/a.py", line 1, in f\nKeyError: 1\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File "/app/b.py", line 2, in g\nV: x',
    'app/b.py',
    2,
    7,
  ],
  'Python syntax error': [
    '  File "/app/a.py", line 1, in <module>\n    import b\n  File "/app/b.py", line 7\n    def x(:\nSyntaxError: x',
    'app/b.py',
    7,
    2,
  ],
  'Python group': [
    '  + Exception Group Traceback (most recent call last):\n  |   File "/app/a.py", line 3, in f\n  | ExceptionGroup: x\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File "/app/b.py", line 9, in g\n    | V: x\n    +---------------- 2 ----------------\n    |   File "/app/c.py", line 9, in g\n    | W: x',
    'app/a.py',
    3,
    1,
  ],

  'Python group of one member': [
    '  + Exception Group Traceback (most recent call last):\n  |   File "/app/a.py", line 3, in f\n  | ExceptionGroup: x\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File "/app/b.py", line 9, in g\n    | V: x',
    'app/b.py',
    9,
    5,
  ],
  'Python fault handler': [
    'Fatal Python error: x\n\nCurrent thread 0x1 (most recent call first):\n  File "/app/a.py", line 1 in f\n  File "/app/b.py", line 2 in g',
    'app/a.py',
    1,
    3,
  ],
  'Python on Windows': ['  File "C:\\app\\shop\\cart.py", line 3, in add', 'shop/cart.py', 3, 0],
  'Go panic': [
    'panic: x\n\ngoroutine 1 [running]:\npanic({0x1, 0x2})\n\t/usr/local/go/src/runtime/panic.go:770 +0x132\nruntime.goPanicIndex(0x5)\n\t/usr/local/go/src/runtime/panic.go:114\nmain.f(...)\n\t/app/shop/cart.go:12 +0x1d\nmain.main()\n\t/app/main.go:3 +0x1',
    'shop/cart.go',
    12,
    8,
  ],
  'Go recovered': [
    'goroutine 1 [running]:\nruntime/debug.Stack()\n\t/usr/local/go/src/runtime/debug/stack.go:24 +0x5e\nmain.main.func1()\n\t/app/main.go:10 +0x1\npanic({0x1, 0x2})\n\t/usr/local/go/src/runtime/panic.go:770 +0x132\nmain.f(...)\n\t/app/shop/cart.go:12 +0x1d',
    'shop/cart.go',
    12,
    8,
  ],
  'Go without panic': [
    'goroutine 1 [running]:\nruntime/debug.Stack()\n\t/usr/local/go/src/runtime/debug/stack.go:24 +0x5e\nmain.f(0x1)\n\t/app/shop/cart.go:10 +0x1',
    'shop/cart.go',
    10,
    4,
  ],
  'Go trimmed paths': [
    'goroutine 1 [running]:\npanic({0x1})\n\truntime/panic.go:770 +0x132\nmain.f()\n\tshop/cart.go:1 +0x1',
    'shop/cart.go',
    1,
    4,
  ],
  'PHP header': [
    "PDOException: x in /var/www/app/Db.php:77\nStack trace:\n#0 /var/www/app/Repo.php(12): Db->query('...')\n#1 {main}",
    'app/db.php',
    77,
    0,
  ],
  'PHP trace only': [
    "#0 /var/www/app/Repo.php(12): Db->query('...')\n#1 /var/www/i.php(1): f()\n#2 {main}",
    'app/repo.php',
    12,
    0,
  ],
  'PHP internal first': [
    '#0 [internal function]: f(1)\n#1 /var/www/app/Repo.php(12): array_map()\n#2 {main}',
    'app/repo.php',
    12,
    1,
  ],
  'PHP warning': ['PHP Warning:  Undefined variable $x in /var/www/app/a.php on line 12', 'app/a.php', 12, 0],
  'PHP previous': [
    'PDOException: a in /w/app/Db.php:1\nStack trace:\n#0 {main}\n\nNext RepoException: b in /w/app/Repo.php:2\nStack trace:\n#0 {main}',
    'app/repo.php',
    2,
    4,
  ],
  '.NET': [
    'E: x\n   at A.B.C.Load(Guid id) in C:\\b\\Orders\\O.cs:line 42\n   at A.P.Main(String[] args) in C:\\b\\P.cs:line 9',
    'orders/o.cs',
    42,
    1,
  ],
  '.NET German': [
    'E: x\n   bei A.B.C.Load(Guid id) in D:\\7\\Orders\\O.cs:Zeile 57.\n   bei A.P.Main()',
    'orders/o.cs',
    57,
    1,
  ],
  '.NET French': ['E: x\n   à A.B.C.Load(Guid id) dans C:\\b\\Orders\\O.cs:ligne 42', 'orders/o.cs', 42, 1],
  '.NET Russian': ['E: x\n   в A.B.C.Load(Guid id) в C:\\b\\Orders\\O.cs:строка 42', 'orders/o.cs', 42, 1],
  '.NET Japanese': ['E: x\n   場所 A.B.C.Load(Guid id) 場所 C:\\b\\Orders\\O.cs:行 42', 'orders/o.cs', 42, 1],
  '.NET Chinese': ['E: x\n   在 A.B.C.Load(Guid id) 位置 C:\\b\\Orders\\O.cs:行号 42', 'orders/o.cs', 42, 1],
  '.NET on Linux': ['E: x\n   at A.B.<Load>d__1.MoveNext() in /src/Orders/O.cs:line 42', 'orders/o.cs', 42, 1],
  '.NET without file': [
    'E: x\n   at A.B.List`1.get_Item(Int32 i)\n   at A.P.Main() in C:\\P.cs:line 9',
    'a.b.list`1.get_item',
    null,
    1,
  ],
  Mono: [
    'E: x\n  at Acme.Job.Run (System.Int32 x) [0x0001f] in <3f2504e04f8911d39a0c0305e82c3301>:0 \n  at Acme.P.Main () [0x00000] in <3f2504e04f8911d39a0c0305e82c3301>:0 ',
    'acme.job.run',
    null,
    1,
  ],
  'Mono with a file': ['E: x\n  at Acme.Job.Run () [0x0001f] in /src/Shop/Job.cs:42 ', 'shop/job.cs', 42, 1],
  Unity: ['E: x\n  at Job.Run () (at Assets/Scripts/Job.cs:12)', 'scripts/job.cs', 12, 1],
  '.NET native AOT': ['E: x\n   at Acme.Job.<RunAsync>d__24.MoveNext() + 0x1f', 'acme.job.runasync', null, 1],
  'Java with packaging data': [
    'E: x\n\tat com.acme.db.Pool.get(Pool.java:12) ~[shop-1.4.2.jar!/:1.4.2]\n\tat com.acme.A.b(A.java:3) [classes/:?]',
    'db/pool.java',
    12,
    1,
  ],
  'Ruby evaluated': ["(eval at /srv/app/x.rb:3):1:in 'foo'\n\tfrom /srv/app/y.rb:3:in 'show'", 'app/x.rb', 1, 0],
  'a page as a file': [
    'TypeError: m\n    at HTMLButtonElement.onclick (https://shop.example/orders/4711:10:5)',
    'orders/<part>',
    10,
    1,
  ],
  'a page as a file in Firefox': ['onclick@https://shop.example/orders/4711:1:1', 'orders/<part>', 1, 0],
  Java: [
    'E: x\n\tat com.acme.db.Pool.get(Pool.java:88)\n\tat com.acme.Api.call(Api.java:1)\nCaused by: F: y\n\tat com.acme.net.S.r(S.java:5)',
    'db/pool.java',
    88,
    1,
  ],
  'Java module and inner class': [
    'E\n\tat java.base/java.util.ArrayList$Itr.next(ArrayList.java:9)',
    'util/arraylist.java',
    9,
    1,
  ],
  'Java native': ['E\n\tat com.acme.db.Pool.wait(Native Method)\n\tat com.acme.A.b(A.java:1)', 'db/pool.java', null, 1],
  'Java unknown source': ['E\n\tat com.acme.db.Pool$1.run(Unknown Source)', 'db/pool.java', null, 1],
  Kotlin: ['E\n\tat com.acme.db.PoolKt.main(Pool.kt:3)', 'db/pool.kt', 3, 1],
  Ruby: [
    "/app/shop/cart.rb:12:in 'Cart#add': bad (RuntimeError)\n\tfrom /app/main.rb:3:in '<main>'",
    'shop/cart.rb',
    12,
    0,
  ],
  'Ruby backtrace only': ["/app/shop/cart.rb:12:in `add'\n/app/main.rb:3:in `<main>'", 'shop/cart.rb', 12, 0],
  Perl: ['Died at /app/shop/cart.pl line 12.\n\tmain::f(1) called at /app/main.pl line 20', 'shop/cart.pl', 12, 0],
  'Perl with input': ['Died at /app/shop/cart.pl line 12, <STDIN> line 5.', 'shop/cart.pl', 12, 0],
  Rust: [
    "thread 'main' panicked at src/shop/cart.rs:12:5:\nindex out of bounds\nstack backtrace:\n   0: rust_begin_unwind\n             at /rustc/1/library/std/src/panicking.rs:5:1",
    'shop/cart.rs',
    12,
    0,
  ],
  'Rust backtrace without its panic': [
    '   0: std::backtrace_rs::backtrace::trace\n             at /rustc/1a2b/library/std/src/../../backtrace/src/backtrace/mod.rs:66:5\n   1: rust_begin_unwind\n             at /rustc/1a2b/library/std/src/panicking.rs:645:5\n   2: core::panicking::panic_fmt\n             at /rustc/1a2b/library/core/src/panicking.rs:72:14\n   3: core::option::unwrap_failed\n             at /rustc/1a2b/library/core/src/option.rs:2000:5\n   4: shop::cart::total\n             at ./src/cart.rs:12:5\n   5: shop::main\n             at ./src/main.rs:3:1',
    'src/cart.rs',
    12,
    9,
  ],
  'Rust error of a library': [
    '   0: core::panicking::panic_fmt\n             at /rustc/1a2b/library/core/src/panicking.rs:72:14\n   1: alloc::vec::Vec<T>::remove\n             at /rustc/1a2b/library/alloc/src/vec/mod.rs:1500:5\n   2: shop::main\n             at ./src/main.rs:3:1',
    'vec/mod.rs',
    1500,
    3,
  ],
  'Rust frames of an SDK': [
    '   0: sentry_backtrace::current_stacktrace\n             at /c/sentry-backtrace-0.49.5/src/lib.rs:24:5\n   1: std::thread::local::LocalKey<T>::with\n             at /rustc/1a2b/library/std/src/thread/local.rs:300:5\n   2: <sentry_core::hub::Hub as x::Y>::with\n             at /c/sentry-core-0.49.5/src/hub.rs:71:9\n   3: capture\n             at /c/sentry-core-0.49.5/src/api.rs:10:9\n   4: shop::total\n             at ./src/main.rs:43:5\n   5: std::panicking::try\n             at /rustc/1a2b/library/std/src/panicking.rs:544:1',
    'src/main.rs',
    43,
    9,
  ],
  'Rust before 1.73': ["thread 'main' panicked at 'bad', src/shop/cart.rs:12:5", 'shop/cart.rs', 12, 0],
  Shell: ['deploy/build.sh:26 in f\ndeploy/main.sh:3 in main', 'deploy/build.sh', 26, 0],
  Bash: ['./bin/deploy.sh: line 12: foo: command not found', 'bin/deploy.sh', 12, 0],
  Dart: ['#0      main (package:app/shop/a.dart:12:3)\n#1      g (dart:async/z.dart:1:1)', 'shop/a.dart', 12, 0],
  GDB: ['#0  0x0000 in f (x=1) at src/a.c:12\n#1  0x0001 in main () at src/b.c:1', 'src/a.c', 12, 0],
  Elixir: ['    (app 0.1.0) lib/app/cart.ex:12: App.Cart.add/2', 'app/cart.ex', 12, 0],
  Lua: ['lua: src/cart.lua:12: bad\nstack traceback:\n\t[C]: in function', 'src/cart.lua', 12, 0],
};

const originOf = (stack_trace: string): string => computeGrouping({ type: 'bug', project: 'p', stack_trace }).origin;

describe('grouping: first frame', () => {
  for (const [name, [stack, origin, line_no, line]] of Object.entries(STACKS)) {
    it(`${name}: finds the crash frame with its line`, () => {
      expect(originOf(stack)).to.equal(origin);
      const crash = parseFrames(stack).filter((frame) => frame.crash);
      expect(crash).to.have.lengthOf(1);
      expect(crash[0]).to.include({ line, line_no });
    });

    it(`${name}: treats CRLF as LF and ignores other lines`, () => {
      expect(originOf(stack.replaceAll('\n', '\r\n'))).to.equal(origin);
      expect(findFirstFrame(`${stack}\n`)).to.deep.include(findFirstFrame(stack));
    });
  }

  for (const text of [
    '',
    'no stack at all',
    "Error: at 12 o'clock",
    'connect db:5432',
    'mail bob@x.io:12',
    '<anonymous>',
    '\n\n',
  ])
    it(`finds no frame in ${JSON.stringify(text)}`, () => {
      expect(originOf(text)).to.equal('');
      expect(parseFrames(text).filter((frame) => frame.crash)).to.deep.equal([]);
    });

  it('returns functions and lines for display', () => {
    const frames = parseFrames(
      'TypeError: x\n\n    at async f (/srv/a.js:42:13)\n    at new G (<anonymous>)\n    at /b.js:1:2',
    );
    expect(frames).to.deep.equal([
      { line: 2, file: '/srv/a.js', function: 'f', line_no: 42, crash: true },
      { line: 3, file: null, function: 'G', line_no: null, crash: false },
      { line: 4, file: '/b.js', function: null, line_no: 1, crash: false },
    ]);
    expect(parseFrames('goroutine 1 [running]:\nmain.(*T).f(0x1)\n\t/a/b.go:2 +0x1')).to.deep.equal([
      { line: 2, file: '/a/b.go', function: 'main.(*T).f', line_no: 2, crash: true },
    ]);
  });
});
