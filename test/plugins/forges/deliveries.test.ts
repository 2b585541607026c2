/**
 * Deliveries of each forge, signed as it signs: what becomes of the items that they name (contract
 * 20, forges).
 */
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import type { Forge } from '../../../plugins/forges/verification.js';
import { PluginStores, type OpenedStore } from '../../support/stores.js';
import { changed, delivery, ForgesFixture, signed } from './fixture.js';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const C = 'c'.repeat(40);

/** What differs between the forges. */
const FORGES: {
  forge: Forge;
  push: string;
  pull: string;
  opened: string;
  merged: string;
  url: string;
  commit: string;
}[] = [
  {
    forge: 'github',
    push: 'push',
    pull: 'pull_request',
    opened: 'github/pull-request-opened',
    merged: 'github/pull-request-merged',
    url: 'https://github.com/acme/shop/pull/42',
    commit: 'https://github.com/acme/shop/commit/',
  },
  {
    forge: 'gitlab',
    push: 'Push Hook',
    pull: 'Merge Request Hook',
    opened: 'gitlab/merge-request-opened',
    merged: 'gitlab/merge-request-merged',
    url: 'https://gitlab.example.com/acme/shop/-/merge_requests/7',
    commit: 'https://gitlab.example.com/acme/shop/-/commit/',
  },
  {
    forge: 'gitea',
    push: 'push',
    pull: 'pull_request',
    opened: 'gitea/pull-request-opened',
    merged: 'gitea/pull-request-merged',
    url: 'https://gitea.example.com/acme/shop/pulls/5',
    commit: 'https://gitea.example.com/acme/shop/commit/',
  },
];

/**
 * A merged request as a squash leaves it: GitLab names the commit apart where nothing was merged
 * besides.
 */
function squashedRequest(merged: string): string {
  if (!merged.startsWith('gitlab')) return delivery(merged);
  const body = JSON.parse(delivery(merged)) as { object_attributes: Record<string, unknown> };
  Object.assign(body.object_attributes, { merge_commit_sha: null, squash_commit_sha: C, squash: true });
  return JSON.stringify(body);
}

const untouched = { status: 'success', resolved: [], commented: [], linked: [], unchanged: [], left_out: 0 };

