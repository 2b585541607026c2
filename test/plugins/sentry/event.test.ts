/**
 * Sentry events as reports (contract 21, Sentry SDK intake): every SDK writes and leaves out
 * something else.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  parseEventId,
  toErrorLevel,
  convertEvent,
  parseReleaseVersion,
} from '../../../plugins/sentry/event-converter.js';
import { parseInstant } from '../../../plugins/sentry/event-time.js';
import type { ErrorDetails, ErrorReport } from '../../../ports/domain/errors.js';

const ID = 'a'.repeat(32);
const about = { project: 'shop', id: ID };
const of = (event: object): ErrorReport => convertEvent(event as Record<string, unknown>, about).report;
const detailsOf = (event: object): ErrorDetails => convertEvent(event as Record<string, unknown>, about).details();
const thrown = (exception: unknown, more: object = {}): ErrorReport => of({ exception, ...more });

/** Those that are read. */
const FIELDS =
  'exception message logentry threads stacktrace tags breadcrumbs extra contexts user level release timestamp fingerprint platform environment server_name sdk'.split(
    ' ',
  );

describe('sentry event: exception and message', () => {
  const top = { type: 'CartError', value: 'no price' };
  const cause = { type: 'KeyError', value: 'price' };

  it('uses the last, outermost exception', () => {
    expect(thrown({ values: [cause, top] })).to.include({ exception_class: 'CartError', error_message: 'no price' });
  });
  it('accepts a plain list, a single object, and nulls', () => {
    for (const exception of [[cause, top], top, { values: [cause, top, null] }]) {
      expect(thrown(exception)).to.include({ exception_class: 'CartError', error_message: 'no price' });
    }
  });
  it('accepts an exception without a value, a type, or both', () => {
    expect(thrown([{ type: 'CartError' }])).to.include({ exception_class: 'CartError', error_message: '' });
    expect(thrown([{ value: 'no price' }])).to.include({ exception_class: null, error_message: 'no price' });
    expect(thrown([{}])).to.include({ exception_class: null, error_message: '<unlabeled event>' });
  });
  it('accepts a value that is not a string', () => {
    expect(thrown([{ type: 'A', value: 404 }]).error_message).to.equal('404');
    expect(thrown([{ type: 'A', value: { code: 7 } }]).error_message).to.equal('{"code":7}');
  });
  it('prefers the exception over a log message, and stores both', () => {
    const event = { exception: [top], logentry: { message: 'checkout failed' } };
    expect(of(event).error_message).to.equal('no price');
    expect(detailsOf(event).context).to.include({ message: 'checkout failed' });
  });

  const messages: [string, object, string][] = [
    ['text', { message: 'stock is low' }, 'stock is low'],
    ['formatted', { message: { message: 'stock of %s', params: ['tea'], formatted: 'stock of tea' } }, 'stock of tea'],
    ['a template alone', { message: { message: 'stock of %s' } }, 'stock of %s'],
    ['a log entry', { logentry: { message: 'stock of %s', formatted: 'stock of tea' } }, 'stock of tea'],
    ['a log entry next to an empty message', { message: '', logentry: { message: 'low' } }, 'low'],
    ['nothing at all', {}, '<unlabeled event>'],
    ['an empty list of exceptions', { exception: { values: [] }, message: 'low' }, 'low'],
  ];
  for (const [name, event, expected] of messages) {
    it(`uses the message without an exception: ${name}`, () => {
      expect(of(event)).to.include({ exception_class: null, error_message: expected, stack_trace: null, file: null });
    });
  }
});

