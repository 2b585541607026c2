/** Tokens: checking, revoking, provisioning (contract 10, tokens). */
import 'reflect-metadata';
import { expect } from 'chai';
import { scrubTokens } from '../../../../lib/text/scrub-tokens.js';
import { extend } from '../../../../kernel/contract/index.js';
import { findLiveTokenFields } from '../../../../ports/domain/live-tokens.js';
import { TOKEN_PROJECTS } from '../../../../ports/domain/tokens.js';
import { refused } from '../refused.js';
import { PASSWORD, services, SCOPES, sha256, SHARED_KEY, fixtureOn, type Fixture } from '../fixture.js';
import type { AccessServices } from '../../../../plugins/access/services.js';
import { provisionToken } from '../../../../plugins/access/tokens/provision.js';
import { createTokenSearch } from '../../../../plugins/access/pages/search.js';
import { createSearchQuery } from '../../../support/search-query.js';
import type { TokenDoc } from '../../../../plugins/access/model/token.js';
import type { TokenPrincipal } from '../../../../ports/http/index.js';

const DAY_MS = 86_400_000;

async function principal(s: AccessServices, token: string): Promise<TokenPrincipal> {
  const found = await s.authenticator.authenticateBearer(token);
  if (found?.kind !== 'token') throw new Error('not a live token');
  return found;
}