for (const engine of new PluginStores('forges', []).all) {
  describe(`forges: deliveries (${engine.name})`, function () {
    let opened: OpenedStore;
    let fixture: ForgesFixture;

    beforeEach(async function () {
      opened = await engine.open(() => this.skip());
      fixture = await ForgesFixture.open(opened.store);
    });
    afterEach(async () => {
      await fixture?.stop();
      await opened?.close();
    });

    const resolve = async (ref: string): Promise<void> => {
      expect((await fixture.call('PATCH', ref, { status: 'resolved' })).status).to.equal(200);
    };

    for (const { forge, push, pull, opened: asOpened, merged, url, commit } of FORGES) {
      it(`${forge}: a push to the default branch links commits and resolves the items they fix`, async () => {
        const body = delivery(`${forge}/push`);
        const answer = await fixture.send(forge, push, body);
        expect([answer.status, answer.json]).to.deep.equal([
          200,
          { ...untouched, resolved: ['shop-1'], linked: ['shop-2', 'shop-3'] },
        ]);
        const { item, activity } = await fixture.detail('shop-1');
        expect(item).to.include({ status: 'resolved', fix_commit: B, resolved_in_build: null, pr_url: null });
        expect(item['untrusted_fields']).to.include('fix_commit');
        const linked = activity.find(({ action }) => action === 'linked');
        expect(linked?.actor).to.match(/^(?:ada|Ada Lovelace) \(plugin:forges\)$/);
        expect(linked?.data).to.include({
          kind: 'commit',
          state: 'merged',
          url: commit + B,
          title: 'The total is rounded once',
        });
        expect(linked?.untrusted_fields).to.include('data.title');
        const other = await fixture.detail('shop-2');
        expect(other.item.status).to.equal('open');
        expect(other.activity.find(({ action }) => action === 'linked')?.data).to.include({ commit: A });
        // The forge sends it again.
        const before = await fixture.detail('shop-1');
        const again = await fixture.send(forge, push, body);
        expect(again.json).to.deep.equal({ ...untouched, unchanged: ['shop-1', 'shop-2', 'shop-3'] });
        expect(await fixture.detail('shop-1')).to.deep.equal(before);
      });

      it(`${forge}: a pull request is linked when it opens, and resolves with its merge commit`, async () => {
        const open = await fixture.send(forge, pull, delivery(asOpened));
        expect(open.json).to.deep.equal({ ...untouched, linked: ['shop-1', 'shop-2'] });
        const before = await fixture.detail('shop-1');
        expect(before.item).to.include({ status: 'open', pr_url: url, fix_commit: null });
        expect(before.pull_request).to.include({ url, state: 'open', title: 'Round the total once' });
        const done = await fixture.send(forge, pull, delivery(merged));
        expect(done.json).to.deep.equal({ ...untouched, resolved: ['shop-1'], linked: ['shop-2'] });
        const after = await fixture.detail('shop-1');
        expect(after.item).to.include({ status: 'resolved', pr_url: url, fix_commit: C });
        expect(after.pull_request).to.include({ state: 'merged', commit: C, at: '2026-09-21T14:00:00.000Z' });
        expect(
          after.activity.filter(({ action }) => action === 'linked').map(({ data }) => data['state']),
        ).to.have.members(['open', 'merged']);
        // The older delivery comes once more, late.
        expect((await fixture.send(forge, pull, delivery(asOpened))).json).to.deep.equal({
          ...untouched,
          unchanged: ['shop-1', 'shop-2'],
        });
        expect(await fixture.detail('shop-1')).to.deep.equal(after);
      });
    }

    // A squash makes one new commit of the branch's, and the forge tells of it twice: as a push,
    // and with the request.
    for (const { forge, push, pull, opened: asOpened, merged, url, commit } of FORGES) {
      const squashed = changed(`${forge}/push`, {
        commits: [
          {
            id: C,
            message: 'Round the total once (#42)\n\n* wip\n* Fixes shop-1\n* look at shop-2',
            timestamp: '2026-09-21T14:00:00Z',
            url: commit + C,
            author: { name: 'Ada Lovelace', username: 'ada' },
          },
        ],
      });
      const request = squashedRequest(merged);
      for (const order of ['the request first', 'the push first']) {
        it(`${forge}: a squash merge resolves once, with its own commit, ${order}`, async () => {
          await fixture.send(forge, pull, delivery(asOpened));
          const both = [() => fixture.send(forge, pull, request), () => fixture.send(forge, push, squashed)];
          const [first, second] = order === 'the request first' ? both : both.toReversed();
          expect((await first?.())?.json).to.deep.include({ resolved: ['shop-1'] });
          expect((await second?.())?.json).to.deep.include({ resolved: [], commented: [] });
          const { item, activity, pull_request } = await fixture.detail('shop-1');
          expect(item).to.include({ status: 'resolved', fix_commit: C, pr_url: url });
          expect(pull_request).to.include({ url, state: 'merged', commit: C });
          expect(
            activity.filter(({ action, data }) => action === 'status' && data['to'] === 'resolved'),
          ).to.have.length(1);
          // A person opens it again: neither delivery, sent once more, closes it.
          await fixture.call('PATCH', 'shop-1', { status: 'open' });
          for (const again of both) expect((await again()).json).to.deep.include({ resolved: [] });
          expect((await fixture.detail('shop-1')).item.status).to.equal('open');
        });
      }
    }

    it('resolves only for the default branch, and links for pushes and merges to other branches', async () => {
      const pushed = await fixture.send('github', 'push', delivery('github/push-branch'));
      expect(pushed.json).to.deep.include({ resolved: [], linked: ['shop-2', 'shop-3', 'shop-1'] });
      const merged = changed('github/pull-request-merged', { default_branch: 'trunk' });
      expect((await fixture.send('github', 'pull_request', merged)).json).to.deep.include({ resolved: [] });
      const closed = await fixture.send('github', 'pull_request', delivery('github/pull-request-closed'));
      expect(closed.json).to.deep.include({ resolved: [] });
      expect((await fixture.detail('shop-1')).item.status).to.equal('open');
      // Later the same commits reach the default branch.
      const landed = await fixture.send('github', 'push', delivery('github/push'));
      expect(landed.json).to.deep.include({ resolved: ['shop-1'] });
    });

    it('adds a single comment to an item that an agent holds, without changing its status', async () => {
      const claim = await fixture.call('POST', 'shop-1/claim', { agent: 'fixer' });
      expect(claim.status).to.equal(200);
      const answer = await fixture.send('github', 'push', delivery('github/push'));
      expect(answer.json).to.deep.include({ resolved: [], commented: ['shop-1'] });
      await fixture.send('github', 'push', delivery('github/push'));
      const { item, comments } = await fixture.detail('shop-1');
      expect(item.status).to.equal('in_progress');
      expect(comments.map(({ author }) => author)).to.deep.equal(['ada (plugin:forges)']);
      expect(comments[0]?.body).to.include('fixer holds it').and.include(`commit/${B}`);
      const { claim_token } = claim.json['lease'] as { claim_token: string };
      expect((await fixture.call('PATCH', 'shop-1', { status: 'resolved', claim_token })).status).to.equal(200);
    });

    it('ignores a lease that has expired', async () => {
      await fixture.call('POST', 'shop-1/claim', { agent: 'fixer', lease_seconds: 60 });
      fixture.http.clock.forward(61_000);
      expect((await fixture.send('github', 'push', delivery('github/push'))).json).to.deep.include({
        resolved: ['shop-1'],
      });
    });

    it('leaves the status of closed items unchanged, and ignores a replay after a reopening', async () => {
      await fixture.call('PATCH', 'shop-1', { status: 'wont_fix', reason: 'by design' });
      const answer = await fixture.send('github', 'push', delivery('github/push'));
      expect(answer.json).to.deep.include({ resolved: [], linked: ['shop-1', 'shop-2', 'shop-3'] });
      expect((await fixture.detail('shop-1')).item.status).to.equal('wont_fix');

      const fixes = changed('gitlab/push', { message: 'Fixes shop-2' });
      await resolve('shop-2');
      await fixture.send('gitlab', 'Push Hook', fixes);
      await fixture.call('PATCH', 'shop-2', { status: 'open' });
      expect((await fixture.send('gitlab', 'Push Hook', fixes)).json).to.deep.include({
        resolved: [],
        unchanged: ['shop-2'],
      });
      expect((await fixture.detail('shop-2')).item.status).to.equal('open');
    });

    it('preserves the build that the item waits for', async () => {
      await fixture.call('PATCH', 'shop-1', { resolved_in_build: '1.4.0' });
      await fixture.send('github', 'push', delivery('github/push'));
      expect((await fixture.detail('shop-1')).item).to.include({ status: 'resolved', resolved_in_build: '1.4.0' });
    });

    it('processes at most 50 refs of a delivery, fixed items first', async () => {
      const many = Array.from({ length: 60 }, (_, n) => `shop-${n + 100}`).join(' ');
      const body = changed('github/pull-request-merged', { body: `${many} fixes shop-1` });
      const { json } = await fixture.send('github', 'pull_request', body);
      expect(json).to.deep.include({ resolved: ['shop-1'], linked: [], left_out: 11 });
      expect(json['unchanged']).to.have.length(49);
    });

    it('processes twenty identical concurrent deliveries once', async () => {
      const body = delivery('github/push');
      const answers = await Promise.all(Array.from({ length: 20 }, () => fixture.send('github', 'push', body)));
      const resolved = answers.filter(({ json }) => (json['resolved'] as string[]).length > 0);
      expect(resolved).to.have.length(1);
      const { activity } = await fixture.detail('shop-1');
      expect(activity.filter(({ action }) => action === 'linked')).to.have.length(1);
    });
  });
}

