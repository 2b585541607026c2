/** What holds for every message (contract 21, masked), and the bound on time. */
import { expect } from 'chai';
import fc from 'fast-check';
import { parseFrames } from '../../../../plugins/bugs/grouping/stack-trace.js';
import { computeGrouping } from '../../../../plugins/bugs/grouping/grouping-key.js';
import { maskText } from '../../../../plugins/bugs/grouping/message-mask.js';
import { expectLinear } from '../../../support/cpu-time.js';

const hex = (length: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'.split('')), minLength: length, maxLength: length });
const guid = fc.uuid();
const digits = fc.integer({ min: 100_000, max: 2 ** 31 }).map(String);
const word = fc.string({ unit: fc.constantFrom(...'abcdefgh'.split('')), minLength: 1, maxLength: 8 });
const value = fc.tuple(word, fc.nat(9999)).map(([name, n]) => `${name}-${n}`);
const date = fc.date({ min: new Date('2000-01-01'), max: new Date('2038-01-01'), noInvalidDate: true });

/** Per kind: values that must not matter, each with its surroundings. */
const KINDS: Record<string, { of: fc.Arbitrary<string>; in: (value: string) => string }> = {
  GUID: { of: guid, in: (v) => `order ${v} is gone` },
  'GUID in braces': { of: guid, in: (v) => `order {${v}} is gone` },
  'object id': { of: hex(24), in: (v) => `no document ${v}.` },
  'ISO time': { of: date.map((d) => d.toISOString()), in: (v) => `late: ${v}, sorry` },
  'RFC 2822 time': { of: date.map((d) => d.toUTCString()), in: (v) => `late: ${v}!` },
  address: { of: hex(12), in: (v) => `read at 0x${v} failed` },
  'identity hash': { of: hex(8), in: (v) => `a.b.C@${v} is closed` },
  'line number': { of: fc.nat(99_999).map(String), in: (v) => `error on line ${v} in view.php:${v}` },
  'quoted value': { of: value, in: (v) => `user '${v}' can't "${v}" and \`${v}\`` },
  'e-mail': { of: fc.emailAddress({ size: 'small' }).filter((e) => /^[\w.+-]+@/.test(e)), in: (v) => `to ${v} failed` },
  IPv4: { of: fc.ipV4(), in: (v) => `connect ${v}:80 failed` },
  IPv6: { of: fc.ipV6().filter((ip) => /\d/.test(ip)), in: (v) => `connect [${v}]:80 failed` },
  MAC: { of: fc.array(hex(2), { minLength: 6, maxLength: 6 }).map((p) => p.join(':')), in: (v) => `no ${v} here` },
  duration: {
    of: fc
      .tuple(fc.nat(99_999), fc.constantFrom('ms', ' ms', 's', ' seconds', ' min', 'h', ' days'))
      .map((p) => p.join('')),
    in: (v) => `timed out after ${v}.`,
  },
  size: {
    of: fc.tuple(fc.nat(99_999), fc.constantFrom(' kB', 'MB', ' MiB', ' bytes', 'GB')).map((p) => p.join('')),
    in: (v) => `upload of ${v} refused`,
  },
  share: { of: fc.tuple(fc.nat(100), fc.constantFrom('%', ' %')).map((p) => p.join('')), in: (v) => `disk ${v} full` },
  'number in a path': { of: fc.nat().map(String), in: (v) => `GET /users/${v}/photo: no` },
  'process id': { of: fc.nat().map(String), in: (v) => `[${v}] pid ${v} in thread-${v} died` },
  'long word': {
    of: fc.tuple(hex(12), fc.integer({ min: 1000, max: 9999 }), hex(7)).map(([a, n, b]) => `z${a}${n}${b}`),
    in: (v) => `session ${v} expired`,
  },
  'prefixed id': { of: fc.tuple(hex(6), fc.nat(9)).map((p) => p.join('')), in: (v) => `declined pi_${v} today` },
  'number of four or five digits': {
    of: fc.integer({ min: 1000, max: 99_999 }).map(String),
    in: (v) => `cart ${v} (item #${v}) of table-${v}.`,
  },
  number: { of: digits, in: (v) => `order ${v} missing` },
  'MySQL value': { of: fc.oneof(value, word), in: (v) => `Duplicate entry '${v}' for key 'idx_1'` },
  'PostgreSQL value': { of: fc.oneof(value, word), in: (v) => `x\nDETAIL: Key (a1)=(${v}) already exists.` },
  'SQL Server value': { of: fc.oneof(value, word), in: (v) => `The duplicate key value is (${v}).` },
  'MongoDB value': {
    of: fc.oneof(value, word).map((v) => JSON.stringify(v)),
    in: (v) => `E11000 duplicate key error collection: a.b index: c_1 dup key: { c: ${v} }`,
  },
};

const keyOf = (error_message: string): string =>
  computeGrouping({ type: 'bug', project: 'p', error_message }).dedup_key;

describe('grouping: masking', () => {
  for (const [name, kind] of Object.entries(KINDS))
    it(`never changes the key for another ${name}`, () =>
      fc.assert(
        fc.property(kind.of, kind.of, (a, b) => {
          expect(keyOf(kind.in(a))).to.equal(keyOf(kind.in(b)));
        }),
      ));

  it('always changes the key for another constraint name', () => {
    const name = fc.tuple(word, fc.oneof(fc.nat().map(String), guid, hex(24))).map((parts) => parts.join('_'));
    const forms = [
      (n: string) => `Duplicate entry 'x' for key '${n}'`,
      (n: string) => `duplicate key value violates unique constraint "${n}"`,
      (n: string) => `Violation of UNIQUE KEY constraint '${n}'. The duplicate key value is (1).`,
      (n: string) => `E11000 duplicate key error collection: a.b index: ${n} dup key: { a: 1 }`,
    ];
    fc.assert(
      fc.property(name, name, fc.constantFrom(...forms), (a, b, form) => {
        fc.pre(a !== b);
        expect(keyOf(form(a))).not.to.equal(keyOf(form(b)));
      }),
    );
  });

  const piece = fc.oneof(
    ...Object.values(KINDS).map((kind) => kind.of.map(kind.in)),
    fc.string({ maxLength: 20 }),
    fc.constantFrom(
      "'",
      '"',
      '`',
      ' ',
      '\n',
      '1',
      '@',
      ':12',
      "for key '",
      'constraint "',
      'error code ',
      '4711',
      'v4.',
      '”',
      '\\',
      '<value>',
      '{',
      ')',
    ),
  );
  const message = fc.array(piece, { maxLength: 8 });

  it('is idempotent', () =>
    fc.assert(
      fc.property(message, fc.constantFrom('', ' '), (pieces, glue) => {
        const once = maskText(pieces.join(glue));
        expect(maskText(once)).to.equal(once);
      }),
      { numRuns: 1000 },
    ));

  it('treats CRLF and LF equally', () =>
    fc.assert(
      fc.property(message, (pieces) => {
        const text = pieces.join('\n').replaceAll('\r', '');
        expect(keyOf(text.replaceAll('\n', '\r\n'))).to.equal(keyOf(text));
      }),
    ));

  it('accepts any report', () =>
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.string(),
        fc.array(fc.string()),
        (message_, stack_trace, fingerprint) => {
          const report = {
            type: 'bug',
            project: 'p',
            error_message: message_,
            stack_trace,
            file_path: message_,
            fingerprint,
          };
          expect(computeGrouping(report).dedup_key).to.match(/^v2:[0-9a-f]{40}$/);
          expect(parseFrames(stack_trace).filter((frame) => frame.crash).length).to.be.at.most(1);
        },
      ),
    ));
});

