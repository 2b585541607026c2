/** Secrets leave a report before anything is written (contract 21, intake). */
import { expect } from 'chai';
import fc from 'fast-check';
import { cleanJson } from '../../../../plugins/bugs/text/clean-report.js';
import { isSecretKey, scrubJson, scrubReport } from '../../../../plugins/bugs/text/scrub-report.js';
import { SCRUBBED_MARK, scrubText } from '../../../../plugins/bugs/text/scrub-text.js';
import { computeGrouping } from '../../../../plugins/bugs/grouping/grouping-key.js';
import { toVisibleText } from '../../../../lib/text/invisible-characters.js';
import type { Json } from '../../../../ports/store/index.js';
import { errorReport, memoryFixture, settled, shown } from '../fixture.js';
import { expectLinear } from '../../../support/cpu-time.js';

const BASE62 = 'AbCdEfGhIjKlMnOpQrStUvWxYz0123456789aBcDeFg';
const KEY = `-----BEGIN RSA PRIVATE KEY-----\nMIIEow${'x'.repeat(64)}\n-----END RSA PRIVATE KEY-----`;

/** Text, the secret within it, and what is left. */
const SECRETS: readonly (readonly [text: string, secret: string, left: string])[] = [
  ['Authorization: Bearer abc.def-123', 'abc.def', 'Authorization: [scrubbed]'],
  [
    'GET / failed, authorization: Basic dXNlcjpwYXNz, host: x',
    'dXNlcjpwYXNz',
    'GET / failed, authorization: [scrubbed], host: x',
  ],
  ['{"Authorization":"Bearer abc","a":1}', 'abc', '{"Authorization":"[scrubbed]","a":1}'],
  ['Proxy-Authorization: Digest username="u", response="r1"\nnext', 'r1', 'Proxy-Authorization: [scrubbed]\nnext'],
  ['sent bearer a1b2c3d4e5f6', 'a1b2', 'sent bearer [scrubbed]'],
  ['Cookie: sid=1234; theme=dark\nHost: x', '1234', 'Cookie: [scrubbed]\nHost: x'],
  ['password=hunter2', 'hunter2', 'password=[scrubbed]'],
  ['PASSWORD: hunter2 was refused', 'hunter2', 'PASSWORD: [scrubbed] was refused'],
  ['db_password = "a b\\"c" rejected', 'a b', 'db_password = "[scrubbed]" rejected'],
  ["['password' => 'hunter2']", 'hunter2', "['password' => '[scrubbed]']"],
  ['{\\"password\\":\\"hun ter2\\",\\"a\\":1}', 'hun ter2', '{\\"password\\":\\"[scrubbed]\\",\\"a\\":1}'],
  ['{password: hunter2, user: bob}', 'hunter2', '{password: [scrubbed], user: bob}'],
  ['Server=db;Pwd=s3cret!;Database=x', 's3cret', 'Server=db;Pwd=[scrubbed];Database=x'],
  ['https://x.io/cb?code=1&access_token=tok123&x=2', 'tok123', 'https://x.io/cb?code=1&access_token=[scrubbed]&x=2'],
  ['/a?token=tok123&api_key=k9&apiKey=k8', 'k9', '/a?token=[scrubbed]&api_key=[scrubbed]&apiKey=[scrubbed]'],
  ['X-Api-Key: k9k9', 'k9k9', 'X-Api-Key: [scrubbed]'],
  ['PHPSESSID=abc1; path=/', 'abc1', 'PHPSESSID=[scrubbed]; path=/'],
  ['client_secret=abc', 'abc', 'client_secret=[scrubbed]'],
  [
    'GET https://x.io/cb?code=4/0AX4XfWh-y_z&state=s1 failed',
    '0AX4XfWh',
    'GET https://x.io/cb?code=[scrubbed]&state=s1 failed',
  ],
  ['/cb?state=s1&code=SplxlOBeZQQYbYS6WxSbIA', 'Splxl', '/cb?state=s1&code=[scrubbed]'],
  ['code=SplxlOBeZQQYbYS6WxSbIA&state=s1', 'Splxl', 'code=[scrubbed]&state=s1'],
  ['/login?next=%2Fcb%3Fcode%3DSplxlOBe12%26a%3D1', 'Splxl', '/login?next=%2Fcb%3Fcode%3D[scrubbed]%26a%3D1'],
  ['/verify?code=493027', '493027', '/verify?code=[scrubbed]'],
  ['pw=hunter2', 'hunter2', 'pw=[scrubbed]'],
  ['db_pw: hunter2', 'hunter2', 'db_pw: [scrubbed]'],
  ['{"pw":"hunter2","user":"bob"}', 'hunter2', '{"pw":"[scrubbed]","user":"bob"}'],
  ['/login?user=bob&pw=hunter2', 'hunter2', '/login?user=bob&pw=[scrubbed]'],
  ['mysql --pw hunter2 shop', 'hunter2', 'mysql --pw [scrubbed] shop'],
  ['passwd=hunter2', 'hunter2', 'passwd=[scrubbed]'],
  [
    'POST https://hooks.slack.com/services/T0AB12CD3/B0EF45GH6/aBcDeFgHiJkLmNoP 404',
    'aBcDeFgH',
    'POST https://hooks.slack.com/services/[scrubbed] 404',
  ],
  [
    '"https://discord.com/api/webhooks/1234567890/AbC-dEf_gHi"',
    'AbC-dEf',
    '"https://discord.com/api/webhooks/[scrubbed]"',
  ],
  [
    'https://acme.webhook.office.com/webhookb2/1b2c@3d4e/IncomingWebhook/5f6a/7b8c',
    '5f6a',
    'https://acme.webhook.office.com/webhookb2/[scrubbed]',
  ],
  [
    'https://chat.googleapis.com/v1/spaces/AAAA/messages?threadKey=1',
    'AAAA',
    'https://chat.googleapis.com/v1/spaces/[scrubbed]',
  ],
  ['https://api.telegram.org/bot110201543:AAHdqTcvCH1vGW/sendMessage', 'AAHdq', 'https://api.telegram.org/[scrubbed]'],
  ['https://chat.acme.example/hooks/xq3k9fj2m7t1b8w5z6c4d0e2', 'xq3k9', 'https://chat.acme.example/hooks/[scrubbed]'],
  ['Key (api_key)=(k9k9) already exists.', 'k9k9', 'Key (api_key)=([scrubbed]) already exists.'],
  ['{"password":["hunter2"],"a":1}', 'hunter2', '{"password":[scrubbed],"a":1}'],
  ["{'password': ['hunter2', 'b']}", 'hunter2', "{'password': [scrubbed]}"],
  ['{\\"api_key\\":[\\"hunter2\\"]}', 'hunter2', '{\\"api_key\\":[scrubbed]}'],
  ['{"secret":{"current":"hunter2"}}', 'hunter2', '{"secret":[scrubbed]}'],
  ["('password', b'x') password=b'hunter2'", 'hunter2', "('password', b'x') password=b'[scrubbed]'"],
  ['user[password]=hunter2&a=1', 'hunter2', 'user[password]=[scrubbed]&a=1'],
  ['user%5Bpassword%5D=hunter2&a=1', 'hunter2', 'user%5Bpassword%5D=[scrubbed]&a=1'],
  ['password[]=hunter2', 'hunter2', 'password[]=[scrubbed]'],
  ['DB_PASSWORD     =      hunter2', 'hunter2', 'DB_PASSWORD     =      [scrubbed]'],
  ['{"Cookie":"theme=dark","a":1}', 'dark', '{"Cookie":"[scrubbed]","a":1}'],
  ['{"cvv": 123}', '123', '{"cvv": [scrubbed]}'],
  ['AccountName=a;AccountKey=k9k9==;x', 'k9k9', 'AccountName=a;AccountKey=[scrubbed];x'],
  ['<add key="DbPassword" value="hunter2"/>', 'hunter2', '<add key="DbPassword" value="[scrubbed]"/>'],
  ['{"name":"spring.db.password","value":"hunter2"}', 'hunter2', '{"name":"spring.db.password","value":"[scrubbed]"}'],
  ['"authorization":["hunter2"]', 'hunter2', '"authorization":[scrubbed]'],
  ['postgres://app:s3cr@t@db:5432/x failed', 's3cr', 'postgres://app:[scrubbed]@db:5432/x failed'],
  [`https://${'t'.repeat(30)}@git.example/x.git`, 'ttt', 'https://[scrubbed]@git.example/x.git'],
  [`key ${KEY} was bad`, 'MIIEow', 'key [scrubbed] was bad'],
  [`cut ${KEY.slice(0, 60)}`, 'MIIEow', 'cut [scrubbed]'],
  ['-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----', 'MIIE', '[scrubbed]'],
  ['card 4111 1111 1111 1111 refused', '4111', 'card 0000000000000000 refused'],
  ['card 4111-1111-1111-1111.', '4111', 'card 0000000000000000.'],
  ['amex 378282246310005', '378282246310005', 'amex 0000000000000000'],
  ['card 1234 4111 1111 1111 1111 12/27 123', '4111', 'card 1234 0000000000000000 12/27 123'],
  [
    '17 5500000000000004 and 4111111111111111,6011000990139424',
    '5500',
    '17 0000000000000000 and 0000000000000000,0000000000000000',
  ],
  ...['svc_live_', 'svc_sub_', 'wd_live_', 'svc_setup_', 'svc_in_'].map(
    (prefix) => [`with ${prefix}${BASE62}.`, BASE62, 'with [scrubbed].'] as const,
  ),
  [`cut svc_live_${BASE62.slice(0, 20)}`, BASE62.slice(0, 20), 'cut [scrubbed]'],
  ['jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln end', 'eyJzdWI', 'jwt [scrubbed] end'],
  // Put together here, so that no scanner of sources takes them for real ones.
  ...(
    [
      ['AKIA', 'IOSFODNN7EXAMPLE'],
      ['ghp_', BASE62.slice(0, 36)],
      ['github_pat_', `11ABCDEFG0_${BASE62}`],
      ['glpat-', 'abcDEF1234567890-_xy'],
      ['xoxb-', '123456789012-abcdefABCDEF'],
      ['sk_live_', BASE62.slice(0, 24)],
      ['AIza', `Sy${BASE62.slice(0, 33)}`],
      ['npm_', BASE62.slice(0, 36)],
      ['sk-proj-', BASE62],
      ['hf_', BASE62.slice(0, 34)],
      ['SG.', `${BASE62.slice(0, 22)}.${BASE62}`],
      ['shpat_', 'a1b2c3d4'.repeat(4)],
      ['hvs.', BASE62.slice(0, 30)],
    ] as const
  ).flatMap(([prefix, rest]) => [
    [`called with ${prefix}${rest}, refused`, rest, 'called with [scrubbed], refused'] as const,
    [`${prefix}${rest}`, rest, '[scrubbed]'] as const,
  ]),
];

