/**
 * Envelopes of SDKs that are not run by the tests: their culprit, and which of them are one error
 * (contract 21, first frame).
 */
import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { parseFrames } from '../../../plugins/bugs/grouping/stack-trace.js';
import { normalizeOrigin } from '../../../plugins/bugs/grouping/origin.js';
import { ENVELOPE, Fixture } from './fixture.js';

type Fields = Record<string, unknown>;

const FOLDER = new URL('../../fixtures/envelopes/', import.meta.url);

interface Expected {
  class: string | null;
  title: string;
  origin: string;
  /** Of the crash frame, as the stack's own text has it. */
  function: string | null;
  /** Null for code without one. */
  line: number | null;
  /** What is named as its cause. */
  cause?: string;
}

const CART = "the cart 'A-1001' has no price";
const EXPECTED: Record<string, Expected> = {
  'rust-error': {
    class: 'CartError',
    title: `CartError: ${CART}`,
    origin: 'src/main.rs',
    function: 'shop::total',
    line: 43,
    cause: 'NoPrice: there is no price',
  },
  'rust-message': { class: null, title: 'stock is low', origin: 'src/main.rs', function: 'shop::report', line: 65 },
  'rust-panic-index': {
    class: 'panic',
    title: 'panic: index out of bounds: the len is 1 but the index is 7',
    origin: 'src/main.rs',
    function: 'shop::price',
    line: 79,
  },
  'rust-panic-unwrap': {
    class: 'panic',
    title: 'panic: called `Option::unwrap()` on a `None` value',
    origin: 'src/main.rs',
    function: 'stock',
    line: 84,
  },
  'rust-panic-expect': {
    class: 'panic',
    title: 'panic: a discount is a number: ParseIntError { kind: InvalidDigit }',
    origin: 'src/main.rs',
    function: 'shop::discount',
    line: 89,
  },
  php: {
    class: 'App\\Cart\\CartException',
    title: `CartException: ${CART}`,
    origin: 'cart/cart.php',
    function: 'App\\Cart\\Cart::total',
    line: 41,
    cause: 'PDOException',
  },
  dotnet: {
    class: 'Acme.Shop.CartException',
    title: `CartException: ${CART}`,
    origin: 'shop/cart.cs',
    function: 'Acme.Shop.Cart.Total',
    line: 41,
    cause: 'KeyNotFoundException',
  },
  ruby: {
    class: 'Shop::CartError',
    title: `CartError: ${CART} (Shop::CartError)`,
    origin: 'models/cart.rb',
    function: 'Shop::Cart#total',
    line: 41,
    cause: 'KeyError',
  },
  swift: {
    class: 'EXC_BREAKPOINT',
    title: `EXC_BREAKPOINT: Fatal error: ${CART}`,
    origin: 'cart.swift',
    function: 'Cart.total()',
    line: 41,
  },
  'android-native': {
    class: 'SIGABRT',
    title: 'SIGABRT: Abort',
    origin: 'libshop.so',
    function: 'shop::Cart::total(int)',
    line: null,
  },
  'android-native-other': {
    class: 'SIGABRT',
    title: 'SIGABRT: Abort',
    origin: 'libshop.so',
    function: 'shop::Stock::count()',
    line: null,
  },
  'android-stripped': { class: 'SIGABRT', title: 'SIGABRT: Abort', origin: 'libpay.so', function: null, line: null },
  kotlin: {
    class: 'CartException',
    title: `CartException: ${CART}`,
    origin: 'cart/cart.kt',
    function: 'shop.cart.Cart.total',
    line: 41,
    cause: 'NullPointerException',
  },
};

const envelope = (name: string): Promise<Buffer> => readFile(new URL(`${name}.envelope`, FOLDER));

describe('sentry intake: recorded envelopes', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await Fixture.create();
    for (const name of Object.keys(EXPECTED))
      expect((await fixture.post(ENVELOPE, await envelope(name))).status, name).to.equal(200);
  });
  after(() => fixture.stop());

  const itemOf = async (name: string): Promise<Fields> => {
    const { class: exceptionClass, title, origin, function: own } = EXPECTED[name] as Expected;
    const items = (await fixture.items()) as unknown as Fields[];
    const found = items.filter((item) => item['title'] === title && item['exception_class'] === exceptionClass);
    const one = found.find(
      (item) =>
        normalizeOrigin(item['file_path'] as string) === origin &&
        (item['stack_trace'] as string).includes(own ?? `at ${origin}:`),
    );
    expect(one, JSON.stringify(items.map((item) => [item['title'], item['file_path']]))).not.to.equal(undefined);
    return one ?? {};
  };

  for (const [name, expected] of Object.entries(EXPECTED)) {
    it(`${name}: finds the class, the message and the crash frame`, async () => {
      const item = await itemOf(name);
      expect(item['line_no']).to.equal(expected.line);
      const stack = item['stack_trace'] as string;
      const own = parseFrames(stack).find(
        ({ file, line_no }) => file === item['file_path'] && line_no === (item['line_no'] ?? 0),
      );
      expect(own).to.deep.include({ function: expected.function, line_no: expected.line ?? 0 });
      expect(stack).to.include(expected.cause ?? '');
      expect(item).to.include({ app_version: '1.4.2', environment: 'production', source: 'sdk' });
    });
  }

  it('distinguishes native crashes of one signal by library and function', async () => {
    const names = ['android-native', 'android-native-other', 'android-stripped'];
    const ids = await Promise.all(names.map(async (name) => (await itemOf(name))['id']));
    expect(new Set(ids).size).to.equal(3);
  });

  it('groups equal panics together and distinguishes others', async () => {
    const before = (await fixture.items()).length;
    expect((await fixture.post(ENVELOPE, await envelope('rust-panic-index-again'))).status).to.equal(200);
    expect(await fixture.items()).to.have.length(before);
    expect(await itemOf('rust-panic-index')).to.include({ hit_count: 2 });
  });

  it('tests every recorded envelope', async () => {
    const names = (await readdir(FOLDER)).flatMap((file) => /^(.*)\.envelope$/.exec(file)?.[1] ?? []);
    expect(names).to.have.members([...Object.keys(EXPECTED), 'rust-panic-index-again']);
  });
});
