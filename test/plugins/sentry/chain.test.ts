/**
 * Which exception of an event gives the title and the group (contract 21, amendments: wrappers).
 */
import { expect } from 'chai';
import { computeGrouping } from '../../../plugins/bugs/grouping/grouping-key.js';
import { convertEvent } from '../../../plugins/sentry/event-converter.js';
import type { ErrorReport } from '../../../ports/domain/errors.js';

interface Given {
  type: string;
  value?: string | null;
  file?: string;
  mechanism?: object;
}

/** @param values the innermost first, as SDKs send them */
const read = (platform: string, ...values: Given[]): ErrorReport =>
  convertEvent(
    {
      platform,
      exception: {
        values: values.map(({ type, value = null, file, mechanism }) => {
          const frames = file === undefined ? [] : [{ filename: file, function: 'f', lineno: 3, in_app: true }];
          return { type, value, mechanism, stacktrace: { frames } };
        }),
      },
    },
    { project: 'shop', id: '1' },
  ).report;

const keyOf = (report: ErrorReport): string =>
  computeGrouping({
    type: 'error',
    project: 'shop',
    exception_class: report.exception_class ?? null,
    error_message: report.error_message,
    file_path: report.file ?? null,
    function_name: report.function ?? null,
    stack_trace: report.stack_trace ?? null,
    members: report.members ?? null,
  }).dedup_key;

const member = (id: number, type: string, file: string, parent = 0): Given => ({
  type,
  value: `of ${file}`,
  file,
  mechanism: { exception_id: id, parent_id: parent, source: `exceptions[${id - 1}]` },
});
const group = (type = 'ExceptionGroup', more: object = {}): Given => ({
  type,
  value: 'unhandled errors in a TaskGroup',
  file: 'run.py',
  mechanism: { exception_id: 0, is_exception_group: true, ...more },
});

describe('sentry exception chain', () => {
  const WRAPPERS: readonly (readonly [string, string, string | null])[] = [
    ['java', 'java.lang.reflect.InvocationTargetException', null],
    ['java', 'java.lang.reflect.UndeclaredThrowableException', null],
    ['java', 'java.util.concurrent.ExecutionException', 'java.io.IOException: full'],
    ['java', 'jakarta.servlet.ServletException', 'Request processing failed: java.io.IOException: full'],
    ['java', 'org.springframework.web.util.NestedServletException', 'Request processing failed; nested exception is …'],
    [
      'csharp',
      'System.Reflection.TargetInvocationException',
      'Exception has been thrown by the target of an invocation.',
    ],
    ['csharp', 'System.AggregateException', 'One or more errors occurred. (full)'],
    [
      'csharp',
      'Microsoft.EntityFrameworkCore.DbUpdateException',
      'An error occurred while saving the entity changes. See the inner exception for details.',
    ],
    [
      'javascript',
      'Error',
      'There was an error while hydrating. Because the error happened outside of a Suspense boundary, …',
    ],
    ['javascript', 'Error', 'Minified React error #423; visit https://react.dev/errors/423'],
    ['javascript', 'AggregateError', 'All promises were rejected'],
    ['python', 'tenacity.RetryError', 'RetryError[<Future at 0x7f3c2a1b state=finished raised KeyError>]'],
  ];
  for (const [platform, type, value] of WRAPPERS)
    it(`uses the title and group of the wrapped exception for ${type} (${value ?? ''})`, () => {
      const inner = { type: 'IoFailed', value: 'full', file: 'disk.x' };
      const wrapper = { type, value, file: 'vendor.x' };
      const made = read(platform, inner, wrapper);
      expect(made).to.include({ exception_class: 'IoFailed', error_message: 'full' });
      expect(keyOf(made)).to.equal(keyOf(read(platform, inner)));
      expect(keyOf(made)).not.to.equal(keyOf(read(platform, { ...inner, type: 'NetFailed' }, wrapper)));
      expect(read(platform, wrapper)).to.include({ exception_class: type });
    });

  it('unwraps nested wrappers', () => {
    const made = read(
      'java',
      { type: 'IoFailed', value: 'full', file: 'Disk.java' },
      { type: 'java.util.concurrent.ExecutionException', value: 'IoFailed: full', file: 'A.java' },
      { type: 'java.lang.reflect.InvocationTargetException', file: 'B.java' },
    );
    expect(made).to.include({ exception_class: 'IoFailed', file: 'Disk.java' });
  });

  it('uses the title of an exception with a message', () => {
    const made = read(
      'java',
      { type: 'IoFailed', value: 'x', file: 'A.java' },
      { type: 'CartLost', value: 'no cart', file: 'B.java' },
    );
    expect(made).to.include({ exception_class: 'CartLost', file: 'B.java' });
  });

  it('unwraps a group with a single member at any depth', () => {
    const one = read('python', member(1, 'ValueError', 'jobs.py'), group());
    expect(one).to.include({ exception_class: 'ValueError', error_message: 'of jobs.py', file: 'jobs.py' });
    expect(one.members).to.equal(null);
    const inner = {
      ...group(),
      value: 'inner',
      mechanism: { exception_id: 1, parent_id: 0, source: 'exceptions[0]', is_exception_group: true },
    };
    const deep = read('python', member(2, 'ValueError', 'jobs.py', 1), inner, group());
    expect(keyOf(deep)).to.equal(keyOf(one));
    expect(deep.stack_trace).to.match(/ExceptionGroup: .*only carries the following.*ValueError: of jobs\.py$/s);
  });

  it('detects a group without its flag by the names of its members', () => {
    const made = read(
      'javascript',
      { ...member(1, 'TypeError', 'cart.js'), mechanism: { exception_id: 1, parent_id: 0, source: 'errors[0]' } },
      { type: 'AggregateError', value: 'All promises were rejected', mechanism: { exception_id: 0 } },
    );
    expect(made).to.include({ exception_class: 'TypeError', file: 'cart.js' });
  });

  it('distinguishes exception groups by classes and locations of their members, in any order', () => {
    const of = (...members: Given[]): string => keyOf(read('python', ...members, group()));
    const [a, b, c] = [
      member(1, 'ValueError', 'jobs.py'),
      member(2, 'KeyError', 'stock.py'),
      member(2, 'KeyError', 'cart.py'),
    ];
    expect(of(a, b)).to.equal(
      of(
        { ...b, mechanism: { ...b.mechanism, exception_id: 1 } },
        { ...a, mechanism: { ...a.mechanism, exception_id: 2 } },
      ),
    );
    expect(of(a, b)).not.to.equal(of(a, c));
    expect(of(a, b)).not.to.equal(of(a));
    expect(read('python', a, b, group())).to.include({ exception_class: 'ExceptionGroup' });
  });
});
