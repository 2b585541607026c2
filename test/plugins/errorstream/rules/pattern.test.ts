/**
 * What a rule matches (contract 21, match text, exception_class), and that no pattern takes long.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { RE2JS, RE2JSException } from 're2js';
import { ServiceError } from '../../../../kernel/errors.js';
import { MAX_PATTERN_INSTRUCTIONS, MAX_SEARCH_STEPS } from '../../../../lib/text/linear-pattern.js';
import { estimatePatternCost } from '../../../../lib/text/pattern-cost.js';
import { findLiterals } from '../../../../lib/text/pattern-literals.js';
import { compilePattern, SubjectTexts } from '../../../../plugins/errorstream/rules/compiled-pattern.js';
import type { RuleCriteria } from '../../../../plugins/errorstream/rules/rule.js';
import { listSubjectTexts, type MatchSubject } from '../../../../plugins/errorstream/rules/match-subject.js';
import { expectLinear } from '../../../support/cpu-time.js';

const rule = (fields: Partial<RuleCriteria>): RuleCriteria => ({
  match_type: 'contains',
  pattern: 'x',
  case_sensitive: false,
  project: null,
  environment: null,
  ...fields,
});
const subject = (fields: Partial<MatchSubject> = {}): MatchSubject => ({
  title: 'CartError: cart is empty',
  error_message: 'cart is empty\nsecond line',
  exception_class: 'shop.errors.CartError',
  project: 'alpha',
  environment: 'production',
  ...fields,
});

function matches(fields: Partial<RuleCriteria>, given: Partial<MatchSubject> = {}): boolean {
  const pattern = compilePattern(rule(fields));
  const of = subject(given);
  return pattern.appliesTo(of) && pattern.matches(new SubjectTexts(of));
}

/** Instructions of the compiled expression; null when the engine refuses its repetitions. */
const sizeOf = (pattern: string): number | null => {
  try {
    return RE2JS.compile(pattern).programSize();
  } catch (error) {
    if (error instanceof RE2JSException && error.message.includes('invalid repeat count')) return null;
    throw error;
  }
};

const codeOf = (pattern: string): string => {
  try {
    compilePattern(rule({ match_type: 'regex', pattern }));
    return 'none';
  } catch (error) {
    if (error instanceof ServiceError) return `${error.status} ${error.code}`;
    throw error;
  }
};

