/** What a grouping rule fits and makes of a report, and that no pattern or report takes long. */
import { expect } from 'chai';
import fc from 'fast-check';
import { applyRuleOutcome } from '../../../../plugins/bugs/grouping-rules/rule-outcome.js';
import { computeGrouping, type GroupingInput } from '../../../../plugins/bugs/grouping/grouping-key.js';
import { compileRule, RuleProblem, type RuleOutcome } from '../../../../plugins/bugs/grouping-rules/compiled-rule.js';
import type { GroupingRule } from '../../../../plugins/bugs/grouping/grouping-rule.js';
import { GroupingRuleSet } from '../../../../plugins/bugs/grouping-rules/rule-set.js';
import { RuleSubject } from '../../../../plugins/bugs/grouping-rules/rule-subject.js';
import { compileWildcard } from '../../../../plugins/bugs/grouping-rules/wildcard.js';
import { expectLinear } from '../../../support/cpu-time.js';

const rule = (fields: Partial<GroupingRule> = {}): GroupingRule => ({
  id: 'r1',
  name: 'rule',
  enabled: true,
  exception_class: null,
  message: null,
  origin: null,
  fingerprint: ['one'],
  title: null,
  created_by: 'ada',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  ...fields,
});
const REPORT: GroupingInput = {
  type: 'error',
  project: 'alpha',
  title: 'Timeout: no answer of db7 after 1673 ms',
  error_message: 'no answer of db7 after 1673 ms\nsecond line',
  exception_class: 'shop.errors.Timeout',
  file_path: '/srv/shop/src/Orders/Db.py',
  function_name: 'connect',
};
const subject = (fields: Partial<GroupingInput> = {}): RuleSubject => new RuleSubject({ ...REPORT, ...fields }, {});

const rulingOf = (fields: Partial<GroupingRule>, given: Partial<GroupingInput> = {}): RuleOutcome | null => {
  const compiled = compileRule(rule(fields));
  const of = subject(given);
  return compiled.matches(of) ? compiled.evaluate(of) : null;
};
const fits = (fields: Partial<GroupingRule>, given: Partial<GroupingInput> = {}): boolean =>
  rulingOf(fields, given) !== null;

function problemsOf(fields: Partial<GroupingRule>): Record<string, string> {
  try {
    compileRule(rule(fields));
  } catch (error) {
    if (error instanceof RuleProblem) return error.fields;
    throw error;
  }
  return {};
}

describe('grouping rules: matching', () => {
  const cases: [string, Partial<GroupingRule>, boolean][] = [
    ['the class, whole', { exception_class: 'shop.errors.Timeout' }, true],
    ['its last segment, in any case', { exception_class: 'timeout' }, true],
    ['a class with a star', { exception_class: 'shop.*' }, true],
    ['a part of the class alone', { exception_class: 'Time' }, false],
    ['a pattern of the message, in any case', { message: 'NO ANSWER of \\w+' }, true],
    ['a pattern that only the second line has', { message: '^second line$|second' }, true],
    ['another message', { message: 'refused' }, false],
    ['the file, as it is reported', { origin: 'C:\\build\\shop\\src\\Orders\\Db.py:17' }, true],
    ['the file, as grouping has it', { origin: 'orders/db.py' }, true],
    ['file and function', { origin: 'orders/db.py#connect' }, true],
    ['file and another function', { origin: 'orders/db.py#close' }, false],
    ['every file of a directory', { origin: 'orders/*' }, true],
    ['another directory', { origin: 'carts/*' }, false],
    ['all three', { exception_class: 'Timeout', message: 'answer', origin: '*/db.py' }, true],
    ['all three, one of which differs', { exception_class: 'Timeout', message: 'answer', origin: '*/cart.py' }, false],
  ];
  for (const [name, fields, expected] of cases)
    it(`${expected ? 'matches' : 'does not match'} by ${name}`, () => expect(fits(fields)).to.equal(expected));

  it('uses the title for a missing message, and the stack trace for the origin', () => {
    expect(fits({ message: 'no answer' }, { error_message: null })).to.equal(true);
    const stack_trace = 'Traceback\n  File "/app/shop/cart.py", line 3, in add\n    x()';
    expect(fits({ origin: 'shop/cart.py' }, { file_path: null, function_name: null, stack_trace })).to.equal(true);
    expect(fits({ origin: '*' }, { file_path: null, function_name: null })).to.equal(true);
    expect(fits({ exception_class: '*' }, { exception_class: null })).to.equal(false);
  });
});

