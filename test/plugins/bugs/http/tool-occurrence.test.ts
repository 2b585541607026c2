/** What an agent reads of an occurrence: little, and nothing that it needs is left out. */
import { expect } from 'chai';
import { formatClaim } from '../../../../plugins/bugs/http/tool-answers.js';
import { formatOccurrence } from '../../../../plugins/bugs/http/tool-occurrence.js';

const SDK = { source: 'sdk' };
const steps = (breadcrumbs: unknown[]): unknown => formatOccurrence({ breadcrumbs }, SDK)['breadcrumbs'];

describe('bugs: occurrences for agents', () => {
  it('shows breadcrumbs as lines, newest first, and collapses equal consecutive steps', () => {
    const at = (second: number): number => Date.UTC(2026, 10, 25, 12, 0, second) / 1000;
    expect(
      steps([
        { timestamp: at(1), category: 'ui.click', level: 'info', message: 'button#pay' },
        { timestamp: at(2), category: 'ui.click', level: 'info', message: 'button#pay' },
        { timestamp: '2026-11-25T12:00:03Z', type: 'http', level: 'error', data: { url: '/pay', status_code: 500 } },
        { message: 'bare', extra: [1] },
        'a text',
        7,
        null,
      ]),
    ).to.equal(
      [
        'null',
        '7',
        'a text',
        'bare {extra: [1]}',
        '12:00:03 http error {url: /pay, status_code: 500}',
        '12:00:02 ui.click button#pay ×2',
      ].join('\n'),
    );
    for (const timestamp of [-1, Number.NaN, 1e300, {}, 'yesterday'])
      expect(steps([{ timestamp, message: 'x' }])).to.equal('x');
    expect(formatOccurrence({ breadcrumbs: [] }, SDK)).to.deep.equal({ breadcrumbs: [] });
    expect(formatOccurrence({ breadcrumbs: null, host: 'web-1' }, SDK)).to.deep.equal({
      breadcrumbs: null,
      host: 'web-1',
    });
  });

  it('includes contexts set by the application, without ids and measurements', () => {
    const contexts = {
      trace: { trace_id: 'a' },
      culture: { locale: 'en' },
      runtime: { name: 'node', version: 'v20' },
      device: { arch: 'x64', model: 'Pixel 7', free_memory: 5, boot_time: 'x', processor_count: 2 },
      app: { app_start_time: 'x', app_memory: 7 },
      basket: { items: 3, free_memory: 'mine' },
    };
    expect(formatOccurrence({ context: { transaction: 'GET /', contexts } }, SDK)).to.deep.equal({
      context: {
        transaction: 'GET /',
        contexts: {
          runtime: { name: 'node', version: 'v20' },
          device: { arch: 'x64', model: 'Pixel 7' },
          basket: { items: 3, free_memory: 'mine' },
        },
      },
    });
    const own = { context: { order: 7 }, client_ref: 'TICKET-1' };
    expect(formatOccurrence(own, { source: 'agent' })).to.deep.equal(own);
    expect(formatOccurrence(own, SDK)).to.deep.equal({ context: { order: 7 } });
  });

  it('shows callers next to the failing lines with their values, without repeating lines', () => {
    const source = { 1: 'function rate(table) {', 2: '  return table.x.rate;', 3: '}', 4: 'rate(tables[0]);' };
    const frame = { filename: 'src/a.ts', function: 'run', lineno: 4, source, locals: { tables: '[]' } };
    const far = { ...frame, filename: 'src/b.ts', function: 'main' };
    const { crash } = formatClaim({
      item: { file_path: 'src/a.ts', line_no: 2 },
      occurrence: { file_path: 'src/a.ts', line_no: 2, context: { source, frames: [frame, far] } },
    }) as { crash: { source: string; callers: string } };
    expect(crash.source).to.include('> 2    return table.x.rate;');
    expect(crash.callers.split('\n')).to.deep.equal([
      'src/a.ts:4 run',
      'tables: []',
      'src/b.ts:4 main',
      '  2    return table.x.rate;',
      '  3  }',
      '> 4  rate(tables[0]);',
      'tables: []',
    ]);
  });
});
