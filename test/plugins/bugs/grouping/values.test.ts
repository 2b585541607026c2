/**
 * Values in messages that runtimes, parsers, databases and bundlers write (contract 21,
 * amendments): both directions.
 */
import { expect } from 'chai';
import { computeGrouping } from '../../../../plugins/bugs/grouping/grouping-key.js';
import { maskText } from '../../../../plugins/bugs/grouping/message-mask.js';
import { toErrorTitle } from '../../../../lib/text/error-title.js';

type Pairs = readonly (readonly [string, string])[];

const SAME: Readonly<Record<string, Pairs>> = {
  'places outside a list, a text or a range': [
    ['runtime error: index out of range [5] with length 3', 'runtime error: index out of range [7] with length 4'],
    ['runtime error: index out of range [-1]', 'runtime error: index out of range [-2]'],
    ['slice bounds out of range [:12] with capacity 10', 'slice bounds out of range [:14] with capacity 11'],
    ['slice bounds out of range [5:3]', 'slice bounds out of range [12:4]'],
    ['Index 5 out of bounds for length 3', 'Index 17 out of bounds for length 4'],
    ['Index: 5, Size: 3', 'Index: 7, Size: 4'],
    ['length=3; index=5', 'length=4; index=7'],
    ['String index out of range: 5', 'String index out of range: -1'],
    ['begin 0, end 5, length 3', 'begin 1, end 7, length 4'],
    ['Range [0, 5) out of bounds for length 3', 'Range [2, 7) out of bounds for length 4'],
    [
      'arraycopy: last source index 12 out of bounds for int[10]',
      'arraycopy: last source index 7 out of bounds for int[3]',
    ],
    ['5 is out of bounds (min 0, max 2)', '7 is out of bounds (min 0, max 3)'],
    ['index out of bounds: the len is 3 but the index is 5', 'index out of bounds: the len is 4 but the index is 17'],
    ['range end index 5 out of range for slice of length 3', 'range end index 7 out of range for slice of length 4'],
    ['slice index starts at 5 but ends at 3', 'slice index starts at 7 but ends at 4'],
    ['insertion index (is 5) should be <= len (is 3)', 'insertion index (is 7) should be <= len (is 4)'],
    ['byte index 5 is out of bounds of `abc`', 'byte index 7 is out of bounds of `a longer one`'],
    ['index 5 outside of array bounds: -3...3', 'index 7 outside of array bounds: -4...4'],
    ['Undefined array key 5', 'Undefined array key 12'],
    ['Undefined offset: 5', 'Undefined offset: 12'],
    ['Uninitialized string offset 5', 'Uninitialized string offset 7'],
    ['index 5 is out of bounds for axis 0 with size 3', 'index 7 is out of bounds for axis 0 with size 4'],
    [
      'vector::_M_range_check: __n (which is 5) >= this->size() (which is 3)',
      'vector::_M_range_check: __n (which is 7) >= this->size() (which is 4)',
    ],
    [
      '*** -[__NSArrayM objectAtIndex:]: index 5 beyond bounds [0 .. 2]',
      '*** -[__NSArrayM objectAtIndex:]: index 7 beyond bounds [0 .. 3]',
    ],
    [
      'RangeError (index): Invalid value: Not in inclusive range 0..2: 5',
      'RangeError (index): Invalid value: Not in inclusive range 0..3: 7',
    ],
    [
      'Index was out of range. (Parameter index) Actual value was 5.',
      'Index was out of range. (Parameter index) Actual value was 7.',
    ],
    [
      'The value of "offset" is out of range. It must be >= 0 and <= 2. Received 5',
      'The value of "offset" is out of range. It must be >= 0 and <= 3. Received 7',
    ],
    ['assertion `left == right` failed\n  left: 5', 'assertion `left == right` failed\n  left: 7'],
  ],
  parsers: [
    ['Unexpected token a in JSON at position 12', 'Unexpected token b in JSON at position 345'],
    [
      'Unexpected token \'a\', "{"a": abc}" is not valid JSON',
      'Unexpected token \'<\', "<!DOCTYPE "... is not valid JSON',
    ],
    [
      "Expected ',' or '}' after property value in JSON at position 12 (line 1 column 13)",
      "Expected ',' or '}' after property value in JSON at position 99 (line 4 column 2)",
    ],
    [
      'JSON.parse: unexpected character at line 1 column 2 of the JSON data',
      'JSON.parse: unexpected character at line 3 column 14 of the JSON data',
    ],
    ['JSON Parse error: Unexpected identifier "abc"', 'JSON Parse error: Unexpected identifier "xyz"'],
    ['Expecting value: line 1 column 1 (char 0)', 'Expecting value: line 3 column 2 (char 17)'],
    ["invalid character 'a' looking for beginning of value", "invalid character '<' looking for beginning of value"],
    [
      "'a' is an invalid start of a value. Path: $.items[12].id | LineNumber: 0 | BytePositionInLine: 0.",
      "'<' is an invalid start of a value. Path: $.items[3].id | LineNumber: 4 | BytePositionInLine: 17.",
    ],
    [
      'Unexpected character (\'a\' (code 97)): expected a valid value\n at [Source: (String)"abc"; line: 1, column: 5]',
      'Unexpected character (\'<\' (code 60)): expected a valid value\n at [Source: (String)"<html>"; line: 3, column: 1]',
    ],
    ["invalid literal for int() with base 10: 'abc'", "invalid literal for int() with base 10: ''"],
    ['For input string: "abc"', 'For input string: "x y"'],
    ['strconv.Atoi: parsing "abc": invalid syntax', 'strconv.Atoi: parsing "": invalid syntax'],
    ['invalid input syntax for type integer: "abc"', 'invalid input syntax for type integer: "x"'],
    ["The input string 'abc' was not in a correct format.", "The input string '' was not in a correct format."],
  ],
  'assets of a deploy': [
    [
      'Failed to fetch dynamically imported module: https://shop.example/assets/Play-Q7ZT31KD.js',
      'Failed to fetch dynamically imported module: https://shop.example/assets/Play-M2xVq8Rb.js',
    ],
    [
      'error loading dynamically imported module: https://shop.example/assets/Play-CkLzaFvZ.js',
      'error loading dynamically imported module: https://shop.example/assets/Play-BdJ3kf9Q.js',
    ],
    ['Importing a module script failed. /_nuxt/DlAUqK2U.js', 'Importing a module script failed. /_nuxt/B7xKq9Lm.js'],
    ['Unable to preload CSS for /assets/Play-Q7ZT31KD.css', 'Unable to preload CSS for /assets/Play-M2xVq8Rb.css'],
    [
      'Loading chunk 417 failed.\n(error: https://shop.example/static/js/417.9f8a7b6c.chunk.js)',
      'Loading chunk 12 failed.\n(error: https://shop.example/static/js/12.aabbccd1.chunk.js)',
    ],
    [
      'Loading CSS chunk 417 failed.\n(/static/css/417.9f8a7b6c.css)',
      'Loading CSS chunk 3 failed.\n(/static/css/3.aabbccd1.css)',
    ],
    [
      'Failed to load https://shop.example/_next/data/V1StGXR8_Z5jdHi6B-myT/cart.json',
      'Failed to load https://shop.example/_next/data/kq3Pz0aLx2ByWc_9dEfGh/cart.json',
    ],
    ['Failed to load https://shop.example/app.js?v=3f2504e0', 'Failed to load https://shop.example/app.js?v=9b2c4d11'],
  ],
  'generated names': [
    [
      'com.acme.Cart$$Lambda$14/0x0000000800c03000@1b2c3d4e cannot be cast',
      'com.acme.Cart$$Lambda$28/0x0000000801d04000@7f00aa11 cannot be cast',
    ],
    ['class com.acme.Cart$1 cannot be cast', 'class com.acme.Cart$2 cannot be cast'],
    ['class jdk.proxy2.$Proxy17 cannot be cast to class X', 'class jdk.proxy3.$Proxy8 cannot be cast to class X'],
    [
      'undefined method charge for #<Class:0x000055d0c8a1f0a8>',
      'undefined method charge for #<Class:0x00007fbeef00aa10>',
    ],
    [
      'Serialization of class@anonymous\0/app/Job.php:12$3e0 is not allowed',
      'Serialization of class@anonymous\0/srv/2/Job.php:9$0 is not allowed',
    ],
    [
      'no function clause matching in #Function<1.12345678/1 in Foo.bar/2>',
      'no function clause matching in #Function<2.87654321/1 in Foo.bar/2>',
    ],
    [
      '(0 , _cart__WEBPACK_IMPORTED_MODULE_3__.total) is not a function',
      '(0 , _cart__WEBPACK_IMPORTED_MODULE_7__.total) is not a function',
    ],
  ],
  dates: [
    ['late: 2026-11-28T10:11:12.123456789+01:00[Europe/Berlin] x', 'late: 2025-01-02T03:04:05Z[UTC] x'],
    [
      'late: 2026-11-28 10:11:12.123456789 +0000 UTC m=+0.000012345 x',
      'late: 2025-01-02 03:04:05.1 +0000 UTC m=+7.5 x',
    ],
    ['late: 2026-11-28 10:11:12+00 x', 'late: 2025-01-02 03:04:05+00 x'],
    ['late: November 28, 2026 x', 'late: March 3, 2025 x'],
    ['late: Nov 28, 2026, 10:11:12 AM x', 'late: Mar 3, 2025, 1:02:03 PM x'],
    ['late: 28 November 2026 x', 'late: 3 March 2025 x'],
    ['late: 28. November 2026 um 10:11 x', 'late: 3. März 2025 um 01:02 x'],
    ['late: Saturday, November 28, 2026 x', 'late: Monday, March 3, 2025 x'],
    [
      'late: Sat Nov 28 2026 10:11:12 GMT+0100 (Central European Standard Time) x',
      'late: Mon Mar 03 2025 01:02:03 GMT+0000 (Coordinated Universal Time) x',
    ],
    ['late: Sat Nov 28 10:11:12 CET 2026 x', 'late: Mon Mar 3 01:02:03 UTC 2025 x'],
    ['late: Saturday, 28-Nov-26 10:11:12 GMT x', 'late: Monday, 03-Mar-25 01:02:03 GMT x'],
    ['late: 28-11-2026 10:11 x', 'late: 03-03-2025 01:02 x'],
    ['late: 2026.11.28 x', 'late: 2025.03.03 x'],
    ['late: 20261128_101112 x', 'late: 20250303-010203 x'],
    ['late: 2026-W48 x', 'late: 2025-W10-3 x'],
    ['late: 2026年11月28日 x', 'late: 2025年3月3日 x'],
    ['late: datetime.datetime(2026, 11, 28, 10, 11, 12) x', 'late: datetime.datetime(2025, 3, 3, 1, 2) x'],
    ['no report for 2026-11 yet', 'no report for 2025-03 yet'],
    ['at 1700000000.123 it broke', 'at 1712345678.9 it broke'],
    ['closes at 10:11 AM', 'closes at 1:02 pm'],
  ],
  'paths and names': [
    [
      "[Errno 2] No such file or directory: '/tmp/tmpabcd_xyz/none.csv'",
      "[Errno 2] No such file or directory: '/tmp/tmpqwer_asd/none.csv'",
    ],
    ['open /tmp/go-build123456/b001/a.go: no such file', 'open /tmp/go-build654321/b001/a.go: no such file'],
    ['cannot open /srv/shop-1.4.2/data.csv', 'cannot open /srv/shop-1.4.3/data.csv'],
    ['cannot open /home/ann/shop/data.csv', 'cannot open /home/bob/shop/data.csv'],
    [
      'cannot open C:\\Users\\ann\\AppData\\Local\\Temp\\tmpA1B2.tmp',
      'cannot open C:\\Users\\bob\\AppData\\Local\\Temp\\tmpZ9Y8.tmp',
    ],
    ['no answer of shop-7d9f8c6b5-x2x4z', 'no answer of shop-6b5c4d7f88-zk9bq'],
    ['container 3f2504e04f89 exited', 'container 9b2c4d11aaaa exited'],
    ['GET https://shop.example/users/a-17/photo failed', 'GET https://shop.example/users/b-2044/photo failed'],
  ],
  databases: [
    [
      'null value in column "name" violates not-null constraint\nDETAIL:  Failing row contains (412, ann, null).',
      'null value in column "name" violates not-null constraint\nDETAIL:  Failing row contains (77, bob (x), null).',
    ],
    [
      'new row violates check constraint "price_1" DETAIL: Failing row contains (1, a).',
      'new row violates check constraint "price_1" DETAIL: Failing row contains (2, b).',
    ],
    [
      "Incorrect integer value: 'abc' for column 'price' at row 1",
      "Incorrect integer value: 'x y' for column 'price' at row 12",
    ],
    [
      'deadlock: Process 12 waits for ShareLock on transaction 456; blocked',
      'deadlock: Process 9 waits for ShareLock on transaction 77; blocked',
    ],
  ],
};