describe('grouping rules: resulting fingerprint and title', () => {
  it('replaces placeholders for class, message, origin and pattern groups in fingerprint and title', () => {
    const ruling = rulingOf({
      message: 'no answer of (\\w+) after (\\d+)',
      fingerprint: ['db', '{{ 1 }}', '{{class}}', '{{ origin }}', '{{ message }}', '{{ default }}'],
      title: '{{ class }} of {{ 1 }} in {{ origin }}',
    });
    expect(ruling).to.deep.equal({
      rule_id: 'r1',
      fingerprint: [
        'db',
        'db7',
        'shop.errors.Timeout',
        'orders/db.py#connect',
        'no answer of db7 after <duration>\nsecond line',
        '{{ default }}',
      ],
      keeps_class: true,
      title: 'Timeout of db7 in orders/db.py#connect',
    });
  });

  it('expands no placeholder inside a message, and ignores an empty title', () => {
    const given = { error_message: 'say {{ default }}' };
    const ruling = rulingOf({ message: 'say (.*)', fingerprint: ['{{ 1 }}'], title: ' {{ 1 }} ' }, given);
    expect(ruling?.fingerprint).to.deep.equal(['{ { default }}']);
    expect(ruling?.title).to.equal('{{ default }}');
    expect(rulingOf({ message: 'no( never)?', title: '{{ 1 }}' })?.title).to.equal(null);
  });

  it('groups by fingerprint across classes without {{ default }}, and per class with it', () => {
    const keyOf = (fields: Partial<GroupingRule>, given: Partial<GroupingInput>): string => {
      const report = { ...REPORT, ...given };
      return applyRuleOutcome(report, rulingOf(fields, given), {}).dedup_key;
    };
    const both = (fingerprint: string[]): string[] => [
      keyOf({ message: 'answer', fingerprint }, {}),
      keyOf({ message: 'answer', fingerprint }, { exception_class: 'Refused', error_message: 'answer: no' }),
    ];
    const [a, b] = both(['db']);
    expect(a).to.equal(b);
    const [c, d] = both(['db', '{{ class }}']);
    expect(c).not.to.equal(d);
    const [e, f] = both(['db', '{{ default }}']);
    expect(e).not.to.equal(f);
    expect(e).to.equal(computeGrouping({ ...REPORT, fingerprint: ['db', '{{ default }}'] }).dedup_key);
  });

  it('a title alone or a rule that does not match changes no key', () => {
    const automatic = computeGrouping(REPORT);
    const titled = applyRuleOutcome(REPORT, rulingOf({ message: 'answer', fingerprint: null, title: 'T' }), {});
    expect(titled).to.include(automatic);
    expect(titled).not.to.have.property('rule_id');
    expect(applyRuleOutcome(REPORT, null, {})).to.include(automatic);
  });

  it('applies the first matching rule, and skips disabled and uncompilable rules', () => {
    const faults: unknown[] = [];
    const set = GroupingRuleSet.compile(
      [
        rule({ id: 'off', enabled: false, message: 'answer' }),
        rule({ id: 'broken', message: '(a' }),
        rule({ id: 'other', message: 'refused' }),
        rule({ id: 'first', message: 'answer' }),
        rule({ id: 'second', message: 'answer' }),
      ],
      { error: (fault) => faults.push(fault) },
    );
    expect(set.evaluate(subject(), () => 0)).to.include({ rule_id: 'first' });
    expect(faults).to.have.length(1);
  });

  it('yields to the event loop between slow rules and returns the same result', async () => {
    const rules = [1, 2, 3].map((n) => rule({ id: `r${n}`, message: n === 3 ? 'answer' : 'x+y' }));
    const set = GroupingRuleSet.compile(rules, { error: () => undefined });
    let now = 0;
    let turns = 0;
    const requested = set.evaluate(subject(), () => (now += 6));
    expect(requested).to.be.instanceOf(Promise);
    setImmediate(() => (turns += 1));
    expect(await requested).to.include({ rule_id: 'r3' });
    expect(turns).to.equal(1);
  });
});