describe('forges: verification of deliveries', function () {
  let fixture: ForgesFixture;
  before(async () => {
    fixture = await ForgesFixture.open();
  });
  after(() => fixture.stop());

  const body = delivery('github/push');
  const rejected = async (forge: Forge, headers: Record<string, string>, project = 'shop'): Promise<void> => {
    const { status, json } = await fixture.send(forge, 'push', body, { headers, project });
    expect([status, json.error?.code], JSON.stringify(headers)).to.deep.equal([401, 'unauthorized']);
  };

  it('returns 401 for a missing signature or one of another secret, body, forge or project', async () => {
    const { secret } = fixture;
    for (const forge of ['github', 'gitlab', 'gitea'] as const) {
      await rejected(forge, { 'x-github-event': 'push', 'x-gitea-event': 'push' });
      await rejected(forge, signed(forge, 'push', body, 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='));
      await rejected(forge, signed(forge, 'push', body, secret), 'nowhere');
    }
    await rejected('github', signed('github', 'push', `${body} `, secret));
    await rejected('gitea', signed('gitea', 'push', `${body} `, secret));
    await rejected('github', signed('gitea', 'push', body, secret));
    await rejected('github', { ...signed('github', 'push', body, secret), 'x-hub-signature-256': 'sha256=' });
  });

  it('accepts GitLab’s signing token for five minutes', async () => {
    const gitlab = delivery('gitlab/push');
    const seconds = Math.floor(fixture.http.clock.now() / 1000);
    const headersAt = (timestamp: number): Record<string, string> => {
      const key = Buffer.from(fixture.secret.slice('whsec_'.length), 'base64');
      const made = createHmac('sha256', key).update(`id-1.${timestamp}.${gitlab}`).digest('base64');
      return {
        'webhook-id': 'id-1',
        'webhook-timestamp': String(timestamp),
        'webhook-signature': `v1,AAAA v1,${made}`,
      };
    };
    for (const [at, status] of [
      [seconds - 301, 401],
      [seconds + 301, 401],
      [seconds - 290, 200],
    ] as const) {
      const answer = await fixture.send('gitlab', 'Push Hook', gitlab, { headers: headersAt(at) });
      expect(answer.status, String(at - seconds)).to.equal(status);
    }
  });

  it('returns 413 over 1 MiB before reading, and 400 for invalid JSON with a valid signature only', async () => {
    const large = 'x'.repeat(1_048_577);
    expect((await fixture.send('github', 'push', large)).status).to.equal(413);
    const { status, json } = await fixture.send('github', 'push', 'payload=%7B%7D');
    expect([status, json.error?.code]).to.deep.equal([400, 'invalid_json']);
    expect((await fixture.send('github', 'push', 'payload=%7B%7D', { headers: {} })).status).to.equal(401);
  });

  it('responds to pings, other events and malformed bodies without changing anything', async () => {
    expect((await fixture.send('github', 'ping', delivery('github/ping'))).json).to.deep.equal(untouched);
    const odd = ['[]', 'null', '7', '{"commits":{}}', '{"ref":7,"commits":[null,1,{"id":"x","message":[]}]}'];
    for (const forge of ['github', 'gitlab', 'gitea'] as const)
      for (const event of ['push', 'pull_request', 'constructor'])
        for (const text of odd) expect((await fixture.send(forge, event, text)).json).to.deep.equal(untouched);
  });

  it('hides a URL that is not http(s) and a title with a live token', async () => {
    const hostile = changed('github/pull-request-opened', { html_url: 'javascript:alert(1)' });
    expect((await fixture.send('github', 'pull_request', hostile)).json).to.deep.equal(untouched);
    const reported = changed('github/push', { message: `${fixture.manage} see shop-3`, url: 'file:///etc/passwd' });
    expect((await fixture.send('github', 'push', reported)).json).to.deep.include({ linked: ['shop-3'] });
    const { activity } = await fixture.detail('shop-3');
    expect(activity.find(({ data }) => data['commit'] === B)?.data).to.include({ title: null, url: null });
    expect(JSON.stringify(activity)).to.not.include(fixture.manage);
  });
});

describe('forges: the webhook secret', function () {
  let fixture: ForgesFixture;
  before(async () => {
    fixture = await ForgesFixture.open();
  });
  after(() => fixture.stop());
  const PATH = '/api/projects/v1/projects/shop/forge-secret';

  it('requires projects:manage and bugtracker:manage, is shown once, and stored encrypted', async () => {
    const { http } = fixture;
    expect((await http.api('POST', PATH, await http.token(['projects:read']))).status).to.equal(403);
    expect((await http.api('POST', PATH, await http.token(['projects:manage'], 'other'))).status).to.equal(403);
    // The secret resolves items, which the token may not.
    expect((await http.api('POST', PATH, await http.token(['projects:manage', 'bugtracker:read']))).status).to.equal(
      403,
    );
    const admin = await http.token(['projects:manage', 'bugtracker:manage']);
    expect((await http.api('POST', PATH.replace('shop', 'none'), admin)).status).to.equal(404);
    const { status, json, headers } = await http.api('POST', PATH, admin);
    expect([status, headers['cache-control']]).to.deep.equal([201, 'no-store']);
    expect(json['forge_secret']).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(json['addresses']).to.deep.equal({
      github: 'http://aos.test/api/bugtracker/v1/forges/github/shop',
      gitlab: 'http://aos.test/api/bugtracker/v1/forges/gitlab/shop',
      gitea: 'http://aos.test/api/bugtracker/v1/forges/gitea/shop',
    });
    // The one from before is worth nothing.
    const body = delivery('github/push');
    expect((await fixture.send('github', 'push', body)).status).to.equal(401);
    fixture.secret = json['forge_secret'] as string;
    expect((await fixture.send('github', 'push', body)).status).to.equal(200);
    const rows = (await http.harness.store.collection('forges_secrets').find()).items;
    expect(JSON.stringify(rows)).to.not.include(fixture.secret);
  });

  it('is not inherited by a project that reuses the slug of a deleted one', async () => {
    const { http } = fixture;
    const admin = await http.token(['projects:manage', 'bugtracker:manage']);
    await http.api('POST', '/api/projects/v1/projects', admin, { slug: 'old' });
    const { json } = await http.api('POST', PATH.replace('shop', 'old'), admin);
    fixture.secret = json['forge_secret'] as string;
    expect((await fixture.send('github', 'ping', '{}', { project: 'old' })).status).to.equal(200);
    expect((await http.api('DELETE', '/api/projects/v1/projects/old', admin)).status).to.equal(200);
    await http.api('POST', '/api/projects/v1/projects', admin, { slug: 'old' });
    expect((await fixture.send('github', 'ping', '{}', { project: 'old' })).status).to.equal(401);
  });

  it('is shown once on the project page, with the URLs', async () => {
    const browser = await fixture.http.signedIn();
    const page = await browser.get('/projects/shop/settings');
    expect(page.text).to.include('http://aos.test/api/bugtracker/v1/forges/gitlab/shop');
    const made = await browser.shown(await browser.post('/projects/shop/forge-secret', {}, '/projects/shop/settings'));
    const secret = /whsec_[A-Za-z0-9+/&;#x]+=?/.exec(made.text)?.[0];
    expect(secret).to.be.a('string');
    expect((await browser.get('/projects/shop/settings')).text).to.not.include(secret);
  });
});