const OTHER: Pairs = [
  [
    'Failed to fetch dynamically imported module: https://s.example/assets/Play-Q7ZT31KD.js',
    'Failed to fetch dynamically imported module: https://s.example/assets/Cart-Q7ZT31KD.js',
  ],
  ['Unable to preload CSS for /assets/Play-Q7ZT31KD.css', 'Unable to preload CSS for /assets/Cart-Q7ZT31KD.css'],
  ['Loading chunk cart failed.', 'Loading chunk list failed.'],
  ["Unexpected token '<'", "Unexpected token 'export'"],
  ["Unexpected identifier 'await'", "Unexpected identifier 'name'"],
  ['index out of range [5]', 'slice bounds out of range [:5]'],
  ['Undefined array key "name"', 'Undefined array key "price"'],
  ['port out of range: error code 12', 'port out of range: error code 13'],
  ['HTTP 416 range out of bounds', 'HTTP 417 range out of bounds'],
  ['needs version 1.4.2 of x', 'needs version 1.5.0 of x'],
  ['GET https://shop.example/api/v1/orders failed', 'GET https://shop.example/api/v2/orders failed'],
  ['GET https://shop.example/oauth1/token failed', 'GET https://shop.example/oauth2/token failed'],
  ['cannot open /tmp/exports/none.csv', 'cannot open /tmp/imports/none.csv'],
  ['class com.acme.Cart$Reader cannot be cast', 'class com.acme.Cart$Writer cannot be cast'],
  [
    'null value in column "name" DETAIL: Failing row contains (1).',
    'null value in column "price" DETAIL: Failing row contains (1).',
  ],
  ['costs US$5 more', 'costs US$6 more'],
  ['row 12:30 of x', 'row 12:31 of x'],
  ['Row 1', 'Row 2'],
  ['May 12 be', 'May 13 be'],
  ['Retry 3 of 5', 'Retry 4 of 5'],
  ['exit status 1', 'exit status 2'],
  ['takes 2 arguments but 3 were given', 'takes 2 arguments but 4 were given'],
  [
    'json: cannot unmarshal string into Go struct field Cart.price of type int',
    'json: cannot unmarshal string into Go struct field Cart.count of type int',
  ],
  ['needs curl/7.64.1', 'needs curl/7.65.0'],
  ['report-2024q3-final is bad', 'report-2024q4-final is bad'],
  ['Received 404', 'Received 500'],
  ['got 404', 'got 500'],
];

