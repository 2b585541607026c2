/** Messages and files: which two are one group (contract 21, grouping key). */
import { expect } from 'chai';
import { cases } from '../../../support/grouping-vectors.js';
import { computeGrouping } from '../../../../plugins/bugs/grouping/grouping-key.js';
import { normalizeOrigin } from '../../../../plugins/bugs/grouping/origin.js';
import { maskText, type MaskOptions } from '../../../../plugins/bugs/grouping/message-mask.js';

const keysOf = ({ file, ...body }: Record<string, string>) =>
  computeGrouping({ type: 'bug', project: '', file_path: file ?? null, ...body });

/** Two known keys, or one report without origin that meets the other. */
function meet(a: ReturnType<typeof keysOf>, b: ReturnType<typeof keysOf>): boolean {
  return a.dedup_key === b.dedup_key || ((a.origin === '' || b.origin === '') && a.bare_key === b.bare_key);
}

describe('grouping: the shared vectors', () => {
  for (const { name, a, b, same_group } of cases)
    it(`puts ${name} into ${same_group ? 'one group' : 'two groups'}`, () =>
      expect(meet(keysOf(a), keysOf(b))).to.equal(same_group));
});

const SAME: readonly (readonly [string, string])[] = [
  ["Duplicate entry 'O'Brien' for key 'users.name'", "Duplicate entry 'amy' for key 'users.name'"],
  [
    "1062 Duplicate entry 'bob' for key 'users.name' (Connection: mysql, SQL: insert into `users` (`name`) values (bob))",
    "1062 Duplicate entry 'amy' for key 'users.name' (Connection: mysql, SQL: insert into `users` (`name`) values (amy (x)))",
  ],
  [
    '7 ERROR:  value too long (Connection: pgsql, SQL: insert into "users" ("name") values (Bob\nSmith) returning "id")',
    '7 ERROR:  value too long (Connection: pgsql, SQL: insert into "users" ("name") values (Amy) returning "id")',
  ],
  ["Duplicate entry '' for key 'PRIMARY'", "Duplicate entry '7-\"x\"' for key 'PRIMARY'"],
  ['Duplicate entry "a" for key 1', 'Duplicate entry "b" for key 1'],
  [
    "SQLSTATE[23000]: Integrity constraint violation: 1062 Duplicate entry 'a@b.c' for key 'u_1' (SQL: x)",
    "SQLSTATE[23000]: Integrity constraint violation: 1062 Duplicate entry 'zed' for key 'u_1' (SQL: x)",
  ],
  ["Doppelter Eintrag 'a' für Schlüssel 'uq_1'", "Doppelter Eintrag 'b' für Schlüssel 'uq_1'"],
  ['DETAIL: Key (email)=(x@y) already exists.', 'DETAIL: Key (email)=(bob) already exists.'],
  ['Key (a, b)=(x, )(y) already exists.', 'Key (a, b)=(1, 2) already exists.'],
  ['Key (id)=(amy) is not present in table "t".', 'Key (id)=(bob) is not present in table "t".'],
  [
    'ERROR: duplicate key value violates unique constraint "uq_1"\nDETAIL: Key (email)=(amy) already exists.',
    'ERROR: duplicate key value violates unique constraint "uq_1"\r\nDETAIL: Key (email)=(b@c.d) already exists.',
  ],
  [
    "Violation of UNIQUE KEY constraint 'UQ_1'. Cannot insert duplicate key in object 'dbo.T1'. The duplicate key value is (amy).",
    "Violation of UNIQUE KEY constraint 'UQ_1'. Cannot insert duplicate key in object 'dbo.T1'. The duplicate key value is (17, x).",
  ],
  [
    'E11000 duplicate key error collection: db.users index: email_1 dup key: { email: "amy" }',
    'E11000 duplicate key error collection: db.users index: email_1 dup key: { email: "a}b{" }',
  ],
  [
    'E11000 duplicate key error index: db.users.$email_1 dup key: { : "amy" }',
    'E11000 duplicate key error index: db.users.$email_1 dup key: { : "bob" }',
  ],
  ['Order 3f2504e0-4f89-11d3-9a0c-0305e82c3301', 'Order {9B2C4D11-AAAA-4BBB-8CCC-1234567890AB}'],
  ['user_3f2504e0-4f89-11d3-9a0c-0305e82c3301', 'user_9b2c4d11-aaaa-4bbb-8ccc-1234567890ab'],
  ['Cast to ObjectId 507f1f77bcf86cd799439011 failed', 'Cast to ObjectId 507f191e810c19729de860ea failed'],
  ['at 2026-01-02T03:04:05+02:00 x', 'at 2026-11-20 x'],
  ['[10/Oct/2000:13:55:36 -0700] GET', '[11/Nov/2001:01:02:03 +0000] GET'],
  ['expired Mon, 02 Jan 2006 15:04:05 +0000!', 'expired Tue, 3 Feb 2026 01:02:03 GMT!'],
  ['2026/01/02 12:00:00 late', '2026/11/12 23:00:01 late'],
  ['Mon Jan  2 15:04:05 2006 late', 'Tue Feb 12 01:04:05 2026 late'],
  ['02.01.2026 12:00 late', '13.11.2025 02:01 late'],
  ['Read of address 0x00007ff6a1b2c3d4', 'Read of address 0x7ffe1234'],
  ['Access violation at address 00407A2B', 'Access violation at address 00407FFF'],
  ['segfault at 0x18 ip', 'segfault at 0x0 ip'],
  ['Cannot close com.acme.Pool@1b6d3586', 'Cannot close com.acme.Pool@7f31245a'],
  ['[Ljava.lang.String;@1b6d3586.', '[Ljava.lang.String;@6d06d69c.'],
  ['<Foo object at 0x7f3c2a1b> failed', '<Foo object at 0x7f3c2fff> failed'],
  ['bad token on line 12, column 5', 'bad token on line 3, column 77'],
  ['Fehler in Zeile 12', 'Fehler in Zeile 99'],
  ['at view.php:12 and', 'at view.php:12:34 and'],
  ['eval (x:12:34)', 'eval (x:1:2)'],
  ['a.c:12:5: error: x', 'a.c:7: error: x'],
  ['in view.php(12): x', 'in view.php(345): x'],
  ['User "u-1001" gone', 'User "12" gone'],
  ['User `u-1001` gone', 'User `u-2` gone'],
  ['User “u-1001” gone', 'User “u-2” gone'],
  ['User „u-1001“ gone', 'User „u-2“ gone'],
  ['User «u-1001» gone', 'User «u-2» gone'],
  ["bash: `x1': not valid", "bash: `y22': not valid"],
  ["KeyError: u'k1'", "KeyError: u'k2'"],
  ["can't find 'a1'", "can't find 'b2'"],
  ["the users' file 'a1' won't open", "the users' file 'c2' won't open"],
  ["User 'bob@x.io' not found", "User 'amy7@x.io' not found"],
  ["User '3f2504e0-4f89-11d3-9a0c-0305e82c3301' not found", "User 'u-1001' not found"],
  ["No directory 'C:\\a1\\'", "No directory 'C:\\b2\\'"],
  ['mail to bob.smith+x@mail.example.com failed', 'mail to amy@x.io failed'],
  ['connect 10.0.0.1:5432 refused', 'connect 192.168.7.23:5432 refused'],
  ['order 123456 missing', 'order 98765432 missing'],
  ['order-123456 missing', 'order-98765432 missing'],
  ['x\r\ny', 'x\ny'],
  ['\n\n  x\n\n y \n z', 'x\ny\nother'],
  ['timed out after 1673 ms', 'timed out after 31ms'],
  ['took 1.5s', 'took 1 minute 30 seconds'],
  ['took 1 second', 'took 12 secs'],
  ['deadline of 1h2m3.5s', 'deadline of 250µs'],
  ['waited 5 Sekunden', 'waited 1,5 s'],
  ['stop after 30-second wait', 'stop after 5-second wait'],
  ['needs 12 MiB', 'needs 870 kB'],
  ['needs 512 B', 'needs 1,234,567 bytes'],
  ['heap of 512M', 'heap of 64k'],
  ['disk 93% full', 'disk 7.5 % full'],
  ['disk 93 percent full', 'disk 7% full'],
  ['GET /orders/4711 failed', 'GET /orders/12 failed'],
  [
    'GET https://shop.example/api/orders/4711/lines?x=a failed',
    'GET https://shop.example/api/orders/5/lines?x=a failed',
  ],
  ['no route orders/12/lines.', 'no route orders/7/lines.'],
  ['cannot open C:\\data\\17\\a.txt', 'cannot open C:\\data\\2044\\a.txt'],
  ['worker (pid 4711) died', 'worker (pid 12) died'],
  ['PID: 4711 exited', 'PID: 9 exited'],
  ['in thread-12', 'in thread-7'],
  ['pool-1-thread-12 is stuck', 'pool-1-thread-9 is stuck'],
  ['[4711] connection lost', '[12] connection lost'],
  ['x\n[4711] lost', 'x\n[12] lost'],
  ['session a81f93cc02d94e11b7 expired', 'session QX7781ABfk2290zzPL17 expired'],
  ['commit 9fceb02d0ae598e95dc970b74767f19372d61af8 is bad', 'commit 1fceb02d0ae598e95dc970b74767f19372d61af9 is bad'],
  ['declined pi_3Pph39e', 'declined pi_9Kc02ab'],
  ["no such customer: 'cus_9s6XKzkNRiz8i3'", "no such customer: 'cus_NffrFeUfNV2Hib'"],
  ['connect 10.0.0.1:5432 refused', 'connect 10.0.0.1:6379 refused'],
  ['connect ECONNREFUSED ::1:5432', 'connect ECONNREFUSED 127.0.0.1:5432'],
  ['connect fe80::1ff:fe23:4567:890a%eth2 refused', 'connect 2001:db8:85a3:1:2:8a2e:370:7334 refused'],
  ['connect [2001:db8::1]:8080 refused', 'connect 10.0.0.1:80 refused'],
  ['no answer of 00:1b:44:11:3a:b7', 'no answer of AA-BB-CC-DD-EE-0F'],
  ['cart 4711 has no price', 'cart 12345 has no price'],
  ['cart 4711 has no price', 'cart 4711000 has no price'],
  ['report 4711, row 12345.', 'report 4712, row 54321.'],
  ['export #4711 of zipcode 12345', 'export #4712 of zipcode 54321'],
  ['carts [4711,4712] overlap', 'carts [5711,5712] overlap'],
];