const HARMLESS = [
  'task-1 of sk-SK locale, risk-free; npm_config_cache, SG.Core, hf_hub, ghp_',
  'AKIALIKEWORD and AIzawa, xoxo-kisses, glpat- is a prefix',
  'sk-learn-contrib-estimator-of-many-words-without-figures',
  "Duplicate entry 'bob@x.io' for key 'users.email'",
  "Access denied for user 'root'@'localhost' (using password: YES)",
  'Unexpected token: punc (})',
  'Unexpected token = in JSON at position 4',
  'SyntaxError: Unexpected token < in JSON',
  'Basic authentication failed',
  'Bearer authentication required',
  'password must not be empty',
  'card 4111 1111 1111 1112 refused',
  'order 1234567890123456, nano 1700000000000000000',
  '41111111111111111 and 4111111111111111x and 0.4111111111111111',
  'id 11111111-4111-1111-1111-111111111111',
  'id 3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  'at fn@https://x.io/app.js:10:5',
  'clone ssh://git@host/x.git',
  'https://x.io/login?next=/a@b',
  'NullReferenceException: Object reference not set',
  'CredentialsProviderError: Could not load credentials from any providers',
  'botocore.exceptions.NoCredentialsError: Unable to locate credentials',
  'o.s.security.authentication.BadCredentialsException: Bad credentials',
  'PasswordMismatchError: The password differs',
  'Authenticator.java:12 in auth.Session',
  'bypass=true, compass: north',
  '{"key":"colour","value":"red"}',
  'cookie jar: empty, cookies are off',
  'secretary: Ann, undersecretary = Bob',
  '{"secretary":"Ann","secretariat":"Bonn"}',
  'The secretion: none; secretly = yes',
  'passwordless: on',
  'GET /orders?code=404&a=1',
  'GET /orders?code=ENOENT',
  '/shops?code=de&a=1',
  'exit code=0x80070005',
  'error code=ab12cd34 of the printer',
  'https://shop.example/hooks/orders/created',
  'react/hooks/useCart.ts:12',
];