describe('ignore rules: matching', () => {
  it('matches the title, the message and `Class: message`', () => {
    expect(listSubjectTexts(subject())).to.deep.equal([
      'CartError: cart is empty',
      'cart is empty\nsecond line',
      'shop.errors.CartError: cart is empty\nsecond line',
    ]);
    expect(listSubjectTexts(subject({ error_message: null }))).to.deep.equal([
      'CartError: cart is empty',
      'shop.errors.CartError',
    ]);
    expect(listSubjectTexts(subject({ title: 'boom', error_message: 'boom', exception_class: null }))).to.deep.equal([
      'boom',
    ]);
    for (const pattern of ['CartError: cart', 'second line', 'errors.CartError: cart is empty']) {
      expect(matches({ pattern }), pattern).to.equal(true);
    }
    expect(matches({ pattern: 'empty\u001fcart' })).to.equal(false);
    for (const pattern of ['^CartError', '^cart is empty\\nsecond line$', '^shop\\.errors\\.CartError: cart'])
      expect(matches({ match_type: 'regex', pattern }), pattern).to.equal(true);
  });

  it('is case-sensitive only on request', () => {
    for (const match_type of ['contains', 'regex', 'exception_class'] as const) {
      const pattern = match_type === 'exception_class' ? 'carterror' : 'CART IS';
      expect(matches({ match_type, pattern }), match_type).to.equal(true);
      expect(matches({ match_type, pattern, case_sensitive: true }), match_type).to.equal(false);
    }
  });

  const classes: [pattern: string, name: string | null, matched: boolean][] = [
    ['shop.errors.CartError', 'shop.errors.CartError', true],
    ['CartError', 'shop.errors.CartError', true],
    ['errors.CartError', 'shop.errors.CartError', false],
    ['Cart', 'shop.errors.CartError', false],
    ['shop.*', 'shop.errors.CartError', true],
    ['Cart*', 'shop.errors.CartError', true],
    ['errors.*', 'shop.errors.CartError', false],
    ['*Error', 'shop.errors.CartError', false],
    ['*', 'shop.errors.CartError', true],
    ['*', null, false],
    ['DbException', 'App\\Db\\DbException', true],
    ['Timeout', 'Net::Timeout', true],
    ['Timeout', 'Acme.Net+Timeout', true],
    ['Connection', 'com.acme.Net$Connection', true],
    ['CartError', null, false],
  ];
  for (const [pattern, name, matched] of classes) {
    it(`exception_class ${pattern} ${matched ? 'is' : 'is not'} a match for ${name ?? 'no class'}`, () => {
      expect(matches({ match_type: 'exception_class', pattern }, { exception_class: name })).to.equal(matched);
    });
  }

  it('is limited to the rule’s project and environment', () => {
    const pattern = 'cart';
    expect(matches({ pattern, project: 'alpha', environment: 'production' })).to.equal(true);
    expect(matches({ pattern, project: 'beta' })).to.equal(false);
    expect(matches({ pattern, environment: 'staging' })).to.equal(false);
    expect(matches({ pattern, environment: 'Production' })).to.equal(true);
    expect(matches({ pattern, environment: 'production' }, { environment: null })).to.equal(false);
  });

  it('contains: matches any text that contains the pattern (property)', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 1, maxLength: 20 }), fc.string(), (before, pattern, after) => {
        const message = before + pattern + after;
        expect(matches({ pattern, case_sensitive: true }, { error_message: message })).to.equal(true);
        expect(matches({ pattern }, { error_message: message.toUpperCase() })).to.equal(
          listSubjectTexts(subject({ error_message: message.toUpperCase() })).some((text) =>
            text.toLowerCase().includes(pattern.toLowerCase()),
          ),
        );
      }),
    );
  });

  const { regex } = fc.letrec<{ regex: string }>((tie) => ({
    regex: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\d', '^a', 'b$', '\\bab'),
      fc.tuple(tie('regex'), tie('regex')).map(([x, y]) => x + y),
      fc.tuple(tie('regex'), tie('regex')).map(([x, y]) => `(?:${x}|${y})`),
      fc.tuple(tie('regex'), fc.constantFrom('*', '+', '?', '{1,3}', '{2}')).map(([x, times]) => `(?:${x})${times}`),
    ),
  }));

  it('regex: matches like the JavaScript engine in short texts (property)', () => {
    fc.assert(
      fc.property(regex, fc.stringMatching(/^[ab1 ]{0,12}$/), (pattern, text) => {
        const given = { title: text, error_message: null, exception_class: null };
        const found = text !== '' && new RegExp(pattern, 'i').test(text);
        expect(matches({ match_type: 'regex', pattern }, given), `${pattern} in "${text}"`).to.equal(found);
      }),
      { numRuns: 400 },
    );
  });

  it('finds every match for a required text (property)', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'abc',
        'ABCD',
        'a\\.bc',
        'abc+d',
        'ab?cd',
        'abc{2}d',
        '[abc]',
        '(abc|d)',
        '(?:abcd)?',
        '\\d',
        '.*',
        'sks',
        '|',
        '^',
        'abc*',
        'x|abcd',
        '(a(bcd)e)*',
      ),
      regex,
    );
    const texts = fc.array(
      fc.constantFrom('abc', 'abcd', 'ABC', 'a.bc', 'abbd', 'cd', 'd', '1', 'ſKs', 'x', 'ab', 'abccd', 'e'),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 4 }),
        texts,
        fc.boolean(),
        (pieces, words, case_sensitive) => {
          const pattern = pieces.join('');
          const text = words.join('');
          if (codeOf(pattern) !== 'none' || text === '') return;
          const found = RE2JS.compile(pattern, case_sensitive ? 0 : RE2JS.CASE_INSENSITIVE).test(text);
          const given = { title: text, error_message: null, exception_class: null };
          expect(matches({ match_type: 'regex', pattern, case_sensitive }, given), `${pattern} in ${text}`).to.equal(
            found,
          );
        },
      ),
      { numRuns: 3000 },
    );
    expect(findLiterals("Duplicate entry '.*' for key|E11000 dup")).to.deep.equal(["Duplicate entry '", 'E11000 dup']);
    expect(findLiterals('timed out after \\d+ s')).to.deep.equal(['timed out after ']);
    expect(findLiterals('a\\.example')).to.deep.equal(['a.example']);
    for (const none of ['(?i)abcdef', 'abc|d', '\\Qabc\\E', '[abcdef]+', '(abcdef)', 'ab'])
      expect(findLiterals(none), none).to.equal(null);
  });

  it('estimates the size of an expression before compilation, never far too low (property)', () => {
    const counted = fc.tuple(regex, fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 12 }));
    fc.assert(
      fc.property(counted, ([inner, n, m]) => {
        const pattern = `((?:${inner}){${n}}){${m}}`;
        // The engine itself refuses repetitions of more than a thousand in all, whatever they cost.
        const size = sizeOf(pattern) ?? 0;
        expect(size, pattern).to.be.at.most(4 * estimatePatternCost(pattern) + 10);
      }),
    );
    expect(sizeOf('((?:(?:(?:(?:a){2}){2}){1,3}){11}){8}')).to.equal(null);
    expect(estimatePatternCost('a{3}')).to.equal(3);
    expect(estimatePatternCost('a{3,}')).to.equal(4);
    expect(estimatePatternCost('(ab){50}')).to.equal(200);
    expect(estimatePatternCost('\\p{Lu}\\x{41}[a-z{}]x')).to.equal(4);
    expect(estimatePatternCost('\\Q{9}\\E')).to.equal(7);
    expect(estimatePatternCost('(a')).to.equal(2);
  });
});