const DIFFERENT: readonly (readonly [string, string])[] = [
  [
    'gone away (SQL: insert into `users` (`name`) values (bob))',
    'gone away (SQL: insert into `carts` (`name`) values (bob))',
  ],
  ['gone away (SQL: insert into `users` select a)', 'gone away (SQL: insert into `users` select b)'],
  ["Duplicate entry 'a' for key 'idx_1'", "Duplicate entry 'a' for key 'idx_2'"],
  ["Duplicate entry 'a' for key 1", "Duplicate entry 'a' for key 2"],
  ['Key (email1)=(x) already exists.', 'Key (email2)=(x) already exists.'],
  ['violates foreign key constraint "fk_1"', 'violates foreign key constraint "fk_2"'],
  ["Violation of PRIMARY KEY constraint 'PK_1'.", "Violation of PRIMARY KEY constraint 'PK_2'."],
  [
    "Cannot insert duplicate key row in object 'dbo.T' with unique index 'IX_1'.",
    "Cannot insert duplicate key row in object 'dbo.T' with unique index 'IX_2'.",
  ],
  [
    'E11000 duplicate key error collection: db.u index: a_1 dup key: { a: 1 }',
    'E11000 duplicate key error collection: db.u index: a_2 dup key: { a: 1 }',
  ],
  [
    'doppelter Schlüsselwert verletzt Unique-Constraint »uq_1«',
    'doppelter Schlüsselwert verletzt Unique-Constraint »uq_2«',
  ],
  ['HTTP 404', 'HTTP 500'],
  ['exit code 1001', 'exit code 1002'],
  ['exit_code=1001', 'exit_code=1002'],
  ['statusCode: 4001', 'statusCode: 4002'],
  ['[WinError 10054] reset', '[WinError 10061] reset'],
  ['[Errno 10054] reset', '[Errno 10061] reset'],
  ['SQLSTATE[42000]: x', 'SQLSTATE[23000]: x'],
  ['ERROR 1045 (x)', 'ERROR 1049 (x)'],
  ['HTTP/1001 x', 'HTTP/1002 x'],
  ['nothing listens on port 5432', 'nothing listens on port 6379'],
  ['needs version 2024', 'needs version 2025'],
  ['no report for the year 2024', 'no report for the year 2025'],
  ['needs Windows 10.0.19045', 'needs Windows 10.0.22631'],
  ['needs 2024.1', 'needs 2025.1'],
  ['failed with 0x80070005', 'failed with 0x80004005'],
  ['failed with 0xC0000005', 'failed with 0xC0000374'],
  ['error code 1062', 'error code 1064'],
  ['connect db:5432', 'connect db:6379'],
  ['connect db.example.com:5432', 'connect db.example.com:6379'],
  ["unknown column 'name'", "unknown column 'title'"],
  ["can't parse 12 won't", "can't parse 13 won't"],
  ["it is 5 o'clock", "it is 6 o'clock"],
  ["an open 'quote of 12", "an open 'quote of 13"],
  ['needs react@18.2.0', 'needs react@17.0.1'],
  ['x\ny', 'x\nz'],
  ['ORA-00001 x', 'ORA-00942 x'],
  ['the pipeline 12 x', 'the pipeline 13 x'],
  ['Retry 3 of 5', 'Retry 4 of 5'],
  ['Retry 3/5', 'Retry 4/5'],
  ['needs HTTP/1', 'needs HTTP/2'],
  ['needs protocol 1.4', 'needs protocol 1.5'],
  ['needs node v20.1s', 'needs node v20.2s'],
  ['no 2d context', 'no 3d context'],
  ['no 4G modem', 'no 5G modem'],
  ['engine stopped with E2001', 'engine stopped with E2002'],
  ['exit code 1', 'exit code 137'],
  ['process 3 of 5 failed', 'process 4 of 5 failed'],
  ['took 5 ms', 'took 5 MB'],
  ['declined pi_3Pph39e', 'declined ch_3Pph39e'],
  ['missing user_name', 'missing user_email'],
  ['bad internationalization', 'bad internationalisation'],
  ['call of std::a1 failed', 'call of std::b2 failed'],
  ['row 12:30 of x', 'row 12:31 of x'],
];

