import { expect } from 'chai';
import search from '../../../plugins/search/plugin.js';
import { SearchService } from '../../../plugins/search/search-service.js';
import { definePlugin, extend, Redirect, type PageSpec } from '../../../kernel/contract/index.js';
import type { SessionPrincipal } from '../../../ports/http/index.js';
import { SEARCH_PROVIDERS, type SearchProvider, type SearchQuery } from '../../../ports/domain/search.js';
import { boot, type TestService } from '../../kit/boot.js';
import { RecordingLog } from '../../kit/fakes.js';

const provider = (label: string, more: Partial<SearchProvider> = {}): SearchProvider => ({
  label,
  icon: 'tag',
  order: 10,
  role: 'member',
  find: async ({ text, limit }) =>
    Array.from({ length: limit }, (_, i) => ({
      title: `${text} ${i} <b>bold</b>`,
      href: `/${label}/${i}`,
      state: 'open',
    })),
  ...more,
});
const nobody: SessionPrincipal = { kind: 'session', session_id: 's', account_id: 'a', username: 'ann', role: 'member' };

describe('search: the page', () => {
  let service: TestService;
  let requested: SearchQuery[];
  before(async () => {
    const things = definePlugin({
      id: 'things',
      version: '1.0.0',
      api: 1,
      title: 'Things',
      extends: [SEARCH_PROVIDERS.point],
      setup: () => ({
        extensions: [
          extend(
            SEARCH_PROVIDERS,
            provider('Things', {
              find: async (question) => {
                requested.push(question);
                return provider('Things').find(question);
              },
              findExact: async ({ text }) => (text === 'thing-1' ? '/things/1' : null),
              getListHref: (text) => `/things?q=${encodeURIComponent(text)}`,
            }),
          ),
          extend(SEARCH_PROVIDERS, provider('Secrets', { role: 'admin', order: 5 })),
          extend(SEARCH_PROVIDERS, provider('Broken', { find: () => Promise.reject(new Error('no')) })),
        ],
      }),
    });
    service = await boot([search, things]);
  });
  after(() => service.stop());
  beforeEach(() => (requested = []));

  it('shows results by kind, escaped, with a link to all of them', async () => {
    const { status, text } = await service.request('GET', '/search?q=%3Ci%3E', { as: 'member' });
    expect(status).to.equal(200);
    expect(text).to.include('&lt;i&gt; 19 &lt;b&gt;bold').and.not.include('<b>bold');
    expect(text).to.not.include('&lt;i&gt; 20 ');
    expect(text).to.match(/href="\/things\?q(=|&#x3D;)%3Ci%3E"/);
    expect(text).to.include('Broken: no results in time');
    expect(text).to.not.include('Secrets');
    expect((await service.request('GET', '/search?q=x', { as: 'admin' })).text).to.include('Secrets');
  });

  it('redirects to an exact match', async () => {
    const { status, headers } = await service.request('GET', '/search?q=+thing-1+', { as: 'member' });
    expect([status, headers['location']]).to.deep.equal([303, '/things/1']);
  });

  it('queries no source for an empty text, and rejects a text that is too long', async () => {
    expect((await service.request('GET', '/search', { as: 'member' })).status).to.equal(200);
    expect((await service.request('GET', '/search?q=+', { as: 'member' })).status).to.equal(200);
    expect((await service.request('GET', `/search?q=${'x'.repeat(201)}`, { as: 'member' })).status).to.equal(400);
    expect(requested).to.deep.equal([]);
    await service.request('GET', '/search?q=One++two+ONE', { as: 'member' });
    expect(requested[0]).to.deep.include({ text: 'One  two ONE', words: ['one', 'two'] });
  });

  it('returns suggestions as JSON to signed-in users, five per kind', async () => {
    const { status, headers, body } = await service.request('GET', '/search/live?q=thing-1', { as: 'member' });
    expect([status, headers['cache-control']]).to.deep.equal([200, 'no-store']);
    const { exact, kinds, missing } = body as {
      exact: string;
      kinds: { label: string; hits: object[] }[];
      missing: string[];
    };
    expect(exact).to.equal('/things/1');
    expect(kinds.map(({ label, hits }) => [label, hits.length])).to.deep.equal([['Things', 5]]);
    expect(missing).to.deep.equal(['Broken']);
    const stranger = await service.request('GET', '/search/live?q=a', { headers: { accept: 'application/json' } });
    expect(stranger.status).to.equal(401);
    expect((await service.request('GET', '/search?q=a')).status).to.equal(303);
  });
});