describe('ignore rules: rejected patterns', () => {
  for (const pattern of ['(', '[a', 'a**', '(?=x)', '(?<!x)y', '(a)\\1', '\\p{Nowhere}', 'x{1001}', '*a'])
    it(`reject what the engine does not support: ${pattern}`, () =>
      expect(codeOf(pattern)).to.equal('422 invalid_pattern'));

  for (const pattern of [
    '(a|b){1000}'.repeat(40),
    '((a{9}){9}){9}{9}',
    '(?:(?:(?:a?){9}){10}){10}'.repeat(19),
    'a{999}b{999}',
  ])
    it(`reject what is too large before compilation: ${pattern.slice(0, 30)}`, () => {
      const real = RE2JS.compile.bind(RE2JS);
      let compiled = 0;
      RE2JS.compile = (...given) => (compiled++, real(...given));
      try {
        expect(codeOf(pattern)).to.equal('422 invalid_pattern');
      } finally {
        RE2JS.compile = real;
      }
      expect(compiled).to.equal(0);
    });

  it('have a single error code for any text that does not compile (property)', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (pattern) => {
        expect(codeOf(pattern)).to.be.oneOf(['none', '422 invalid_pattern']);
      }),
      { numRuns: 300 },
    );
  });
});

describe('ignore rules: matching time', () => {
  const hostile = [
    '(a+)+$',
    '(a|aa)+$',
    '(.*)*x',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(((a*)*)*)*b',
    '.*.*.*.*.*=',
    '(x+x+)+y',
    '(a?){50}a{50}$',
    '.{900}b',
    '(.?){90}(.?){90}q',
    '.*a.{99}z',
    '(a{1,30}){1,30}b',
  ].filter((pattern) => codeOf(pattern) === 'none');
  const longest = 8192;
  const texts = [
    'a'.repeat(longest),
    Array.from({ length: longest }, (_, i) => 'abc def0123 x'[(i * 7) % 13]).join(''),
  ];

  for (const pattern of hostile) {
    it(`is linear in the message length for ${pattern}`, () => {
      const compiled = compilePattern(rule({ match_type: 'regex', pattern }));
      for (const text of texts) {
        const each = new SubjectTexts({ title: 'E', error_message: text, project: 'alpha' });
        expectLinear(() => compiled.matches(each));
      }
    });
  }

  it('searches the longest message completely for ordinary expressions', () => {
    const ordinary = ['(?:timeout|reset|refused) by peer', 'deadlock', "Duplicate entry '.*' for key"];
    for (const pattern of ordinary) {
      expect(RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE).programSize(), pattern).to.be.at.most(
        MAX_PATTERN_INSTRUCTIONS,
      );
      const end = pattern.startsWith('(') ? 'refused by peer' : pattern.replace('.*', '7');
      const message = 'x'.repeat(longest - end.length) + end;
      expect(matches({ match_type: 'regex', pattern }, { error_message: message }), pattern).to.equal(true);
    }
    expect(MAX_SEARCH_STEPS / 30).to.be.above(longest + 202);
  });

  it('truncates the message only for expressions that would take too long', () => {
    const pattern = '[0-9a-f]{32}-[0-9a-f]{32}-[0-9a-f]{32}';
    const hit = ['a'.repeat(32), 'b'.repeat(32), 'c'.repeat(32)].join('-');
    expect(matches({ match_type: 'regex', pattern }, { error_message: ' '.repeat(1000) + hit })).to.equal(true);
    expect(matches({ match_type: 'regex', pattern }, { error_message: ' '.repeat(8000) + hit })).to.equal(false);
  });
});
