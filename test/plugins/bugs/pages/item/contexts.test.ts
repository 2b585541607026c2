/**
 * Threads, contexts and breadcrumbs of an occurrence as the page shows them, whatever was reported.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { buildTimeline } from '../../../../../plugins/bugs/pages/item/breadcrumb-timeline.js';
import { buildContextTables } from '../../../../../plugins/bugs/pages/item/context-tables.js';
import { buildOccurrenceRow } from '../../../../../plugins/bugs/pages/item/occurrences-section.js';
import { buildThreadViews } from '../../../../../plugins/bugs/pages/item/thread-views.js';
import type { Item } from '../../../../../ports/domain/bugs.js';
import type { Json } from '../../../../../ports/store/index.js';
import { render } from '../../../../web/templates.js';

const AT = '2026-11-20T08:15:30.000Z';
const ITEM = { tags: [], stack_trace: null, error_message: null } as unknown as Item;
const OCCURRENCE = {
  id: '1',
  occurred_at: AT,
  received_at: AT,
  error_message: null,
  error_level: 'error',
  stack_trace: null,
  file_path: null,
  line_no: null,
  commit_sha: null,
  client_ref: null,
  tags: [],
  context: null,
  breadcrumbs: null,
};
const shown = (context: Json, breadcrumbs: Json = null): string =>
  render('{{> bugs/occurrence o}}', { o: buildOccurrenceRow({ ...OCCURRENCE, context, breadcrumbs }, ITEM) });

describe('bugs: pages: details of an occurrence', () => {
  it('shows contexts as tables in a stable order', () => {
    const tables = buildContextTables({
      transaction: '/cart',
      sdk: 'sentry.python 2.1',
      frames: [1],
      request: { url: 'x' },
      extra: { cart: { lines: [1] } },
      user: { id: '7' },
      contexts: {
        shop: { plan: 'pro', type: 'shop' },
        trace: { trace_id: 'abc', type: 'trace' },
        os: { name: 'Linux', type: 'os' },
        device: { model: 'X1', empty: null },
        empty: { type: 'empty' },
      },
    });
    expect(tables.map(({ name }) => name)).to.deep.equal([
      'Event',
      'Device',
      'Operating system',
      'Trace',
      'User',
      'shop',
      'Extra',
    ]);
    expect(tables[0]?.rows).to.deep.equal([
      { name: 'transaction', value: '/cart' },
      { name: 'sdk', value: 'sentry.python 2.1' },
    ]);
    expect(tables[1]?.rows).to.deep.equal([{ name: 'model', value: 'X1' }]);
  });

  it('shows the crashed thread first and expanded, other threads folded', () => {
    const stack = '    at run (a.js:1:2)';
    const threads = buildThreadViews({
      threads: [
        { id: '1', name: 'main', main: true, stack },
        { id: '2', name: 'worker', crashed: true, current: true, state: 'RUNNABLE', locks: 2 },
        'none',
      ],
    });
    expect(threads.map(({ name, states }) => [name, states])).to.deep.equal([
      ['worker (2)', ['crashed', 'runnable', 'holds 2 locks']],
      ['main (1)', ['main']],
    ]);
    const html = shown({
      threads: [
        { id: 7, stack, crashed: true },
        { id: 8, stack },
      ],
    });
    expect(html.match(/<details class="thread" open>/g)).to.have.length(1);
    expect(html.match(/<details class="thread"/g)).to.have.length(2);
    expect(html).to.include('2 threads').and.include('Thread 7');
  });

  it('shows kind, level and time before the error for breadcrumbs', () => {
    const crumb = (type: string, category: string, more: object = {}): Json => ({
      type,
      category,
      timestamp: '2026-11-20T08:15:27.000Z',
      message: 'm',
      ...more,
    });
    const crumbs = buildTimeline(
      [
        crumb('navigation', 'navigation'),
        crumb('http', 'httplib'),
        crumb('query', 'db.sql.query'),
        crumb('default', 'query'),
        crumb('user', 'ui.click'),
        crumb('default', 'console', { level: 'error' }),
        crumb('debug', 'x'),
      ],
      AT,
    );
    expect(crumbs.map(({ kind }) => kind)).to.deep.equal([
      'navigation',
      'request',
      'query',
      'query',
      'user',
      'console',
      'console',
    ]);
    expect(crumbs[5]).to.include({ level: 'error', icon: 'alert', before: '3.0 s before' });
  });

  it('shows only the newest hundred of 10,000 breadcrumbs', () => {
    const crumbs = buildTimeline(
      Array.from({ length: 10_000 }, (_, i) => ({ message: `n${i}` })),
      AT,
    );
    expect(crumbs).to.have.length(100);
    expect(crumbs.at(-1)?.message).to.equal('n9999');
  });

  it('folds a long value and shows its length', () => {
    const html = shown({ extra: { long: `${'x'.repeat(399)}🎉${'y'.repeat(5000)}` } });
    expect(html).to.include('5,401 characters').and.include('<details class="tree-long">');
    expect(html).to.not.match(/[\ud800-\udbff](?![\udc00-\udfff])/);
  });

  it('escapes all reported text', () => {
    const planted = '"><script>alert(1)</script><img src=x onerror=alert(1)>';
    const hostile = {
      [planted]: planted,
      request: {
        url: `https://h.example/${planted}`,
        method: planted,
        headers: { [planted]: planted, 'X-A': planted },
        data: { [planted]: planted },
      },
      threads: [{ id: planted, name: planted, state: planted, crashed: true, stack: `    at ${planted} (a.js:1:1)` }],
      contexts: { [planted]: { [planted]: planted }, trace: planted },
      extra: { [planted]: [planted] },
    };
    const html = shown(hostile, [{ category: planted, type: planted, message: planted, data: { [planted]: planted } }]);
    expect(html).to.not.match(/<script|<img|onerror=alert\(1\)>/i);
    expect(html).to.include('&lt;script&gt;');
  });

  it('renders any JSON without errors', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.jsonValue({ maxDepth: 4 }), (value, other) => {
        const context = { request: value, threads: value, contexts: value, user: other, frames: other, locals: value };
        const html = shown(context, [value, other]);
        expect(html).to.include('occurrence-when');
      }),
      { numRuns: 150 },
    );
  });
});