describe('grouping: messages', () => {
  const key = (error_message: string): string => keysOf({ error_message }).dedup_key;
  for (const [a, b] of SAME)
    it(`puts into a single group: ${JSON.stringify(a)}`, () => {
      expect(maskText(a.replaceAll('\r', ''))).to.be.a('string');
      expect(keysOf({ error_message: a }).masked).to.equal(keysOf({ error_message: b }).masked);
      expect(key(a)).to.equal(key(b));
    });
  for (const [a, b] of DIFFERENT)
    it(`separates into two groups: ${JSON.stringify(a)}`, () => expect(key(a)).not.to.equal(key(b)));

  it('disables each of the optional masks', () => {
    const samples: Record<keyof MaskOptions, readonly [string, string]> = {
      emails: ['a@b.de', '<email>'],
      ip_addresses: ['10.0.0.1:80 fe80::1', '<ip> <ip>'],
      mac_addresses: ['00:1b:44:11:3a:b7', '<mac>'],
      numbers: ['123456', '<number>'],
      short_numbers: ['cart 4711', 'cart <number>'],
      measures: ['5 ms 6 MB 7%', '<duration> <size> <share>'],
      path_numbers: ['/a/1', '/a/<number>'],
      process_ids: ['pid 1', 'pid <number>'],
      long_words: ['a81f93cc02d94e11b7', '<id>'],
      prefixed_ids: ['pi_3Pph39e', 'pi_<id>'],
    };
    for (const [name, [text, masked]] of Object.entries(samples)) {
      expect(maskText(text)).to.equal(masked);
      expect(maskText(text, { [name]: false })).to.equal(text);
    }
  });

  it('disables several masks together', () => {
    const text = 'a@b.de 10.0.0.1 123456';
    expect(maskText(text)).to.equal('<email> <ip> <number>');
    expect(maskText(text, { emails: false, ip_addresses: false, numbers: false })).to.equal(text);
  });
});