describe('access: tokens', () => {
  let w: Fixture;
  let s: AccessServices;

  const master = async (scopes = ['bugtracker:manage', 'watchdog:ping'], more: object = {}) =>
    s.tokens.issue({ kind: 'master', name: 'ci', scopes, created_by: 'admin', ...more });

  beforeEach(async () => {
    w = await fixtureOn();
    w.added.push(
      extend(TOKEN_PROJECTS, {
        has: async (slug) => slug === 'shop',
        listOptions: async () => [{ value: 'shop', label: 'Online shop' }],
      }),
    );
    s = await services(w);
  });

  afterEach(() => s.background.waitUntilIdle());

  it('finds tokens by full secret or by shown prefix', async () => {
    const made = await master();
    await s.tokens.issue({ kind: 'master', name: 'ci 2', scopes: [], created_by: 'admin' });
    const search = createTokenSearch(s.tokens, () => w.clock.iso());
    const prefix = made.token.slice(0, 12);
    const hit = { title: 'ci', href: '/tokens?kind=master', detail: `master · ${prefix}…`, state: null };
    for (const text of ['ci', prefix]) expect(await search.find(createSearchQuery(text))).to.deep.equal([hit]);
    expect(await search.find(createSearchQuery(made.token))).to.deep.equal([]);
    await s.tokens.revoke(made.id);
    expect(await search.find(createSearchQuery('ci'))).to.deep.equal([{ ...hit, state: 'revoked' }]);
    expect(search.role).to.equal('admin');
  });

  it('stores only the SHA-256 of the secret', async () => {
    const { id, token } = await master();
    expect(token).to.match(/^svc_live_[0-9A-Za-z]{43}$/);
    const doc = await w.store.collection<TokenDoc>('access_tokens').get(sha256(token));
    expect(doc).to.include({ token_id: id, prefix: token.slice(0, 12), kind: 'master', revoked_at: null });
    expect(JSON.stringify(doc)).not.to.include(token);
  });

  it('detects a token in text, also split by invisible characters', async () => {
    const { token } = await master();
    for (const mark of ['', '\u200b', '\u200d', '\u00ad', '\u202e', '\ufe0f', '\u{e0041}', '\u0001']) {
      const divided = Array.from(token).join(mark);
      expect(await s.liveTokens.hasLiveToken(`see ${divided}.`), JSON.stringify(mark)).to.equal(true);
      const wrong = await findLiveTokenFields(s.liveTokens, { body: divided, tags: ['a', divided], title: 'fine' });
      expect(wrong).to.have.keys('body', 'tags');
    }
    expect(await s.liveTokens.hasLiveToken(token.slice(0, -1))).to.equal(false);
  });

  it('detects a token in full-width letters and across line breaks', async () => {
    const { token } = await master();
    const at = (base: number, from: string) => (c: string) =>
      String.fromCodePoint(base + c.charCodeAt(0) - from.charCodeAt(0));
    const shaped = (upper: number, lower: number, digit: number): string =>
      token.replace(/[A-Z]/g, at(upper, 'A')).replace(/[a-z]/g, at(lower, 'a')).replace(/[0-9]/g, at(digit, '0'));
    const forms = [
      shaped(0x1d400, 0x1d41a, 0x1d7ce), // mathematical bold
      shaped(0x1d5a0, 0x1d5ba, 0x1d7e2), // sans-serif
      shaped(0x1d670, 0x1d68a, 0x1d7f6), // monospace
      shaped(0x24b6, 0x24d0, 0x30), // circled
      shaped(0xff21, 0xff41, 0xff10).replaceAll('_', '\uff3f'), // full-width
      ...['\n', '\r\n', '\n> ', '  \n\t| ', '\u2028'].map((end) => `${token.slice(0, 20)}${end}${token.slice(20)}`),
      `${token.slice(0, 12)}\n${token.slice(12, 30)}\n${token.slice(30)}`,
    ];
    for (const form of forms) {
      const text = `see\n${form}\nand go on`;
      expect(await s.liveTokens.hasLiveToken(text), JSON.stringify(form)).to.equal(true);
      expect(await findLiveTokenFields(s.liveTokens, { body: text }), JSON.stringify(form)).to.have.keys('body');
      expect(scrubTokens(text), JSON.stringify(form)).to.include('[scrubbed]');
    }
    for (const text of ['a\nb', 'one line\nof 𝐛𝐨𝐥𝐝 words'])
      expect([await s.liveTokens.hasLiveToken(text), scrubTokens(text)]).to.deep.equal([false, text]);
  });

  it('uses a separate prefix for every kind', async () => {
    const shapes = {
      master: 'svc_live_',
      sub: 'svc_sub_',
      watchdog: 'wd_live_',
      setup: 'svc_setup_',
      intake: 'svc_in_',
    } as const;
    for (const [kind, prefix] of Object.entries(shapes)) {
      const made = await s.tokens.issue({
        kind: kind as keyof typeof shapes,
        name: 'x',
        scopes: [],
        source: 'web-1',
        created_by: 'admin',
      });
      expect(made.token).to.match(new RegExp(`^${prefix}[0-9A-Za-z]{43}$`));
      expect(await principal(s, made.token)).to.include({ token_kind: kind });
    }
  });

  it('returns null for an unknown, malformed or empty credential', async () => {
    await master();
    for (const secret of [`svc_live_${'a'.repeat(43)}`, 'svc_live_short', 'Bearer x', '', '__proto__']) {
      expect(await s.authenticator.authenticateBearer(secret), secret).to.equal(null);
    }
  });

  it('accepts the shared key, and never an empty one', async () => {
    expect(await s.authenticator.authenticateBearer(SHARED_KEY)).to.deep.equal({ kind: 'shared_key' });
    expect(await s.authenticator.authenticateBearer(`${SHARED_KEY} `)).to.equal(null);
    const { AccessAuthenticator } = await import('../../../../plugins/access/sessions/authenticator.js');
    const { cipher } = await import('../fixture.js');
    const open = new AccessAuthenticator({ shared_key: '' }, cipher, s.tokens, s.sessions, s.security);
    expect(await open.authenticateBearer('')).to.equal(null);
  });

  it('checks expiry at every use, to the millisecond', async () => {
    const { token } = await master(['watchdog:ping'], { expires_in_seconds: 60 });
    w.clock.forward(59_999);
    expect(await s.authenticator.authenticateBearer(token)).to.include({ kind: 'token' });
    w.clock.forward(1);
    expect(await s.authenticator.authenticateBearer(token)).to.equal(null);
  });

  it('revokes sub-tokens with their master immediately, also in another process', async () => {
    const other = await services(w);
    const { id, token } = await master();
    const sub = await provisionToken(s, await principal(s, token), { name: 'agent' });
    expect(await principal(other, sub.token)).to.include({ id: sub.id });
    expect(await s.tokens.revoke(id)).to.equal(true);
    for (const process of [s, other]) {
      expect(await process.authenticator.authenticateBearer(token)).to.equal(null);
      expect(await process.authenticator.authenticateBearer(sub.token)).to.equal(null);
    }
    expect((await s.tokens.find(sub.id))?.revoked_at).to.equal(w.clock.iso());
  });

  it('rejects a sub-token of a deleted master, and one created during the revocation', async () => {
    const first = await master();
    const sub = await provisionToken(s, await principal(s, first.token), { name: 'agent' });
    const parent = await s.tokens.findDoc(first.id);
    await s.tokens.revoke(first.id);
    const late = await s.tokens.issueChild(parent as TokenDoc, {
      kind: 'sub',
      name: 'late',
      scopes: [],
      expires_in_seconds: 60,
      created_by: 'x',
    });
    expect(await s.authenticator.authenticateBearer(late.token)).to.equal(null);
    await s.tokens.remove(first.id);
    expect(await s.tokens.find(first.id)).to.equal(null);
    expect(await s.authenticator.authenticateBearer(sub.token)).to.equal(null);
  });

  it('writes last_used_at at most once a minute across all processes', async () => {
    const { id, token } = await master();
    const other = await services(w);
    const used = async (): Promise<string | null | undefined> => {
      await Promise.all([s.background.waitUntilIdle(), other.background.waitUntilIdle()]);
      return (await s.tokens.find(id))?.last_used_at;
    };
    const first = w.clock.iso();
    await s.authenticator.authenticateBearer(token);
    expect(await used()).to.equal(first);
    w.clock.forward(59_000);
    await s.authenticator.authenticateBearer(token);
    await other.authenticator.authenticateBearer(token);
    expect(await used()).to.equal(first);
    w.clock.forward(1000);
    await other.authenticator.authenticateBearer(token);
    expect(await used()).to.equal(w.clock.iso());
  });

  it('writes last_used_at within a minute after the clock ran ahead', async () => {
    const { id, token } = await master();
    const used = async (by = s): Promise<string | null | undefined> => {
      await by.authenticator.authenticateBearer(token);
      await by.background.waitUntilIdle();
      return (await by.tokens.find(id))?.last_used_at;
    };
    w.clock.put(3 * 3_600_000);
    expect(await used()).to.equal(w.clock.iso());
    w.clock.put(-3 * 3_600_000);
    const other = await services(w);
    expect(await used(other)).to.equal(w.clock.iso());
    w.clock.forward(60_000);
    expect(await used()).to.equal(w.clock.iso());
  });

  it('revokes setup tokens when sessions end: password, role, disabling, deletion', async () => {
    const ends: ((id: string) => Promise<unknown>)[] = [
      (id) => s.accounts.setPassword('system', id, 'another-harbour-lantern'),
      (id) => s.accounts.setRole('system', id, 'member'),
      (id) => s.accounts.setDisabled('system', id, true),
      (id) => s.accounts.remove('system', id),
    ];
    for (const [i, end] of ends.entries()) {
      const { id } = await s.accounts.create('system', { username: `ada${i}`, role: 'installer', password: PASSWORD });
      const { epoch } = await s.accounts.getAccount(id);
      const issued = { kind: 'setup', name: 'setup', scopes: ['setup:install'], created_by: `ada${i}` } as const;
      const { token } = await s.tokens.issue({ ...issued, account: { id, epoch } });
      expect((await principal(s, token)).account).to.deep.equal({ id, username: `ada${i}`, role: 'installer' });
      await end(id);
      expect(await s.authenticator.authenticateBearer(token)).to.equal(null);
    }
  });

  it('revokes every token of a monitor source', async () => {
    const made = await s.tokens.issue({
      kind: 'watchdog',
      name: 'm',
      scopes: ['watchdog:ping'],
      source: 'web-1',
      created_by: 'x',
    });
    const kept = await s.tokens.issue({
      kind: 'watchdog',
      name: 'm',
      scopes: ['watchdog:ping'],
      source: 'web-2',
      created_by: 'x',
    });
    expect(await s.tokens.revokeBySource('web-1')).to.equal(1);
    expect(await s.authenticator.authenticateBearer(made.token)).to.equal(null);
    expect(await principal(s, kept.token)).to.include({ source: 'web-2' });
  });

  describe('provisioning', () => {
    it('grants all scopes of the master for 24 hours by default', async () => {
      const { token } = await master();
      const made = await provisionToken(s, await principal(s, token), { name: 'agent' });
      expect(made).to.have.all.keys('token', 'id', 'scopes', 'expires_at');
      expect(made.token).to.match(/^svc_sub_/);
      expect(made.scopes).to.deep.equal(['bugtracker:manage', 'watchdog:ping']);
      expect(Date.parse(made.expires_at) - w.clock.now()).to.equal(DAY_MS);
    });

    it('treats implied read scopes as granted to the master', async () => {
      const { token } = await master();
      const made = await provisionToken(s, await principal(s, token), { name: 'reader', scopes: ['bugtracker:read'] });
      expect(made.scopes).to.deep.equal(['bugtracker:read']);
    });

    it('returns 403 for a scope that the master lacks and 422 for an unregistered scope', async () => {
      const own = await principal(s, (await master()).token);
      expect(await refused(provisionToken(s, own, { name: 'a', scopes: ['license:manage'] }))).to.include({
        status: 403,
        code: 'insufficient_scope',
      });
      const unknown = await refused(provisionToken(s, own, { name: 'a', scopes: ['bugtracker:report2'] }));
      expect(unknown).to.include({ status: 422, code: 'validation_failed' });
      expect(unknown.fields).to.have.property('scopes');
    });

    it('limits the lifetime to that of the master', async () => {
      const { token, expires_at } = await master(['watchdog:ping'], { expires_in_seconds: 3600 });
      const made = await provisionToken(s, await principal(s, token), { name: 'a', expires_in_seconds: 7200 });
      expect(made.expires_at).to.equal(expires_at);
    });

    it('charges rate limits of a sub-token to its parent', async () => {
      const { id, token } = await master();
      const own = await principal(s, token);
      expect(own).to.include({ parent_id: null });
      expect(await principal(s, (await provisionToken(s, own, { name: 'a' })).token)).to.include({ parent_id: id });
    });

    it('allows at most 1,000 live sub-tokens, also in parallel, ignoring expired ones', async function () {
      const own = await principal(s, (await master()).token);
      const one = () => provisionToken(s, own, { name: 'a', expires_in_seconds: 60 });
      for (let i = 0; i < 990; i++) await one();
      const outcomes = await Promise.allSettled(Array.from({ length: 25 }, one));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.lengthOf(10);
      expect(await refused(one())).to.include({ status: 409, code: 'conflict' });
      const other = await principal(s, (await master()).token);
      expect((await provisionToken(s, other, { name: 'b' })).token).to.match(/^svc_sub_/);
      w.clock.forward(61_000);
      expect((await one()).token).to.match(/^svc_sub_/);
    });

    it('returns 403 for every other kind of token', async () => {
      for (const kind of ['sub', 'watchdog', 'setup', 'intake'] as const) {
        const { token } = await s.tokens.issue({ kind, name: 'x', scopes: SCOPES, source: 'a', created_by: 'x' });
        const error = await refused(provisionToken(s, await principal(s, token), { name: 'a' }));
        expect(error, kind).to.include({ status: 403, code: 'insufficient_scope' });
      }
      expect(await refused(provisionToken(s, { kind: 'shared_key' }, { name: 'a' }))).to.include({ status: 403 });
    });

    it('inherits the project, and returns 403 for another and 422 for a missing project', async () => {
      const bound = await principal(s, (await master(['watchdog:ping'], { project: 'shop' })).token);
      const made = await provisionToken(s, bound, { name: 'a' });
      expect(await principal(s, made.token)).to.include({ project: 'shop' });
      expect(await refused(provisionToken(s, bound, { name: 'a', project: 'blog' }))).to.include({
        code: 'insufficient_scope',
      });
      const free = await principal(s, (await master()).token);
      expect(await principal(s, (await provisionToken(s, free, { name: 'a', project: 'shop' })).token)).to.include({
        project: 'shop',
      });
      expect(await refused(provisionToken(s, free, { name: 'a', project: 'blog' }))).to.include({
        status: 422,
        code: 'unknown_project',
      });
    });

    it('returns 401 when the master is revoked between authentication and the call', async () => {
      const { id, token } = await master();
      const own = await principal(s, token);
      await s.tokens.revoke(id);
      expect(await refused(provisionToken(s, own, { name: 'a' }))).to.include({ status: 401, code: 'unauthorized' });
    });
  });

  describe('master tokens', () => {
    it('creates a wd_live_ token for a source, limited to watchdog:ping', async () => {
      const input = { name: 'web', scopes: ['watchdog:ping'], source: 'web-1', created_by: 'admin' };
      const { token, record } = await s.masters.create('command line', input);
      expect(token).to.match(/^wd_live_/);
      expect(record).to.include({ kind: 'watchdog', source: 'web-1' });
      const error = await refused(
        s.masters.create('command line', { ...input, scopes: ['watchdog:ping', 'license:read'] }),
      );
      expect(error).to.include({ status: 422, code: 'validation_failed' });
      expect(error.fields).to.have.property('scopes');
    });

    it('reports every invalid field', async () => {
      const error = await refused(
        s.masters.create('system', { name: ' ', scopes: [], expires_in_seconds: 0, source: 'a b', created_by: 'x' }),
      );
      expect(error.fields).to.have.all.keys('name', 'scopes', 'expires_in_seconds', 'source');
    });

    it('audits creation, revocation and deletion, and returns 404 for an unknown id', async () => {
      const { record } = await s.masters.create('command line', {
        name: 'ci',
        scopes: ['license:read'],
        created_by: 'x',
      });
      await s.masters.revoke('command line', record.id);
      await s.masters.remove('system', record.id);
      const { items } = await s.audit.listRecent(10);
      expect(items.map(({ action }) => action)).to.have.members(['token.created', 'token.revoked', 'token.deleted']);
      expect(items.every(({ target }) => target === `ci (${record.prefix})`)).to.equal(true);
      expect(await refused(s.masters.revoke('system', record.id))).to.include({ status: 404, code: 'not_found' });
    });
  });

  it('records a token actor in the audit log by its prefix, and names other actors', async () => {
    const { token } = await master();
    const actors = [await principal(s, token), { kind: 'shared_key' }, 'command line', 'system'] as const;
    for (const actor of actors) await s.audit.record(actor, 'thing.done', 'x', { n: 1 });
    const { items } = await s.audit.listRecent(10);
    expect(items.map(({ actor }) => actor)).to.have.members([
      `token ci (${token.slice(0, 12)})`,
      'shared key',
      'command line',
      'system',
    ]);
    expect(items[0]).to.deep.include({ action: 'thing.done', target: 'x', details: { n: 1 }, at: w.clock.iso() });
    const first = await s.audit.listRecent(3);
    const rest = await s.audit.listRecent(3, first.next);
    expect(rest.items).to.have.length(1);
    expect(rest.next).to.equal(null);
  });

  it('deletes sub-tokens that ended long ago, but no master tokens', async () => {
    const kept = await master(['watchdog:ping'], { expires_in_seconds: 10 });
    const sub = await s.tokens.issue({ kind: 'sub', name: 's', scopes: [], expires_in_seconds: 10, created_by: 'x' });
    w.clock.forward(60_000);
    expect(await s.tokens.sweep(w.clock.iso())).to.equal(1);
    expect(await s.tokens.find(sub.id)).to.equal(null);
    expect(await s.tokens.find(kept.id)).not.to.equal(null);
  });
});