const keyOf = (error_message: string, exception_class = 'E'): string =>
  computeGrouping({ type: 'error', project: 'p', error_message, exception_class, file_path: 'src/a.js' }).dedup_key;

describe('values in messages', () => {
  for (const [kind, pairs] of Object.entries(SAME))
    for (const [a, b] of pairs)
      it(`masks ${kind}: ${JSON.stringify(a)}`, () => {
        expect(maskText(a)).to.equal(maskText(b));
        expect(keyOf(a)).to.equal(keyOf(b));
        expect(maskText(maskText(a))).to.equal(maskText(a));
      });
  for (const [a, b] of OTHER)
    it(`separates into two groups: ${JSON.stringify(a)}`, () => expect(keyOf(a)).not.to.equal(keyOf(b)));

  it('treats a numeric message as a value when the class implies it', () => {
    expect(keyOf('5', 'java.lang.ArrayIndexOutOfBoundsException')).to.equal(
      keyOf('-1', 'java.lang.ArrayIndexOutOfBoundsException'),
    );
    expect(keyOf('404', 'HttpError')).not.to.equal(keyOf('500', 'HttpError'));
  });

  it('never shows a database row in a title', () => {
    const message =
      'null value in column "name" violates not-null constraint DETAIL: Failing row contains (412, ann, null).';
    expect(toErrorTitle('IntegrityError', message)).to.equal(
      'IntegrityError: null value in column "name" violates not-null constraint DETAIL: Failing row contains (…)',
    );
  });
});