describe('grouping: origin', () => {
  const ORIGINS: readonly (readonly [string, string])[] = [
    ['src/a.php:12', 'src/a.php'],
    ['C:\\app\\Orders\\OrderService.cs:line 42', 'orders/orderservice.cs'],
    ['file:///C:/app/Orders/A.cs', 'orders/a.cs'],
    ['https://cdn.example.com/static/js/main.3f2504e0.js?v=1:1:2345', 'js/main.<hash>.js'],
    ['https://host/assets/index-DkS8a9Xz.js', 'assets/index-<hash>.js'],
    ['https://host/assets/chunk-5KJ2X7QW.js', 'assets/chunk-<hash>.js'],
    ['https://host/a.js', 'a.js'],
    ['webpack:///./src/App.vue?1234:12:3', 'src/app.vue'],
    ['webpack-internal:///./src/a.js', 'src/a.js'],
    ['blob:https://host/3f2504e0-4f89-11d3-9a0c-0305e82c3301', '<guid>'],
    ['node:internal/process/task_queues', 'process/task_queues'],
    ['node:fs', 'fs'],
    ['view.php:12:3', 'view.php'],
    ['/var/20240101120000/x.rb', '<hash>/x.rb'],
    ['db/20240101120000_create_users.rb', 'db/20240101120000_create_users.rb'],
    ['src/my-Service1.js', 'src/my-service1.js'],
    ['assets/index-CkLzaFvZ.js', 'assets/index-<hash>.js'],
    ['assets/index-Ck_a-FvZ.js:1:2', 'assets/index-<hash>.js'],
    ['assets/index--k_a-FvZ.js', 'assets/index-<hash>.js'],
    ['assets/page.a1b2c3xy.js', 'assets/page.<hash>.js'],
    ['assets/page_UPPERCAS.mjs', 'assets/page_<hash>.mjs'],
    ['assets/index-CkLzaFvZ.min.js', 'assets/index-<hash>.min.js'],
    ['assets/index-CkLzaFvZ.css.map', 'assets/index-<hash>.css.map'],
    ['_nuxt/DlAUqK2U.js', '_nuxt/<hash>.js'],
    ['_nuxt/DlAU-_2U.js', '_nuxt/<hash>.js'],
    ['src/settings.js', 'src/settings.js'],
    ['src/UserCart.js', 'src/usercart.js'],
    ['src/userCart.js', 'src/usercart.js'],
    ['src/the-UserCart.js', 'src/the-usercart.js'],
    ['src/page-settings.js', 'src/page-settings.js'],
    ['src/page-a-button.js', 'src/page-a-button.js'],
    ['src/page-button-2.js', 'src/page-button-2.js'],
    ['src/cart_APIQuery.ts', 'src/cart_apiquery.ts'],
    ['src/index-CkLzaFvZx.js', 'src/index-cklzafvzx.js'],
    ['a.ts(12,5)', 'a.ts'],
    ['\\\\server\\share\\x\\a.cs', 'x/a.cs'],
    ['./a/../b.js', 'a/b.js'],
    ['  ', ''],
  ];
  for (const [file, origin] of ORIGINS)
    it(`normalizes ${JSON.stringify(file)} to ${JSON.stringify(origin)}`, () =>
      expect(normalizeOrigin(file)).to.equal(origin));
});

