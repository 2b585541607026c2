/** /errors: groups, filters, escaping (contract 80). */
import { expect } from 'chai';
import type { View } from '../../../kernel/contract/index.js';
import { buildErrorPages, type ErrorPageDeps } from '../../../plugins/errorstream/pages.js';
import type { ErrorGroup, ErrorGroupQuery } from '../../../ports/domain/bugs.js';
import { buildFirstErrorCommand } from '../../../plugins/errorstream/first-error.js';
import type { SessionPrincipal } from '../../../ports/http/index.js';
import { renderFile } from '../../web/templates.js';
import { fakeClock, request, session } from '../health/fakes.js';

const MEMBER = session('member') as SessionPrincipal;
const HOSTILE = '<script>alert(1)</script>';

const group = (fields: Partial<ErrorGroup> = {}): ErrorGroup =>
  ({
    ref: 'shop-1',
    type: 'error',
    title: 'CartError: cart is empty',
    exception_class: 'shop.CartError',
    error_level: 'fatal',
    severity: 'critical',
    status: 'open',
    environment: 'production',
    file_path: 'src/cart.ts',
    line_no: 12,
    hit_count: 1234,
    hour_count: 7,
    last_seen_at: '2026-11-20T08:00:00.000Z',
    muted: false,
    muted_reason: null,
    regression: true,
    claim: null,
    trend: [0, 2, 5],
    ...fields,
  }) as ErrorGroup;

interface Asked {
  deps: ErrorPageDeps;
  queries: ErrorGroupQuery[];
}

function standing(items: ErrorGroup[]): Asked {
  const queries: ErrorGroupQuery[] = [];
  const deps: ErrorPageDeps = {
    groups: {
      list: async (query) => {
        queries.push(query);
        return { items, next: items.length > 1 ? 'next-page' : null };
      },
      count: async () => 1234,
      getFilterCounts: async () => ({ error_level: { fatal: 1_000_000, error: 2 }, status: {}, project: {} }),
      getTraffic: async () => ({ from: 0, step: 600_000, counts: [], total: 0, users: 0 }),
      listChanges: async () => ({ items: [], mark: '2026-11-20T08:15:20.123Z' }),
    },
    projects: { list: async () => [] },
    clock: fakeClock(),
    baseUrl: () => 'http://aos.test/',
  };
  return { deps, queries };
}

async function shown({ deps }: Asked, given: Record<string, unknown> = {}): Promise<string> {
  const spec = buildErrorPages(deps)[0];
  const { value, error } = spec?.input?.query?.validate(given) ?? {};
  if (error) throw error;
  const query = value as Record<string, unknown>;
  const view = (await spec?.handle(request(MEMBER, { query }))) as View;
  return renderFile(`plugins/errorstream/views/${view.template}.hbs`, { ...view.context, path: '/errors', query });
}

describe('errorstream: pages', () => {
  it('links each row to the form that mutes its group, with a single quick-mute form', async () => {
    const html = await shown(standing([group(), group({ ref: 'shop-2' }), group({ ref: 'shop-3', muted: true })]));
    const leads = [...html.matchAll(/href="([^"]+)" data-opens="mute"/g)].map(([, href]) => href);
    expect(leads.map((href) => href?.replace('&#x3D;', '='))).to.deep.equal([
      '/ignore-rules/new?like=shop-1',
      '/ignore-rules/new?like=shop-2',
    ]);
    expect(html.match(/action="\/bugs\/mute"/g)).to.have.length(1);
    expect(html).to.include('24 hours').and.include('>More…</a>');
  });

  it('explains how to report the first error when there are no groups', async () => {
    const html = await shown(standing([]));
    expect(html).to.include('No errors yet').and.include('http://aos.test/api/errors/v1/report');
    expect(buildFirstErrorCommand('http://aos.test/')).to.not.include('test//api');
    expect(html.match(/<h1/g)).to.have.length(1);
  });

  it('shows level, class, hits and trend, and links to the item', async () => {
    const html = await shown(standing([group()]));
    for (const text of ['href="/bugs/shop-1"', 'fatal', 'shop.CartError', 'src/cart.ts:12', '1,234', 'class="spark"']) {
      expect(html, text).to.include(text);
    }
    expect(html).to.include('regression').and.include('1 error<');
  });

  it('hides muted groups unless requested', async () => {
    const requested = standing([]);
    await shown(requested);
    await shown(requested, { muted: 'true' });
    await shown(requested, { muted: 'any' });
    expect(requested.queries.map(({ muted }) => muted)).to.deep.equal([[false], [true], undefined]);
  });

  it('passes on the filters, without empty ones', async () => {
    const requested = standing([]);
    await shown(requested, {
      project: ['shop'],
      environment: ['dev'],
      error_level: ['fatal'],
      status: ['open', 'in_progress'],
      regression: 'true',
      q: 'x',
      sort: 'hit_count',
    });
    const empty = { project: [''], environment: [''], error_level: [''], status: [''], regression: '' };
    await shown(requested, { ...empty, q: '', sort: '', cursor: '' });
    expect(requested.queries[0]).to.deep.equal({
      project: ['shop'],
      environment: ['dev'],
      error_level: ['fatal'],
      status: ['open', 'in_progress'],
      regression: [true],
      muted: [false],
      q: 'x',
      sort: 'hit_count',
      cursor: null,
    });
    const set = Object.values(requested.queries[1] ?? {}).filter(
      (value) => value !== undefined && String(value) !== '',
    );
    expect(set).to.deep.equal([[false], null]);
    const error = buildErrorPages(requested.deps)[0]?.input?.query?.validate({ error_level: ['debug'] }).error;
    expect(error).to.not.equal(undefined);
  });

  it('tabs preserve the other filters and drop the cursor, and further pages are linked', async () => {
    const html = await shown(standing([group(), group({ ref: 'shop-2' })]), { project: ['shop'], cursor: 'abc' });
    expect(html).to.match(
      /href="\/errors\?project&#x3D;shop&amp;muted&#x3D;true"|href="\/errors\?project=shop&amp;muted=true"/,
    );
    expect(html).to.include('2 of 1,234 errors').and.include('rel="next"');
  });

  it('escapes reported text', async () => {
    const outside = { title: HOSTILE, exception_class: HOSTILE, environment: HOSTILE, file_path: HOSTILE };
    const html = await shown(standing([group({ ...outside, muted: true, muted_reason: HOSTILE })]), { q: HOSTILE });
    expect(html).to.include('&lt;script&gt;').and.not.include('<script');
  });
});
