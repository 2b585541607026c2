/**
 * Exceptions that only carry another one (contract 21, amendments), in the traces that each
 * language prints.
 */
import { expect } from 'chai';
import { findInnerError, isWrapperError, listMemberTypes } from '../../../lib/text/wrapped-errors.js';
import { findFirstFrame } from '../../../plugins/bugs/grouping/stack-trace.js';
import { normalizeOrigin } from '../../../plugins/bugs/grouping/origin.js';

/** name → trace, class and message of what it carries, and the origin. */
const CARRIED: Readonly<Record<string, readonly [string, string, string, string]>> = {
  'Java reflection': [
    'java.lang.reflect.InvocationTargetException\n\tat java.base/jdk.internal.reflect.DirectMethodHandleAccessor.invoke(DirectMethodHandleAccessor.java:118)\n\tat com.acme.Main.main(Main.java:9)\nCaused by: java.lang.IllegalStateException: no price\n\tat com.acme.cart.Cart.total(Cart.java:14)\n\t... 1 more',
    'java.lang.IllegalStateException',
    'no price',
    'cart/cart.java',
  ],
  'Java, a wrapper in a wrapper': [
    'Exception in thread "main" java.lang.reflect.UndeclaredThrowableException\n\tat com.acme.$Proxy1.run(Unknown Source)\nCaused by: java.util.concurrent.ExecutionException: java.io.IOException: disk full\n\tat com.acme.A.b(A.java:1)\nCaused by: java.io.IOException: disk full\n\tat com.acme.disk.Disk.write(Disk.java:3)\n\t... 5 more\nCaused by: java.lang.Error: deeper\n\tat com.acme.B.c(B.java:2)',
    'java.io.IOException',
    'disk full',
    'disk/disk.java',
  ],
  Spring: [
    'jakarta.servlet.ServletException: Request processing failed: java.lang.IllegalArgumentException: no cart\n\tat org.springframework.web.servlet.FrameworkServlet.processRequest(FrameworkServlet.java:1022) ~[spring-webmvc-6.1.jar!/:6.1]\nCaused by: java.lang.IllegalArgumentException: no cart\n\tat com.acme.web.Api.cart(Api.java:12) ~[classes!/:1.4.2]',
    'java.lang.IllegalArgumentException',
    'no cart',
    'web/api.java',
  ],
  '.NET': [
    'System.Reflection.TargetInvocationException: Exception has been thrown by the target of an invocation.\n ---> System.InvalidOperationException: no price\n   at Acme.Cart.Total() in /src/Orders/Cart.cs:line 12\n   --- End of inner exception stack trace ---\n   at System.RuntimeMethodHandle.InvokeMethod()',
    'System.InvalidOperationException',
    'no price',
    'orders/cart.cs',
  ],
  '.NET Framework, on one line': [
    'System.Reflection.TargetInvocationException: Exception has been thrown by the target of an invocation. ---> System.InvalidOperationException: no price\n   at Acme.Cart.Total()\n   --- End of inner exception stack trace ---\n   at System.X.Y()',
    'System.InvalidOperationException',
    'no price',
    'acme.cart.total',
  ],
  '.NET aggregate of one': [
    'System.AggregateException: One or more errors occurred. (no price)\n ---> System.InvalidOperationException: no price\n   at Acme.Cart.Total() in /src/Orders/Cart.cs:line 12\n   --- End of inner exception stack trace ---\n   at System.Threading.Tasks.Task.Wait()\n ---> (Inner Exception #0) System.InvalidOperationException: no price\n   at Acme.Cart.Total() in /src/Orders/Cart.cs:line 12<---',
    'System.InvalidOperationException',
    'no price',
    'orders/cart.cs',
  ],
  'Python group of one': [
    '  + Exception Group Traceback (most recent call last):\n  |   File "/srv/shop/run.py", line 9, in <module>\n  |     main()\n  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File "/srv/shop/jobs.py", line 4, in price\n    |     raise ValueError("bad price")\n    | ValueError: bad price\n    +------------------------------------',
    'ValueError',
    'bad price',
    'shop/jobs.py',
  ],
  'Python group of one in another': [
    '  + Exception Group Traceback (most recent call last):\n  |   File "/srv/shop/run.py", line 9, in <module>\n  | ExceptionGroup: outer (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | Exception Group Traceback (most recent call last):\n    |   File "/srv/shop/mid.py", line 4, in mid\n    | ExceptionGroup: inner (1 sub-exception)\n    +-+---------------- 1 ----------------\n      | Traceback (most recent call last):\n      |   File "/srv/shop/jobs.py", line 7, in stock\n      |     d["sku"]\n      |     ~^^^^^^^\n      | KeyError: \'sku\'\n      +------------------------------------',
    'KeyError',
    "'sku'",
    'shop/jobs.py',
  ],
  Node: [
    'Error: There was an error during concurrent rendering but React was able to recover by instead synchronously rendering the entire root.\n    at recover (/srv/web/vendor.js:1:2)\n    at run (/srv/web/vendor.js:3:4) {\n  [cause]: TypeError: price is undefined\n      at Cart (/srv/web/cart.js:7:9)\n      at render (/srv/web/vendor.js:5:6)\n}',
    'TypeError',
    'price is undefined',
    'web/cart.js',
  ],
  'Node, an aggregate of one': [
    '[AggregateError: All promises were rejected] {\n  [errors]: [\n    TypeError: price is undefined\n        at f (file:///srv/web/cart.js:2:40)\n        at g (node:internal/x:1:2)\n  ]\n}',
    'TypeError',
    'price is undefined',
    'web/cart.js',
  ],
};