describe('sentry event: level, release, id, time', () => {
  const levels: [unknown, string][] = [
    ['fatal', 'fatal'],
    ['critical', 'fatal'],
    ['error', 'error'],
    ['Error', 'error'],
    ['warning', 'warning'],
    ['info', 'warning'],
    ['debug', 'warning'],
    ['log', 'warning'],
    [undefined, 'error'],
    [null, 'error'],
    [40, 'error'],
    ['made up', 'error'],
    ['constructor', 'error'],
  ];
  for (const [level, expected] of levels) {
    it(`maps level ${String(level)} to ${expected}`, () => expect(toErrorLevel(level)).to.equal(expected));
  }

  const releases: [unknown, string | null][] = [
    ['1.4.2', '1.4.2'],
    ['shop@1.4.2', '1.4.2'],
    ['@acme/shop@1.4.2', '1.4.2'],
    ['shop@1.4.2+7', '1.4.2'],
    ['shop@1.4.2-rc.1+7.x', '1.4.2-rc.1'],
    ['shop@', null],
    ['', null],
    [null, null],
    [14, '14'],
    [{ a: 1 }, null],
  ];
  for (const [release, expected] of releases) {
    it(`maps release ${JSON.stringify(release)} to version ${expected}`, () =>
      expect(parseReleaseVersion(release)).to.equal(expected));
  }
  it('uses a release that is a commit hash as commit too', () => {
    expect(of({ release: 'c'.repeat(40) })).to.include({ app_version: 'c'.repeat(40), commit_sha: 'c'.repeat(40) });
    expect(of({ release: 'shop@1.4.2' }).commit_sha).to.equal(null);
  });

  it('normalizes dashes and case of an event id, and ignores an empty id', () => {
    expect(parseEventId('FC6D8C0C-43FC-4630-AD85-0EE518F1B9D0')).to.equal('fc6d8c0c43fc4630ad850ee518f1b9d0');
    for (const id of [null, undefined, '', '--', 'x'.repeat(300), {}, []]) expect(parseEventId(id)).to.equal(null);
  });

  const at = '2026-11-20T08:15:30.123Z';
  const seconds = Date.parse(at) / 1000;
  const times: [unknown, string | null][] = [
    [seconds, at],
    [String(seconds), at],
    [seconds * 1e3, at],
    [seconds * 1e6, at],
    [seconds * 1e9, at],
    [Math.floor(seconds), '2026-11-20T08:15:30.000Z'],
    ['2026-11-20T08:15:30.123456789Z', at],
    ['2026-11-20T08:15:30.123456Z', at],
    ['2026-11-20T08:15:30.123456', at],
    ['2026-11-20T08:15:30', '2026-11-20T08:15:30.000Z'],
    ['2026-11-20 08:15:30.123Z', at],
    ['2026-11-20T09:15:30.123456789+01:00', at],
    ['2026-11-20T09:15:30.123+0100', at],
    ['2026-13-45T99:99:99Z', null],
    ['yesterday', null],
    ['', null],
    [0, null],
    [-5, null],
    [Number.MAX_VALUE, null],
    [Number.NaN, null],
    [null, null],
    [true, null],
    [{}, null],
  ];
  for (const [value, expected] of times) {
    it(`parses time ${JSON.stringify(value)} as ${expected}`, () => expect(parseInstant(value)).to.equal(expected));
  }
});