describe('grouping: a file and its function', () => {
  const origin = (file_path: string | null, function_name: string | null): string =>
    computeGrouping({ type: 'error', project: 'p', error_message: 'm', file_path, function_name }).origin;

  it('form a single origin', () => {
    expect(origin('/srv/shop/cart/cart.go', '(*Cart).Total')).to.equal('cart/cart.go#(*Cart).Total');
    expect(origin('assets/index-CkLzaFvZ.js', 't')).to.equal('assets/index-<hash>.js#t');
    expect(origin('cart.rs', 'shop::total::h0123456789abcdef')).to.equal('cart.rs#shop::total');
    expect(origin('cart.c', 'sub_0x7ff61234')).to.equal('cart.c#sub_<address>');
  });

  for (const name of ['', ' ', '?', '<anonymous>', 'anonymous', '<unknown>', '<redacted>', '{closure}', '0x7fff12'])
    it(`${JSON.stringify(name)} is not a function name`, () => expect(origin('a/b.js', name)).to.equal('a/b.js'));

  it('ignores a function without a file', () => expect(origin(null, 'total')).to.equal(''));
});

describe('grouping: message template', () => {
  const masked = (error_message: string, message_template: string | null): string =>
    computeGrouping({ type: 'error', project: 'p', error_message, message_template }).masked;

  it('is masked instead of the message', () => {
    expect(masked('login of bob failed', 'login of %s failed')).to.equal('login of %s failed');
    expect(masked('login of bob failed at 12:13:14', 'login of %s failed at 12:13:14')).to.equal(
      'login of %s failed at <time>',
    );
    expect(masked('login of bob failed', ' ')).to.equal('login of bob failed');
  });
});