const HOSTILE = [
  "'",
  '"',
  '`',
  'a',
  '0',
  '.',
  ':',
  '(',
  ')',
  '{',
  '[',
  '@',
  '<',
  '-',
  '_',
  '/',
  '\\',
  ' ',
  '\n',
  '\r\n',
  'at ',
  'at a(',
  'a@b.',
  '1.',
  '1:',
  "'1",
  "' 1'",
  "' for key '",
  "Duplicate entry '",
  'Key (a)=(',
  'dup key: {',
  'E11000 duplicate key ',
  "constraint '",
  'File "',
  'File "a", line 1\n',
  ' at x line 1',
  ': at x line 1.\n',
  'a.go:1\n',
  'panic(\n',
  ':in ',
  ' in ',
  '#0 ',
  '#0 a(1)\n',
  'at a (b:1:2)\n',
  'bei a.b(',
  'x a.b()\n',
  'eval at (',
  '0x',
  '2026-01-02T',
  'aaaaaaaa-',
  '“',
  'f@',
  'a://',
  'a\n',
  "\\'1",
  'Jan 1 ',
  '1 ms ',
  '1ms',
  '1.1',
  "1'",
  '1h2m',
  '<duration> ',
  '1 ',
  '1%',
  '/1',
  '\\1',
  'a/1 ',
  'pid ',
  'pid 1',
  '[1]\n',
  'thread-',
  'a_1',
  'abcdefghij_abcde1',
  'a1b2',
  'fe80::',
  '::',
  'a:',
  '[a:',
  '00:',
  '00-',
  'abcd.',
  '1e1',
  '1234 ',
  'code 1234 ',
  'error',
  'errorstatuscode',
  'code: [',
  '12345:',
  'a-',
  'a-abcdefgh.js',
  'Aa',
  '_-',
  '$',
  '$$Lambda$1',
  '.a$1',
  '$1',
  'lambda$a',
  '<<a>b__1',
  '<a',
  '@anonymous',
  '@anonymous/',
  '{closure:',
  '{closure:{closure:a:1}',
  '__1',
  'a__1_',
  '#<Class:0x1234',
  '$.a[1]',
  '<value>, "',
  'JSON Parse error: ',
  'unexpected token ',
  'unexpected character (',
  'invalid character ',
  '[Source: ',
  'parsing "',
  'Failing row contains (',
  'out of bounds 1 ',
  'index 1, ',
  '(which is 1',
  'left: 1\n',
  'Caused by: a\n',
  'Caused by: java.lang.reflect.InvocationTargetException\n',
  '[cause]: a\n',
  ' ---> a: ',
  'System.AggregateException: x ---> a: ',
  '+---------------- 1 ----------------\n',
  '| a: b\n',
  'at a.b (c) [0x1] in <a>:1\n',
  'at a.b (',
  ' [a]',
  'at a.b(c.java:1) ~[',
  'a-1234567-',
  'a-12345678-',
  'https://a/',
  'https://a/1?b=1&',
  '/tmp/',
  '/tmp/tmp',
  '/releases/1',
  'a-1.2',
  '1.2-',
  '/home/a/',
  'Jan 1, 2026 ',
  'Mon ',
  '1 Jan 2026 ',
  '20261128_',
  '2026-11-28T10:11:12 ',
  'datetime.date(1',
  'Container',
  '+ 0x1',
  'closure #1',
  '.func1',
];
const SIZE = 200_000;

describe('grouping: hostile input', () => {
  for (const atom of HOSTILE)
    it(`processes ${JSON.stringify(atom)} repeated to ${SIZE} characters in linear time`, () => {
      for (const text of [atom, `${atom}\n`, `Duplicate entry '${atom}`].map((unit) =>
        unit.repeat(SIZE / unit.length),
      )) {
        const all = { title: text, error_message: text, stack_trace: text, exception_class: text };
        expectLinear(() => computeGrouping({ type: 'bug', project: 'p', ...all }));
        expectLinear(() => computeGrouping({ type: 'feature', project: 'p', title: text, file_path: text }));
        expectLinear(() => parseFrames(text));
        const fingerprint = [text, '{{ default }}', ...Array.from({ length: 99 }, () => atom)];
        expectLinear(() => computeGrouping({ type: text, project: text, ...all, file_path: text, fingerprint }));
      }
    });
});