describe('bugs: scrubbing text', () => {
  for (const [text, secret, left] of SECRETS) {
    it(`scrubs ${JSON.stringify(text.slice(0, 60))}`, () => {
      expect(scrubText(text)).to.equal(left);
      expect(scrubText(text)).not.to.include(secret);
    });
  }
  for (const text of HARMLESS) {
    it(`does not change ${JSON.stringify(text)}`, () => expect(scrubText(text)).to.equal(text));
  }

  it('is idempotent for any text', () => {
    const part = fc.oneof(
      fc.constantFrom(
        ...SECRETS.map(([text]) => text),
        ...HARMLESS,
        SCRUBBED_MARK,
        '=',
        ':',
        '"',
        "'",
        '\\',
        '\n',
        '@',
        '://',
        ' ',
      ),
      fc.string({ maxLength: 12 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const once = scrubText(parts.join(''));
        expect(scrubText(once)).to.equal(once);
      }),
      { numRuns: 2000 },
    );
  });

  it('finds every secret between any two words', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SECRETS), fc.lorem({ maxCount: 3 }), ([text, secret], words) => {
        fc.pre(!words.includes(secret));
        expect(scrubText(`${words}\n${text}\n${words}`)).not.to.include(secret);
      }),
    );
  });

  it('finds a secret split by invisible characters, in name and value', () => {
    const hidden = fc.constantFrom(
      '\u200b',
      '\u200d',
      '\u00ad',
      '\u202e',
      '\ufeff',
      '\u034f',
      '\ufe0f',
      '\u{e0041}',
      '\u0001',
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...SECRETS),
        hidden,
        fc.integer({ min: 1, max: 5 }),
        ([text, secret, left], mark, every) => {
          const divided = Array.from(text, (character, i) => (i % every === 0 ? character + mark : character)).join('');
          expect(toVisibleText(scrubText(divided))).to.equal(left);
          expect(scrubText(`${'x '.repeat(400)}\n${divided}`)).to.not.include(secret);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('finds a secret in full-width letters', () => {
    expect(scrubText('ＡＫＩＡＩＯＳＦＯＤＮＮ７ＥＸＡＭＰＬＥ')).to.equal('[scrubbed]');
    expect(scrubText('password：hunter2')).to.equal('password:[scrubbed]');
    expect(isSecretKey('ｐａｓｓｗｏｒｄ')).to.equal(true);
    expect(scrubJson({ 'pass\u200bword': 'x', a: `svc_live_\u200b${BASE62}` })).to.deep.equal({
      'pass\u200bword': SCRUBBED_MARK,
      a: SCRUBBED_MARK,
    });
    const ref = `r-svc_live_\u200b${BASE62}`;
    expect(scrubReport(errorReport({ client_ref: ref })).client_ref).to.match(/^sha256:/);
  });

  it('leaves such characters unchanged when they hide no secret', () => {
    for (const text of [
      'Fehler\u00admeldung: 👩\u200d💻 nicht da',
      'שלום\u200f: 12',
      '値：１２３ は不正です',
      'done \u001b[32mok\u001b[0m',
    ])
      expect(scrubText(text)).to.equal(text);
  });

  it('runs in linear time on hostile text', function () {
    const bits = [
      'eyJ',
      'password',
      'password=',
      '://',
      '://a:b',
      'svc_live_',
      '4 ',
      '411 ',
      '4111-',
      '41',
      '-----BEGIN PRIVATE KEY',
      '"\\',
      'authorization: ',
      'token\\',
      'bearer ',
      'a',
      'pass',
      'password=[',
      'password[0',
      'key="password" ',
      `key="${'a'.repeat(64)}`,
      'cookie: ',
      '-----BEGIN PRIVATE KEY-----',
      'auth\\"',
      '\u200b',
      'p\u00ada\u200bs',
      '\u001b[',
      '\u001b[1;',
      '：password',
    ];
    // Linear work on these takes up to 0.3 s, quadratic work on the second size minutes to hours: a
    // limit between them, a hundred times from either, says which it is and not how busy the
    // machine is. The smaller size comes first, so that what is quadratic ends there. No text comes
    // twice: one that is known is not scrubbed again.
    for (const [size, limitMs] of [
      [64 * 1024, 2_000],
      [1024 * 1024, 20_000],
    ] as const) {
      for (const bit of bits) {
        const text = `${size} ${bit.repeat(size / bit.length)}`;
        const scrub = (): void => {
          scrubText(text);
          scrubText(`PRIVATE KEY svc_ wd_live_ eyJ :// @ = auth cookie password bearer ${text}`);
        };
        expectLinear(scrub, `${size} of ${bit}`, limitMs);
      }
    }
  });
});

describe('bugs: scrubbing objects', () => {
  it('recognizes keys similar to password', () => {
    for (const key of [
      'password',
      'userPassword',
      'X-Api-Key',
      'Authorization',
      'client_secret',
      'refreshToken',
      'Set-Cookie',
      'cvv',
      'card_number',
      'auth',
      'pw',
      'PW',
      'db_pw',
      'userPw',
      'passwd',
      'secret_arn',
      'app.secrets',
    ]) {
      expect(isSecretKey(key), key).to.equal(true);
    }
    for (const key of [
      'author',
      'user',
      'max_tokens',
      'path',
      'key',
      'session',
      'compass',
      'tokenizer',
      'line',
      'secretary',
      'secretariat',
      'Secretaries',
      'session_idle',
      'spawn',
      'powder',
      'upward',
    ]) {
      expect(isSecretKey(key), key).to.equal(false);
    }
  });

  it('scrubs values under such keys, header pairs, texts, numbers and keys', () => {
    const given = {
      user: 'bob',
      password: 'hunter2',
      has: { password: true, secret: null, token: '' },
      credentials: { a: 1 },
      headers: [
        ['Authorization', 'Bearer x'],
        ['Accept', '*/*'],
      ],
      fields: [{ name: 'Cookie', value: 'a=b' }],
      url: 'https://x.io/?token=abc',
      card: 1,
      paid: 4111111111111111,
      count: 4,
      micros: 1_700_000_000_000_003,
      [`svc_live_${BASE62}`]: 1,
    };
    const copy = structuredClone(given);
    expect(scrubJson(given)).to.deep.equal({
      user: 'bob',
      password: SCRUBBED_MARK,
      has: { password: true, secret: null, token: '' },
      credentials: SCRUBBED_MARK,
      headers: [
        ['Authorization', SCRUBBED_MARK],
        ['Accept', '*/*'],
      ],
      fields: [{ name: 'Cookie', value: SCRUBBED_MARK }],
      url: 'https://x.io/?token=[scrubbed]',
      card: SCRUBBED_MARK,
      paid: SCRUBBED_MARK,
      count: 4,
      micros: 1_700_000_000_000_003,
      [SCRUBBED_MARK]: 1,
    });
    expect(given).to.deep.equal(copy);
    expect(scrubJson(['secret=hunter2', 'x'])).to.deep.equal(['secret=[scrubbed]', SCRUBBED_MARK]);
  });

  it('returns the same object when there is nothing to scrub, and is idempotent', () => {
    const clean = { a: [1, 'x', { b: null }], headers: [['Authorization', SCRUBBED_MARK]], password: SCRUBBED_MARK };
    expect(scrubJson(clean)).to.equal(clean);
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const once = scrubJson(value);
        expect(scrubJson(once)).to.equal(once);
      }),
    );
  });

  it('repairs malformed texts and keys', () => {
    const texts = fc.string({ unit: fc.constantFrom('\0', '\ud800', '\udc00', 'password=', 'a', ' '), maxLength: 8 });
    const values = fc.object({ key: texts, values: [texts, fc.integer()], maxDepth: 3 });
    // Of keys that become one, the last of those that are left wins, and to clean first leaves
    // others.
    const nameOf = (key: string): string => Object.keys(scrubJson({ [key]: 0 }) as object).join();
    const isDistinct = (value: unknown): boolean => {
      if (typeof value !== 'object' || value === null) return true;
      const keys = Object.keys(value);
      return new Set(keys.map(nameOf)).size === keys.length && Object.values(value).every(isDistinct);
    };
    fc.assert(
      fc.property(values, (value) => {
        fc.pre(isDistinct(value));
        expect(scrubJson(value as Json)).to.deep.equal(scrubJson(cleanJson(value as Json)));
      }),
      { numRuns: 1000 },
    );
    expect(scrubJson(['\0password', ''])).to.deep.equal(['\ufffdpassword', SCRUBBED_MARK]);
    expect(scrubJson({ 'k\0': ['\ud800x'] })).to.deep.equal({ 'k\ufffd': ['\ufffdx'] });
  });

  it('drops values beyond the depth and size limits', () => {
    let deep: Json = 'password=x';
    for (let i = 0; i < 40; i++) deep = { a: deep };
    const shallow = JSON.stringify(scrubJson(deep));
    expect(shallow).to.include(SCRUBBED_MARK);
    expect(shallow).not.to.include('password');
    const wide = Array.from({ length: 30_000 }, () => 'password=x');
    expect(JSON.stringify(scrubJson(wide))).not.to.include('=x');
    const members = Object.fromEntries(wide.map((text, i) => [`m${i}`, text]));
    expect(JSON.stringify(scrubJson(members))).not.to.include('=x');
  });
});