describe('grouping: the key', () => {
  const base = { type: 'bug', project: 'p', error_message: 'm', exception_class: 'E', file_path: 'src/a.js' };

  it('has the specified format and parts', () => {
    const keys = computeGrouping(base);
    expect(keys.dedup_key).to.match(/^v2:[0-9a-f]{40}$/);
    expect(keys).to.include({ origin: 'src/a.js', masked: 'm' });
    expect(keys.bare_key).to.equal(computeGrouping({ ...base, file_path: null }).dedup_key);
    expect(computeGrouping({ ...base, file_path: '' }).bare_key).to.equal(keys.bare_key);
  });

  it('equals the published key for these parts', () => {
    expect(computeGrouping(base).dedup_key).to.equal('v2:c67aa23c80dddf013c89d7ea85a53e538e82b3db');
  });

  it('uses the title when there is no message', () => {
    const titled = computeGrouping({ ...base, error_message: ' \r\n ', title: 'order 123456' });
    expect(titled.masked).to.equal('order <number>');
  });

  it('ignores punctuation in titles of features', () => {
    const feature = (title: string) => computeGrouping({ type: 'feature', project: 'p', title }).dedup_key;
    expect(feature('Add dark mode!')).to.equal(feature(' add  Dark-Mode'));
    expect(feature('Add light mode')).not.to.equal(feature('Add dark mode'));
    expect(feature('!!!')).not.to.equal(feature('???'));
  });

  it('uses a fingerprint instead of origin and message', () => {
    const printed = (fingerprint: string[], file_path: string | null = 'a.js', error_message = 'm') =>
      computeGrouping({ ...base, file_path, error_message, fingerprint });
    expect(printed(['x']).dedup_key).to.equal(printed(['x'], 'b.js', 'n').dedup_key);
    expect(printed(['x'])).to.include({ origin: '', bare_key: printed(['x']).dedup_key });
    expect(printed(['x']).dedup_key).not.to.equal(printed(['y']).dedup_key);
    expect(printed(['x', 'y']).dedup_key).not.to.equal(printed(['xy']).dedup_key);
    expect(printed(['{{ default }}'], 'src/a.js').dedup_key).to.equal(computeGrouping(base).dedup_key);
    expect(printed(['{{default}}', 'x'], 'b.js').dedup_key).not.to.equal(printed(['{{ default }}', 'x']).dedup_key);
    expect(printed(['{{ default }}', 'x'], 'b.js').bare_key).to.equal(printed(['{{ default }}', 'x'], null).dedup_key);
    expect(printed([], 'src/a.js').dedup_key).to.equal(computeGrouping(base).dedup_key);
  });

  it('separates its parts unambiguously', () => {
    const a = computeGrouping({ ...base, exception_class: 'E\u001fx', file_path: 'y' });
    const b = computeGrouping({ ...base, exception_class: 'E', file_path: 'x\u001fy' });
    expect(a.dedup_key).not.to.equal(b.dedup_key);
  });
});