describe('lib: wrapped errors', () => {
  for (const [name, [trace, type, message, origin]] of Object.entries(CARRIED))
    it(`${name}: finds the inner error ${type}`, () => {
      expect(findInnerError(trace)).to.include({ type, message });
      const frame = findFirstFrame(trace);
      expect(frame?.file ? normalizeOrigin(frame.file) : frame?.function?.toLowerCase()).to.equal(origin);
      expect(findInnerError(trace.replaceAll('\n', '\r\n'))).to.include({ type, message });
    });

  it('finds no inner error when the outer exception describes the cause', () => {
    for (const trace of [
      'com.acme.LoadFailed: no cart\n\tat com.acme.db.Pool.get(Pool.java:88)\nCaused by: java.io.IOException: x\n\tat com.acme.net.Sock.read(Sock.java:5)',
      'java.lang.reflect.InvocationTargetException\n\tat com.acme.db.Pool.get(Pool.java:88)',
      '  | ExceptionGroup: two (2 sub-exceptions)\n  +-+---------------- 1 ----------------\n    | ValueError: a\n    +---------------- 2 ----------------\n    | KeyError: b\n    +------------------------------------',
      'System.AggregateException: One or more errors occurred. (a) (b)\n ---> System.A: a\n   at X.Y()\n ---> (Inner Exception #0) System.A: a<---\n\n ---> (Inner Exception #1) System.B: b<---',
      '',
    ])
      expect(findInnerError(trace)).to.equal(null);
  });

  it('lists the classes of a group of several errors', () => {
    expect(
      listMemberTypes(
        '[AggregateError: All promises were rejected] {\n  [errors]: [\n    TypeError: a\n        at file:///a.js:3:40,\n    RangeError: b\n        at file:///a.js:3:75\n  ]\n}',
      ),
    ).to.deep.equal(['TypeError', 'RangeError']);
    expect(
      listMemberTypes(
        '  | ExceptionGroup: two (2 sub-exceptions)\n  +-+---------------- 1 ----------------\n    | ValueError: a\n    +---------------- 2 ----------------\n    | shop.KeyError\n    +------------------------------------',
      ),
    ).to.deep.equal(['ValueError', 'shop.KeyError']);
    expect(listMemberTypes('TypeError: a\n    at f (a.js:1:2)')).to.deep.equal([]);
  });

  it('recognizes wrappers by class or message', () => {
    expect(isWrapperError('java.lang.reflect.InvocationTargetException', null)).to.equal(true);
    expect(isWrapperError('Error', 'There was an error while hydrating. Because …')).to.equal(true);
    expect(
      isWrapperError(
        'Microsoft.EntityFrameworkCore.DbUpdateException',
        'An error occurred while saving the entity changes. See the inner exception for details.',
      ),
    ).to.equal(true);
    expect(isWrapperError('PaymentFailed', 'card declined')).to.equal(false);
    expect(isWrapperError(null, null)).to.equal(false);
  });
});
