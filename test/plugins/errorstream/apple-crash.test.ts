/** Crash reports of Apple's systems as the text of a trace (contract 21, amendments). */
import { expect } from 'chai';
import { formatCrashReport } from '../../../plugins/errorstream/apple-crash.js';
import { findFirstFrame } from '../../../plugins/bugs/grouping/stack-trace.js';

const image = (path: string, base: number): object => ({ name: path.slice(path.lastIndexOf('/') + 1), path, base });
const frame = (imageIndex: number, symbol: string | undefined, more: object = {}): object => ({
  imageIndex,
  imageOffset: 4096,
  ...(symbol !== undefined && { symbol, symbolLocation: 44 }),
  ...more,
});
const report = (more: object = {}): string => {
  const head = JSON.stringify({ app_name: 'Shop', bug_type: '309' });
  const body = {
    procName: 'Shop',
    exception: { type: 'EXC_CRASH', signal: 'SIGABRT' },
    faultingThread: 1,
    threads: [
      { frames: [frame(1, '-[Other wait]')] },
      { triggered: true, frames: [frame(0, '__pthread_kill'), frame(1, '-[Cart total]'), frame(1, 'main')] },
    ],
    usedImages: [
      image('/usr/lib/system/libsystem_kernel.dylib', 4_294_967_296),
      image('/private/var/Shop.app/Shop', 8192),
    ],
    ...more,
  };
  return `${head}\n${JSON.stringify(body, null, 2)}`;
};

describe('Apple crash reports', () => {
  it('are formatted as text, with the crashed thread first', () =>
    expect(formatCrashReport(report())).to.equal(
      [
        'Process: Shop',
        'Exception Type: EXC_CRASH (SIGABRT)',
        '',
        'Thread 1 Crashed:',
        '0   libsystem_kernel.dylib\t0x0000000100001000 __pthread_kill + 44',
        '1   Shop\t0x0000000000003000 -[Cart total] + 44',
        '2   Shop\t0x0000000000003000 main + 44',
        '',
        'Thread 0:',
        '0   Shop\t0x0000000000003000 -[Other wait] + 44',
      ].join('\n'),
    ));

  it('show the frame of the application’s own image, with its source when available', () => {
    expect(findFirstFrame(formatCrashReport(report()))).to.include({ file: 'Shop', function: '-[Cart total]' });
    const frames = [frame(0, 'abort'), frame(1, 'Cart.total()', { sourceFile: 'Cart.swift', sourceLine: 12 })];
    const sourced = formatCrashReport(report({ threads: [{ triggered: true, frames }] }));
    expect(findFirstFrame(sourced)).to.include({ file: 'Cart.swift', line_no: 12 });
  });

  it('list the frames of the exception before those of the thread', () => {
    const exception = formatCrashReport(report({ lastExceptionBacktrace: [frame(0, 'x'), frame(1, '-[List show]')] }));
    expect(findFirstFrame(exception)).to.include({ function: '-[List show]' });
  });

  it('leave any other text unchanged', () => {
    for (const text of [
      '',
      '{',
      '{"usedImages":',
      '{"usedImages":1}',
      'Error: m\n    at f (a.js:1:1)',
      '[{"usedImages":[]}]',
    ])
      expect(formatCrashReport(text)).to.equal(text);
    const odd = { usedImages: [null, 1], threads: [{ triggered: true, frames: [{}, 7, { imageIndex: -1 }] }] };
    expect(formatCrashReport(JSON.stringify(odd))).to.include('Thread 0 Crashed:');
  });
});