describe('search: commands', () => {
  const admin: SessionPrincipal = { ...nobody, role: 'admin' };
  const things = ['web-1', 'web-10', 'queue'];
  const acting = provider('Monitors', {
    find: async () => [],
    acts: [
      { verb: 'New', also: ['add'], noun: 'monitor', nouns: ['heartbeat'], href: '/monitors/new' },
      { verb: 'New', noun: 'user', href: '/users', role: 'admin' },
      {
        verb: 'Silence',
        also: ['mute'],
        on: async ({ text }) =>
          things.filter((one) => one.startsWith(text)).map((title) => ({ title, href: `/monitors/${title}#silence` })),
      },
    ],
  });
  const search = new SearchService(() => [acting], new RecordingLog());
  const found = async (text: string, who = nobody): Promise<string[]> => {
    const { kinds } = await search.find(text, who, 5);
    return kinds.flatMap(({ label, hits }) => hits.map(({ title }) => `${label}: ${title}`));
  };

  it('are found by verb, synonym or prefix, and by object', async () => {
    for (const text of ['new monitor', 'New MONITOR', 'add heart', 'ne mon'])
      expect(await found(text), text).to.deep.equal(['Actions: New monitor']);
    for (const text of ['silence web-1', 'mute web-1', 'sil web-1'])
      expect(await found(text), text).to.deep.equal(['Actions: Silence web-1', 'Actions: Silence web-10']);
    expect(await found('n monitor'), 'one letter is no verb').to.deep.equal([]);
    expect(await found('silence'), 'nothing is named').to.deep.equal([]);
    expect(await found('silence database')).to.deep.equal([]);
  });

  it('are offered only to users with permission', async () => {
    expect(await found('new')).to.deep.equal(['Actions: New monitor']);
    expect(await found('new', admin)).to.deep.equal(['Actions: New monitor', 'Actions: New user']);
    expect(await found('new user')).to.deep.equal([]);
  });

  it('open the form of a single match, and list several', async () => {
    const act = async (text: string, who = nobody): Promise<string | null> => (await search.find(text, who, 5)).act;
    expect(await act('silence web-1')).to.equal('/monitors/web-1#silence');
    expect(await act('mute queue')).to.equal('/monitors/queue#silence');
    expect(await act('silence web')).to.equal(null);
    expect(await act('new monitor')).to.equal('/monitors/new');
    expect(await act('new', admin)).to.equal(null);
    expect(await act('new'), 'a word alone is a search').to.equal(null);
  });
});

describe('search: pages', () => {
  let service: TestService;
  before(async () => {
    const page = (path: string, label: string, role: 'member' | 'admin', also?: string[]): PageSpec => ({
      path,
      title: label,
      nav: { section: 'work', label, icon: 'tag', order: 10, ...(also && { also }) },
      access: { session: role },
      handle: () => new Redirect('/search'),
    });
    const things = definePlugin({
      id: 'things',
      version: '1.0.0',
      api: 1,
      title: 'Things',
      from: new URL('../../../plugins/search/plugin.js', import.meta.url).href,
      setup: () => ({
        pages: [
          page('/things', 'Things', 'member', ['objects', 'spare parts']),
          page('/vault', 'Vault', 'admin', ['objects']),
        ],
      }),
    });
    service = await boot([search, things]);
  });
  after(() => service.stop());

  const found = async (q: string, as: 'member' | 'admin'): Promise<string[]> => {
    const { body } = await service.request('GET', `/search/live?q=${encodeURIComponent(q)}`, { as });
    const { kinds } = body as { kinds: { label: string; hits: { href: string }[] }[] };
    return kinds.flatMap(({ label, hits }) => hits.map(({ href }) => `${label} ${href}`));
  };

  it('are found by prefixes of their label and aliases, for users with access', async () => {
    expect(await found('THIN', 'member')).to.deep.equal(['Pages /things']);
    expect(await found('objects', 'member')).to.deep.equal(['Pages /things']);
    expect(await found('objects', 'admin')).to.deep.equal(['Pages /things', 'Pages /vault']);
    expect(await found('parts spare', 'member')).to.deep.equal(['Pages /things']);
    expect(await found('objects else', 'member')).to.deep.equal([]);
    expect(await found('hings', 'member')).to.deep.equal([]);
  });
});

describe('search: timeouts', () => {
  it('skips a slow source, reports it as missing, and aborts it', async () => {
    const signals: AbortSignal[] = [];
    const slow = provider('Slow', {
      find: ({ signal }) => {
        signals.push(signal);
        return new Promise(() => undefined);
      },
    });
    const found = await new SearchService(() => [slow, provider('Quick', { order: 1 })], new RecordingLog(), 20).find(
      'x',
      nobody,
      3,
    );
    expect(found.missing).to.deep.equal(['Slow']);
    expect(found.kinds.map(({ label, hits, more }) => [label, hits.length, more])).to.deep.equal([['Quick', 3, null]]);
    expect(signals[0]?.aborted).to.equal(true);
  });
});