describe('grouping rules: rejections', () => {
  const cases: [string, Partial<GroupingRule>, string, RegExp][] = [
    ['nothing to match', {}, 'message', /set a class/],
    ['nothing to do', { message: 'a', fingerprint: null }, 'fingerprint', /fingerprint, a title/],
    ['an invalid pattern', { message: '(a' }, 'message', /missing closing/],
    ['a back-reference', { message: '(a)\\1' }, 'message', /Invalid regular expression/],
    ['a pattern too large', { message: '(a{30}){40}' }, 'message', /at most 1000/],
    ['an unknown placeholder', { message: 'a', title: '{{ host }}' }, 'title', /not a placeholder/],
    ['a group that is not there', { message: '(a)', fingerprint: ['{{ 2 }}'] }, 'fingerprint', /it has 1/],
    ['a group without a pattern', { origin: 'a', title: '{{ 1 }}' }, 'title', /it has 0/],
    [
      '{{ default }} next to other text',
      { message: 'a', fingerprint: ['x {{ default }}'] },
      'fingerprint',
      /must be a separate element/,
    ],
    ['{{ default }} in a title', { message: 'a', title: '{{ default }}' }, 'title', /must be a separate element/],
    ['an origin without a file', { origin: '#main' }, 'origin', /must be a file/],
  ];
  for (const [name, fields, field, says] of cases)
    it(`rejects ${name}`, () => expect(problemsOf(fields)[field]).to.match(says));

  it('reports all of them together', () => {
    expect(problemsOf({ message: '(a', title: '{{ host }}', fingerprint: ['{{ x }}'] })).to.have.keys(
      'message',
      'title',
      'fingerprint',
    );
  });
});

describe('grouping rules: arbitrary input', () => {
  it('a wildcard matches like its equivalent regular expression', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'B', '.', '/'), maxLength: 12 });
    const form = fc.string({ unit: fc.constantFrom('a', 'b', 'B', '.', '/', '*'), maxLength: 8 });
    fc.assert(
      fc.property(form, text, (given, of) => {
        const parts = given.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
        const expected = new RegExp(`^${parts.join('[^]*')}$`, 'i').test(of);
        expect(compileWildcard(given)(of)).to.equal(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  it('never throws for a report and is deterministic', () => {
    const word = fc.option(fc.string({ unit: 'binary', maxLength: 60 }), { nil: null });
    const compiled = compileRule(
      rule({
        message: '(.*)(\\d*)',
        fingerprint: ['{{ 1 }}', '{{ 2 }}', '{{ origin }}', '{{ default }}'],
        title: '{{ 1 }} {{ class }}',
      }),
    );
    fc.assert(
      fc.property(word, word, word, word, (error_message, exception_class, file_path, stack_trace) => {
        const report: GroupingInput = {
          type: 'error',
          project: 'p',
          title: 't',
          error_message,
          exception_class,
          file_path,
          stack_trace,
        };
        const made = (): string => {
          const of = new RuleSubject(report, {});
          const ruling = compiled.matches(of) ? compiled.evaluate(of) : null;
          if (ruling?.title) expect(Array.from(ruling.title).length).to.be.at.most(200);
          return applyRuleOutcome(report, ruling, {}).dedup_key;
        };
        const key = made();
        expect(key).to.match(/^v2:[0-9a-f]{40}$/);
        expect(made()).to.equal(key);
      }),
      { numRuns: 500 },
    );
  });

  it('captures the same groups as the JavaScript regular expression engine', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '1', ' '), maxLength: 20 });
    const pattern = '(a+) ?(b*)(1)?';
    const compiled = compileRule(rule({ message: pattern, fingerprint: ['{{ 1 }}', '{{ 2 }}', '{{ 3 }}'] }));
    fc.assert(
      fc.property(text, (error_message) => {
        const found = new RegExp(pattern, 'i').exec(error_message);
        const of = subject({ error_message, title: '' });
        const ruling = compiled.matches(of) ? compiled.evaluate(of) : null;
        expect(ruling?.fingerprint ?? null).to.deep.equal(found && found.slice(1, 4).map((part) => part ?? ''));
      }),
      { numRuns: 1_000 },
    );
  });

  it('hostile patterns and messages are processed in linear time', () => {
    for (const message of ['(a+)+$', '(.*)(.*)(.*)(.*)!|((a|aa)*)*', '(([a-c]*){9}b?){9}', '(x+x+)+y|(a*){60}$']) {
      const compiled = compileRule(rule({ message, fingerprint: ['{{ 1 }}'] }));
      for (const text of ['a'.repeat(16_000) + '!', 'ab'.repeat(8_000), 'x'.repeat(16_000)])
        expectLinear(() => {
          const of = subject({ error_message: text, title: '' });
          if (compiled.matches(of)) compiled.evaluate(of);
        });
    }
    const stars = compileRule(rule({ origin: `${'*a'.repeat(250)}*b` }));
    expectLinear(() => stars.matches(subject({ file_path: 'a'.repeat(1_024) })));
  });
});