describe('bugs: scrubbing reports', () => {
  it('returns the same report when there is nothing to scrub', () => {
    const report = errorReport({ tags: ['x'], client_ref: '4111111111111111' });
    expect(scrubReport(report)).to.equal(report);
  });

  it('scrubs each tag separately, without treating two tags as a header', () => {
    const tags = ['password-reset', 'checkout'];
    expect(scrubReport(errorReport({ tags })).tags).to.equal(tags);
    expect(scrubReport(errorReport({ tags: ['secret=hunter2', 'checkout'] })).tags).to.deep.equal([
      'secret=[scrubbed]',
      'checkout',
    ]);
  });

  it('scrubs every text and hashes references so that they remain distinct', () => {
    const secret = `svc_live_${BASE62}`;
    const ref = (n: number): string | null | undefined =>
      scrubReport(errorReport({ client_ref: `${secret}-${n}` })).client_ref;
    expect(ref(1))
      .to.match(/^sha256:[0-9a-f]{64}$/)
      .and.equal(ref(1))
      .and.not.equal(ref(2));
    const texts = [
      'title',
      'description',
      'error_message',
      'stack_trace',
      'exception_class',
      'file_path',
      'host',
    ] as const;
    const found = scrubReport(
      errorReport({ ...Object.fromEntries(texts.map((name) => [name, `x ${secret}`])), tags: [secret] }),
    );
    for (const name of texts) expect(found[name], name).to.equal('x [scrubbed]');
    expect(found.tags).to.deep.equal([SCRUBBED_MARK]);
  });

  it('groups independently of the secret', () => {
    const key = (message: string): string =>
      computeGrouping(scrubReport(errorReport({ error_message: message }))).dedup_key;
    expect(key('login failed: password=abc')).to.equal(key('login failed: password=hunter2!'));
    expect(key('login failed: password=abc')).to.equal(key('login failed: password=[scrubbed]'));
    expect(key('payment 4111111111111111 failed')).to.equal(key('payment 4111111111111112 failed'));
  });

  it('stores no secret in any document', async () => {
    const fixture = await memoryFixture();
    const secret = `wd_live_${BASE62}`;
    const message = `sent ${secret}`;
    const { id } = await fixture.bugs.record(
      errorReport({
        title: message,
        error_message: message,
        stack_trace: message,
        client_ref: secret,
      }),
      {
        details: () => ({
          context: { token: 'sesame', deep: [message] },
          breadcrumbs: [{ [message]: 1 }, 'password=sesame'],
        }),
      },
    );
    expect((await shown(fixture, id)).error_message).to.equal('sent [scrubbed]');
    for (const name of ['items', 'texts', 'occurrences', 'activity', 'refs'] as const) {
      const { items } = await fixture.deps[name].find({ limit: 100 });
      expect(JSON.stringify(items), name).not.to.include(BASE62).and.not.to.include('sesame');
    }
    await settled(fixture);
  });
});