describe('sentry event: other fields', () => {
  it('parses tags as a map, as pairs, as objects and as plain text', () => {
    expect(of({ tags: { shop: 'eu', tries: 3, paid: false, gone: null } }).tags).to.deep.equal([
      'shop:eu',
      'tries:3',
      'paid:false',
      'gone',
    ]);
    expect(of({ tags: [['shop', 'eu'], { key: 'tries', value: '3' }, 'plain', null, 7] }).tags).to.deep.equal([
      'shop:eu',
      'tries:3',
      'plain',
      '7',
    ]);
    for (const tags of [null, 'text', 7, undefined]) expect(of({ tags }).tags).to.deep.equal([]);
  });

  it('parses breadcrumbs in both formats, and retains the newest with readable times', () => {
    const crumb = { timestamp: 1_763_626_530.5, category: 'cart', message: 'opened', data: { items: 3 } };
    const kept = { ...crumb, timestamp: '2025-11-20T08:15:30.500Z' };
    expect(detailsOf({ breadcrumbs: { values: [crumb] } }).breadcrumbs).to.deep.equal([kept]);
    expect(detailsOf({ breadcrumbs: [crumb, null, 'text'] }).breadcrumbs).to.deep.equal([kept]);
    expect(detailsOf({ breadcrumbs: { values: [] } }).breadcrumbs).to.equal(null);
    const many = Array.from({ length: 100 }, (_, i) => ({ message: String(i) }));
    expect(detailsOf({ breadcrumbs: many }).breadcrumbs?.at(-1)).to.deep.equal({ message: '99' });
  });

  it('copies the fingerprint unchanged', () => {
    expect(of({ fingerprint: ['{{ default }}', 'cart', 7, null] }).fingerprint).to.deep.equal([
      '{{ default }}',
      'cart',
      '7',
    ]);
    for (const fingerprint of [undefined, null, [], 'text', {}]) expect(of({ fingerprint }).fingerprint).to.equal(null);
  });

  it('maps host, environment, time and id to the fields of a report', () => {
    const event = { server_name: 'web-1', environment: 'staging', timestamp: '2026-11-20T08:15:30Z' };
    expect(of(event)).to.include({
      project: 'shop',
      host: 'web-1',
      environment: 'staging',
      occurred_at: '2026-11-20T08:15:30.000Z',
      client_ref: ID,
    });
  });

  it('stores user, request, contexts, extra, source and locals as context', () => {
    const frame = {
      filename: 'cart.py',
      lineno: 41,
      pre_context: ['def total(cart):', '    # all of them'],
      context_line: '    return cart["price"]',
      post_context: [''],
      vars: { cart: {} },
    };
    const { context } = detailsOf({
      platform: 'python',
      transaction: 'POST /cart',
      logger: 'shop',
      release: 'shop@1.4.2+7',
      sdk: { name: 'sentry.python', version: '2.75.0' },
      user: { id: '4711', email: 'ada@example.org', segment: 'trial' },
      request: { url: 'https://shop.example.org/cart' },
      contexts: { runtime: { name: 'CPython' } },
      extra: { attempt: 1 },
      modules: { flask: '3.0' },
      exception: [{ type: 'KeyError', value: 'price', stacktrace: { frames: [frame] } }],
    });
    expect(context).to.deep.equal({
      platform: 'python',
      transaction: 'POST /cart',
      logger: 'shop',
      release: 'shop@1.4.2+7',
      sdk: 'sentry.python 2.75.0',
      source: { 39: 'def total(cart):', 40: '    # all of them', 41: '    return cart["price"]', 42: '' },
      user: { segment: 'trial' },
      request: { url: 'https://shop.example.org/cart' },
      locals: { cart: {} },
      contexts: { runtime: { name: 'CPython' } },
      extra: { attempt: 1 },
    });
    expect(detailsOf({}).context).to.equal(null);
  });

  it('stores frames unchanged, and prefers application frames over library frames', () => {
    const own = (n: number): object => ({
      filename: `cart${n}.py`,
      abs_path: `/srv/app/cart${n}.py`,
      module: `shop.cart${n}`,
      function: 'total',
      lineno: n,
      context_line: `return ${n}`,
      vars: { n },
      in_app: true,
    });
    const library = (n: number): object => ({
      filename: `lib${n}.py`,
      abs_path: `/usr/lib/python3/site-packages/lib/lib${n}.py`,
      module: `lib.lib${n}`,
      function: 'call',
      lineno: n,
      context_line: 'x'.repeat(200),
      vars: { text: 'y'.repeat(2000) },
      in_app: false,
    });
    const many = Array.from({ length: 200 }, (_, i) => library(i));
    const { context } = detailsOf({
      platform: 'python',
      exception: [
        { type: 'E', value: 'x', stacktrace: { frames: [own(1), ...many, own(2), ...many, own(3), library(1)] } },
      ],
      request: { data: 'z'.repeat(1000) },
    });
    const frames = context?.['frames'] as unknown as Record<string, unknown>[];
    expect(context).to.deep.include({ source: { 3: 'return 3' }, locals: { n: 3 } });
    expect(frames.find(({ module }) => module === 'shop.cart2')).to.deep.equal({
      function: 'total',
      filename: 'cart2.py',
      lineno: 2,
      module: 'shop.cart2',
      abs_path: '/srv/app/cart2.py',
      in_app: true,
      source: { 2: 'return 2' },
      locals: { n: 2 },
    });
    expect(frames[0]).to.include({ module: 'lib.lib1', in_app: false });
    expect(frames.every((frame) => frame['in_app'] === true || !('locals' in frame || 'source' in frame))).to.equal(
      true,
    );
    expect(frames.length).to.be.within(20, 250);
    expect(JSON.stringify(frames).length).to.be.below(15_000);
  });

  it('stores as many local variables as fit', () => {
    const vars = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`v${i}`, 'x'.repeat(i === 0 ? 9000 : 50)]));
    const frame = { filename: 'a.py', lineno: 1, vars };
    const locals = detailsOf({ exception: [{ type: 'E', stacktrace: { frames: [frame] } }] }).context?.['locals'];
    expect(JSON.stringify(locals).length).to.be.within(3000, 6000);
  });

  it('truncates deeply nested values', () => {
    let deep: unknown = 'bottom';
    for (let i = 0; i < 5000; i++) deep = i % 2 ? [deep] : { deep };
    const { context, breadcrumbs } = detailsOf({ extra: { deep, flat: 1 }, breadcrumbs: [{ data: deep }] });
    expect(JSON.stringify(context))
      .to.match(/\{…\}|\[…\]/)
      .and.to.include('"flat":1');
    expect(JSON.stringify(breadcrumbs).length).to.be.lessThan(400);
  });

  it('creates a report from any input', () => {
    const anything = fc.jsonValue({ maxDepth: 6 });
    const field = fc.constantFrom(...FIELDS);
    const frame = fc.dictionary(
      fc.constantFrom(
        'filename',
        'abs_path',
        'module',
        'function',
        'lineno',
        'colno',
        'context_line',
        'pre_context',
        'vars',
      ),
      anything,
    );
    const exception = fc.dictionary(fc.constantFrom('type', 'value', 'module', 'stacktrace'), anything);
    const event = fc.record({
      rest: fc.dictionary(field, anything),
      frames: fc.array(fc.oneof(frame, anything), { maxLength: 4 }),
      exception,
      platform: fc.constantFrom('python', 'java', 'go', 'csharp', 'javascript', 'other'),
    });
    fc.assert(
      fc.property(event, ({ rest, frames, exception: one, platform }) => {
        for (const given of [rest, { platform, ...rest, exception: [{ ...one, stacktrace: { frames } }] }]) {
          const report = of(given);
          expect(['fatal', 'error', 'warning']).to.include(report.error_level);
          expect((report.exception_class ?? report.error_message).trim()).to.not.equal('');
          for (const name of ['file', 'stack_trace', 'environment', 'app_version', 'host', 'occurred_at'] as const) {
            expect(report[name] === null || typeof report[name] === 'string', name).to.equal(true);
          }
          expect(JSON.stringify(detailsOf(given))).to.be.a('string');
          expect(report.tags?.every((tag) => typeof tag === 'string')).to.equal(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});
