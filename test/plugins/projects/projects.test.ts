/** Projects: the API, archiving, intake keys, pages (contract 15). */
import 'reflect-metadata';
import { expect } from 'chai';
import { buildDsn } from '../../../plugins/projects/project.js';
import { PASSWORD, SHARED_KEY } from '../access/fixture.js';
import { refused } from '../access/refused.js';
import { HttpFixture, type Answer } from '../access/http-fixture.js';

const BASE = '/api/projects/v1/projects';

interface Shown {
  slug: string;
  name: string;
  number: number;
  archived: boolean;
}

describe('projects', function () {
  let fixture: HttpFixture;
  let manage: string;

  const call = (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path = '',
    body?: object,
    bearer: string | null = manage,
  ): Promise<Answer> => fixture.api(method, `${BASE}${path}`, bearer, body);
  const create = async (slug: string): Promise<Shown> => (await call('POST', '', { slug })).json['project'] as Shown;
  const outcome = ({ status, json }: Answer): [number, string | undefined] => [status, json.error?.code];

  beforeEach(async () => {
    fixture = await HttpFixture.open();
    manage = await fixture.token(['projects:manage']);
  });

  afterEach(() => fixture.stop());

  it('creates a project with the defaults of the contract', async () => {
    const answer = await call('POST', '', { slug: 'shop', unknown_field: 1 });
    expect(answer.status).to.equal(201);
    expect(answer.json).to.deep.equal({
      status: 'success',
      project: {
        slug: 'shop',
        name: 'shop',
        description: null,
        repo_url: null,
        number: 1,
        setup_scopes: ['bugtracker:report'],
        cache_ttl_hours: 72,
        require_signed: false,
        archived: false,
        created_at: fixture.clock.iso(),
        updated_at: fixture.clock.iso(),
      },
      warnings: ['unknown_field is no field of this call'],
    });
  });

  it('returns 409 for an existing slug, and creates only one of parallel requests', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => call('POST', '', { slug: 'shop' })));
    expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expect(outcome(answer)).to.deep.equal([409, 'conflict']);
  });

  it('assigns every project a unique number, also in parallel, and never reuses it', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, (_, i) => create(`p-${i}`)));
    expect(new Set(made.map(({ number }) => number)).size).to.equal(20);
    const [last] = made.sort((a, b) => b.number - a.number);
    await call('DELETE', `/${last?.slug}`);
    expect((await create(last?.slug ?? '')).number).to.be.greaterThan(last?.number ?? 0);
  });

  const bad: [string, object, string][] = [
    ['no slug', {}, 'slug'],
    ['upper case', { slug: 'Shop' }, 'slug'],
    ['a leading dash', { slug: '-shop' }, 'slug'],
    ['a long slug', { slug: 'a'.repeat(65) }, 'slug'],
    ['a slash', { slug: 'a/b' }, 'slug'],
    ['a system directory', { slug: 'systemd' }, 'slug'],
    ['a directory of drop-ins', { slug: 'profile.d' }, 'slug'],
    ['an unknown scope', { slug: 'shop', setup_scopes: ['x:y'] }, 'setup_scopes'],
    ['setup:install for applications', { slug: 'shop', setup_scopes: ['setup:install'] }, 'setup_scopes'],
    ['a negative cache', { slug: 'shop', cache_ttl_hours: -1 }, 'cache_ttl_hours'],
    ['a name of two lines', { slug: 'shop', name: 'a\nb' }, 'name'],
  ];
  for (const [what, body, field] of bad) {
    it(`returns 422 for ${what}, and creates nothing`, async () => {
      const answer = await call('POST', '', body);
      expect(outcome(answer)).to.deep.equal([422, 'validation_failed']);
      expect(answer.json.error?.fields).to.have.property(field);
      expect((await call('GET')).json['items']).to.deep.equal([]);
    });
  }

  it('rejects setup_scopes beyond the scopes of the caller’s token', async () => {
    const token = await fixture.token(['projects:manage', 'license:manage']);
    const ask = (method: 'POST' | 'PATCH', path: string, body: object): Promise<Answer> =>
      call(method, path, body, token);
    const beyond = ['license:read', 'updateservice:publish'];
    const refusal = [403, 'insufficient_scope'];
    expect(outcome(await ask('POST', '', { slug: 'shop', setup_scopes: beyond }))).to.deep.equal(refusal);
    expect((await call('GET')).json['items']).to.deep.equal([]);
    const own = ['bugtracker:report', 'license:read', 'projects:read'];
    expect((await ask('POST', '', { slug: 'shop', setup_scopes: own })).status).to.equal(201);
    expect(outcome(await ask('PATCH', '/shop', { name: 'x', setup_scopes: beyond }))).to.deep.equal(refusal);
    expect((await call('GET', '/shop')).json['project']).to.deep.include({ name: 'shop', setup_scopes: own });
    // What an administrator has given stays when it is sent back, and can be taken away.
    const admin = await fixture.signedIn();
    const form = { name: 'Shop', cache_ttl_hours: '72', setup_scopes: ['license:manage', 'updateservice:publish'] };
    expect((await admin.post('/projects/shop/edit', form, '/projects/shop')).status).to.equal(303);
    const kept = await ask('PATCH', '/shop', { setup_scopes: ['updateservice:publish'] });
    expect(kept.json['project']).to.deep.include({ setup_scopes: ['updateservice:publish'] });
  });

  it('accepts code paths and version tags through the API and the form', async () => {
    await create('shop');
    const path_roots = [{ from: '/srv/app/', to: 'src/' }];
    const code = { path_roots, tag_format: 'v{version}' };
    expect((await call('PATCH', '/shop', code)).json['project']).to.deep.include(code);
    for (const wrong of [{ tag_format: 'v1' }, { path_roots: [{ from: '', to: 'src/' }] }])
      expect((await call('PATCH', '/shop', wrong)).status, JSON.stringify(wrong)).to.equal(422);
    const admin = await fixture.signedIn();
    expect((await admin.get('/projects/shop/edit')).text).to.include('/srv/app/ → src/');
    const form = { name: 'Shop', cache_ttl_hours: '72', tag_format: '', setup_scopes: [] };
    const lines = { path_roots: ' /srv/app/ → src/\r\n\r\n/opt/web -> web/ \r\n/up =>' };
    expect((await admin.post('/projects/shop/edit', { ...form, ...lines }, '/projects/shop/edit')).status).to.equal(
      303,
    );
    expect((await call('GET', '/shop')).json['project']).to.deep.include({
      path_roots: [...path_roots, { from: '/opt/web', to: 'web/' }, { from: '/up', to: '' }],
      tag_format: null,
    });
  });

  it('updates only the given fields', async () => {
    await create('shop');
    fixture.clock.forward(1000);
    const answer = await call('PATCH', '/shop', {
      name: 'Shop',
      repo_url: 'https://git.test/shop',
      require_signed: true,
      slug: 'shop',
      number: 9,
    });
    expect(answer.status).to.equal(200);
    expect(answer.json['project']).to.include({
      slug: 'shop',
      number: 1,
      name: 'Shop',
      repo_url: 'https://git.test/shop',
      require_signed: true,
    });
    for (const repo_url of [
      'javascript:alert(1)',
      'JavaScript://git.test/%0aalert(1)',
      'data:text/html,x',
      'file:///etc',
    ]) {
      const { status, json } = await call('PATCH', '/shop', { repo_url });
      expect(status, repo_url).to.equal(422);
      expect(json.error, repo_url).to.deep.include({ code: 'validation_failed' });
      expect(json.error?.fields, repo_url).to.have.all.keys('repo_url');
    }
    for (const repo_url of [
      'git@git.test:shop.git',
      'ssh://git@git.test:22/shop',
      'git.test:shop',
      '/srv/git/shop',
      'shop',
    ])
      expect((await call('PATCH', '/shop', { repo_url })).json['project'], repo_url).to.include({ repo_url });
    expect((await call('PATCH', '/shop', { repo_url: null, description: '' })).json['project']).to.include({
      repo_url: null,
      description: null,
      name: 'Shop',
    });
    expect(outcome(await call('PATCH', '/shop', { name: '' }))).to.deep.equal([422, 'validation_failed']);
    const renamed = await call('PATCH', '/shop', { slug: 'other', name: 'Renamed' });
    expect([outcome(renamed), renamed.json.error?.fields]).to.deep.equal([
      [422, 'validation_failed'],
      { slug: 'cannot be changed: create another project' },
    ]);
    expect((await call('GET', '/shop')).json['project']).to.include({ slug: 'shop', name: 'Shop' });
    expect(outcome(await call('PATCH', '/nope', { name: 'x' }))).to.deep.equal([404, 'not_found']);
  });

  it('pages by slug with total and filter, and returns 400 for unknown parameters', async () => {
    for (const slug of ['c', 'a', 'b']) await create(slug);
    await call('POST', '/b/archive');
    const first = await call('GET', '?limit=2&include_total=true');
    expect((first.json['items'] as Shown[]).map(({ slug }) => slug)).to.deep.equal(['a', 'b']);
    expect(first.json).to.include({ has_more: true, total: 3 });
    const second = await call('GET', `?limit=2&cursor=${String(first.json['next_cursor'])}`);
    expect((second.json['items'] as Shown[]).map(({ slug }) => slug)).to.deep.equal(['c']);
    expect(second.json).to.include({ has_more: false, next_cursor: null });
    expect(((await call('GET', '?archived=true')).json['items'] as Shown[]).map(({ slug }) => slug)).to.deep.equal([
      'b',
    ]);
    expect(outcome(await call('GET', '?nope=1'))).to.deep.equal([400, 'invalid_request']);
    expect(outcome(await call('GET', '?limit=201'))).to.deep.equal([400, 'invalid_request']);
    expect(outcome(await call('GET', '?cursor=abc'))).to.deep.equal([400, 'invalid_cursor']);
  });

  it('requires projects:read to read and projects:manage to change', async () => {
    await create('shop');
    const read = await fixture.token(['projects:read']);
    expect((await call('GET', '/shop', undefined, read)).status).to.equal(200);
    expect((await call('GET', '/shop/intake-keys', undefined, read)).status).to.equal(200);
    for (const [method, path, body] of [
      ['POST', '', { slug: 'x' }],
      ['PATCH', '/shop', {}],
      ['POST', '/shop/archive', {}],
      ['POST', '/shop/intake-keys', {}],
      ['DELETE', '/shop', undefined],
    ] as const) {
      expect(outcome(await call(method, path, body, read)), `${method} ${path}`).to.deep.equal([
        403,
        'insufficient_scope',
      ]);
    }
    expect(outcome(await call('GET', '', undefined, await fixture.token(['license:manage'])))).to.deep.equal([
      403,
      'insufficient_scope',
    ]);
    expect(outcome(await call('GET', '', undefined, SHARED_KEY))).to.deep.equal([403, 'insufficient_scope']);
    expect(outcome(await call('GET', '', undefined, null))).to.deep.equal([401, 'unauthorized']);
  });

  it('shows a project-bound token only its project', async () => {
    await create('shop');
    await create('blog');
    const bound = await fixture.token(['projects:manage'], 'shop');
    expect(
      ((await call('GET', '?include_total=true', undefined, bound)).json['items'] as Shown[]).map(({ slug }) => slug),
    ).to.deep.equal(['shop']);
    expect((await call('GET', '/shop', undefined, bound)).status).to.equal(200);
    expect((await call('PATCH', '/shop', { name: 'S' }, bound)).status).to.equal(200);
    for (const [method, path, body] of [
      ['GET', '/blog', undefined],
      ['GET', '/nope', undefined],
      ['PATCH', '/blog', { name: 'x' }],
      ['POST', '/blog/archive', {}],
      ['GET', '/blog/intake-keys', undefined],
      ['POST', '/blog/intake-keys', {}],
      ['DELETE', '/blog', undefined],
      ['POST', '', { slug: 'third' }],
    ] as const) {
      expect(outcome(await call(method, path, body, bound)), `${method} ${path}`).to.deep.equal([
        403,
        'insufficient_scope',
      ]);
    }
  });

  describe('archiving and deleting', () => {
    it('rejects reports and publishes while the project is archived', async () => {
      await create('shop');
      expect(await fixture.parts.projects.requireAccepting('shop', 'reports')).to.include({ slug: 'shop', number: 1 });
      expect((await call('POST', '/shop/archive')).json['project']).to.include({ archived: true });
      expect((await call('POST', '/shop/archive', {})).json['project']).to.include({ archived: true });
      expect(await refused(fixture.parts.projects.requireAccepting('shop', 'reports'))).to.include({
        status: 422,
        code: 'unknown_project',
      });
      expect(await fixture.parts.projects.get('shop')).to.include({ archived: true });
      expect((await call('POST', '/shop/unarchive')).json['project']).to.include({ archived: false });
      expect(await fixture.parts.projects.requireAccepting('shop', 'reports')).to.include({ archived: false });
      expect(await refused(fixture.parts.projects.requireAccepting('nope', 'reports'))).to.include({
        status: 422,
        code: 'unknown_project',
      });
      expect(outcome(await call('POST', '/nope/archive'))).to.deep.equal([404, 'not_found']);
    });

    it('returns a clear error at the field of the call', async () => {
      await create('shop');
      await call('POST', '/shop/archive');
      for (const [what, field] of [
        ['reports', 'project'],
        ['installations', 'project'],
        ['releases', 'product'],
        ['licenses', 'product'],
      ] as const) {
        const archived = await refused(fixture.parts.projects.requireAccepting('shop', what));
        expect(archived.message).to.equal(`The project shop is archived and does not accept ${what}.`);
        expect(archived.fields).to.deep.equal({ [field]: `is archived and does not accept ${what}` });
        const unknown = await refused(fixture.parts.projects.requireAccepting('nope', what));
        expect(unknown.message).to.equal('Project nope not found.');
        expect(unknown.fields).to.deep.equal({ [field]: 'is not the slug of a project' });
      }
    });

    it('deletes an unused project with its intake keys', async () => {
      await create('shop');
      const { key } = (await call('POST', '/shop/intake-keys')).json as unknown as { key: string };
      expect((await call('DELETE', '/shop')).json).to.deep.equal({ status: 'success', deleted: true });
      expect(outcome(await call('GET', '/shop'))).to.deep.equal([404, 'not_found']);
      expect(outcome(await call('DELETE', '/shop'))).to.deep.equal([404, 'not_found']);
      expect((await fixture.api('GET', '/api/tokens/v1/self', key)).status).to.equal(401);
    });

    it('returns 409 for a project in use and leaves it unchanged', async () => {
      await create('shop');
      await create('old');
      await call('POST', '/old/archive');
      fixture.parts.uses['releases'] = async () => false;
      fixture.parts.uses['bug items'] = async (slug) => slug !== 'free';
      const answer = await call('DELETE', '/shop');
      expect(outcome(answer)).to.deep.equal([409, 'conflict']);
      expect(answer.json.error?.message).to.include('bug items').and.not.include('releases');
      expect((await call('GET', '/shop')).json['project']).to.include({ archived: false });
      expect((await call('DELETE', '/old')).status).to.equal(409);
      expect((await call('GET', '/old')).json['project']).to.include({ archived: true });
    });

    it('archives the project while its usage is checked', async () => {
      await create('shop');
      let during: boolean | undefined;
      fixture.parts.uses['items'] = async (slug) => {
        during = (await fixture.parts.projects.get(slug))?.archived;
        return false;
      };
      await call('DELETE', '/shop');
      expect(during).to.equal(true);
    });
  });

  describe('intake keys', () => {
    it('are shown once with their DSN, and grant only reporting', async () => {
      await create('shop');
      const answer = await call('POST', '/shop/intake-keys', { name: 'web' });
      expect(answer.status).to.equal(201);
      expect(answer.json).to.have.all.keys('status', 'id', 'key', 'dsn');
      const { id, key, dsn: shown } = answer.json as unknown as { id: string; key: string; dsn: string };
      expect(key).to.match(/^svc_in_[0-9A-Za-z]{43}$/);
      expect(shown).to.equal(`http://${key}@aos.test/1`);
      const list = await call('GET', '/shop/intake-keys');
      expect(list.text).not.to.include(key);
      expect(list.json['items']).to.have.length(1);
      expect((list.json['items'] as object[])[0]).to.include({
        id,
        name: 'web',
        prefix: key.slice(0, 12),
        revoked_at: null,
      });
      for (const path of ['/api/tokens/v1/self', BASE, `${BASE}/shop`]) {
        expect((await fixture.api('GET', path, key)).status, path).to.equal(403);
      }
      expect(await fixture.parts.tokens.find(id)).to.include({ kind: 'intake', project: 'shop', expires_at: null });
    });

    it('can be revoked only through their project', async () => {
      await create('shop');
      await create('blog');
      const { id, key } = (await call('POST', '/shop/intake-keys')).json as unknown as { id: string; key: string };
      expect(outcome(await call('DELETE', `/blog/intake-keys/${id}`))).to.deep.equal([404, 'not_found']);
      expect((await fixture.api('GET', '/api/tokens/v1/self', key)).status).to.equal(403);
      expect((await call('DELETE', `/shop/intake-keys/${id}`)).json).to.deep.equal({
        status: 'success',
        deleted: true,
      });
      expect((await fixture.api('GET', '/api/tokens/v1/self', key)).status).to.equal(401);
      expect(outcome(await call('POST', '/nope/intake-keys'))).to.deep.equal([404, 'not_found']);
    });

    it('cannot be used to revoke any other token', async () => {
      await create('shop');
      const bound = await fixture.parts.tokens.issue({
        kind: 'master',
        name: 'm',
        scopes: [],
        project: 'shop',
        created_by: 'x',
      });
      expect(outcome(await call('DELETE', `/shop/intake-keys/${bound.id}`))).to.deep.equal([404, 'not_found']);
    });

    it('have a DSN with scheme, port and path of the base URL', () => {
      expect(buildDsn('https://aos.example.org', 'k', 7)).to.equal('https://k@aos.example.org/7');
      expect(buildDsn('http://127.0.0.1:8080/', 'k', 7)).to.equal('http://k@127.0.0.1:8080/7');
      expect(buildDsn('https://ops.example.org/aos', 'k', 7)).to.equal('https://k@ops.example.org/aos/7');
    });
  });

  it('finds a project by number', async () => {
    const { number } = await create('shop');
    expect(await fixture.parts.projects.findByNumber(number)).to.include({ slug: 'shop' });
    expect(await fixture.parts.projects.findByNumber(99)).to.equal(null);
    expect(await fixture.parts.projects.get('__proto__')).to.equal(null);
  });

  describe('pages', () => {
    it('create, edit, archive and delete a project, and create and revoke a key', async () => {
      const admin = await fixture.signedIn();
      expect((await admin.get('/projects')).text).to.include('aos project create shop');
      const bad = await admin.post(
        '/projects',
        { slug: 'Bad Slug', name: 'x', cache_ttl_hours: '72' },
        '/projects/new',
      );
      expect(bad.status).to.equal(422);
      expect(bad.text).to.include('value="Bad Slug"');
      const form = {
        slug: 'shop',
        name: 'Shop <1>',
        cache_ttl_hours: '24',
        setup_scopes: ['license:read', 'projects:read'],
        require_signed: 'true',
      };
      const made = await admin.post('/projects', form, '/projects/new');
      expect([made.status, made.headers['location']]).to.deep.equal([303, '/projects/shop']);
      expect((await call('GET', '/shop')).json['project']).to.deep.include({
        cache_ttl_hours: 24,
        require_signed: true,
        setup_scopes: form.setup_scopes,
      });
      expect((await admin.get('/projects/shop')).text).to.include('Shop &lt;1&gt;');
      expect((await admin.post('/projects', form, '/projects/new')).status).to.equal(409);
      expect((await admin.post('/projects/shop/edit', { name: 'Shop', cache_ttl_hours: '72' })).status).to.equal(303);
      expect((await call('GET', '/shop')).json['project']).to.deep.include({
        name: 'Shop',
        require_signed: false,
        setup_scopes: [],
      });

      const key = await admin.shown(await admin.post('/projects/shop/intake-keys', { name: 'web' }, '/projects/shop'));
      const secret = /svc_in_[0-9A-Za-z]{43}/.exec(key.text)?.[0] ?? '';
      expect(key.text).to.include(`http://${secret}@aos.test/1`);
      const page = await admin.get('/projects/shop/settings');
      expect(page.text).not.to.include(secret);
      expect((await admin.get('/projects/shop')).text)
        .to.include('aria-label="Shop"')
        .and.not.include('INTAKE_KEY');
      const revoke = /\/projects\/shop\/intake-keys\/[0-9a-f-]{36}\/revoke/.exec(page.text)?.[0] ?? '';
      expect((await admin.post(revoke, {}, '/projects/shop')).status).to.equal(303);
      expect((await fixture.api('GET', '/api/tokens/v1/self', secret)).status).to.equal(401);

      expect((await admin.post('/projects/shop/archive', {}, '/projects/shop')).status).to.equal(303);
      expect((await admin.post('/projects/shop/unarchive', {}, '/projects/shop')).status).to.equal(303);
      expect((await admin.post('/projects/shop/delete', {}, '/projects/shop')).headers['location']).to.equal(
        '/projects',
      );
      expect((await admin.get('/projects/shop')).status).to.equal(404);
      const { items } = await fixture.parts.audit.listRecent(20);
      expect(items.map(({ action }) => action)).to.include.members([
        'project.created',
        'project.changed',
        'project.archived',
        'project.unarchived',
        'project.deleted',
        'intake_key.created',
        'intake_key.revoked',
      ]);
      const changeOf = (name: string) => {
        const { before, after } = items.find(({ action }) => action === name) ?? {};
        return { before, after };
      };
      expect(changeOf('intake_key.created')).to.deep.equal({ before: { key: null }, after: { key: 'set' } });
      expect(changeOf('intake_key.revoked')).to.deep.equal({ before: { key: 'set' }, after: { key: null } });
    });

    it('create a project by its name alone, with a free slug', async () => {
      const admin = await fixture.signedIn();
      for (const slug of ['web-shop', 'web-shop-2']) {
        const made = await admin.post('/projects', { name: 'Web Shop' }, '/projects/new');
        expect([made.status, made.headers['location']]).to.deep.equal([303, `/projects/${slug}`]);
      }
      const unnamed = await admin.post('/projects', { name: ' ' }, '/projects/new');
      expect(unnamed.status).to.equal(422);
      expect(unnamed.text)
        .to.include('aria-invalid="true"')
        .and.not.match(/<details class="disclosure" open/);
      const hidden = await admin.post('/projects', { name: 'A', slug: 'Bad Slug' }, '/projects/new');
      expect(hidden.text, 'a field with a fault opens its details').to.match(/<details class="disclosure" open/);
    });

    it('link no pages of plugins that are not there', async () => {
      await create('shop');
      const admin = await fixture.signedIn();
      for (const path of ['/projects/shop', '/projects/shop/settings']) {
        const { text } = await admin.get(path);
        expect(text, path)
          .to.include('href="/projects/shop/settings"')
          .and.not.match(/href="\/(bugs|releases|licenses)\b/);
        expect(text.match(/aria-current="page"/g)?.length, path).to.be.greaterThan(0);
      }
    });

    it('show why a project in use cannot be deleted', async () => {
      await create('shop');
      fixture.parts.uses['bug items'] = async () => true;
      const admin = await fixture.signedIn();
      const answer = await admin.post('/projects/shop/delete', {}, '/projects/shop');
      expect(answer.status).to.equal(409);
      expect(answer.text).to.include('it can only be archived');
    });

    it('give members read access only', async () => {
      await create('shop');
      await (await fixture.signedIn()).post('/users', { username: 'mem', role: 'member', password: PASSWORD });
      const member = await fixture.signedIn('mem');
      const page = await member.get('/projects/shop');
      expect(page.status).to.equal(200);
      expect(page.text).not.to.include('/projects/shop/archive').and.not.include('/projects/shop/edit');
      expect((await member.get('/projects/new')).status).to.equal(403);
      expect((await member.post('/projects/shop/archive', {}, '/account')).status).to.equal(403);
      const granting = { name: 'Shop', cache_ttl_hours: '72', setup_scopes: 'webhooks:manage' };
      expect((await member.post('/projects/shop/edit', granting, '/account')).status).to.equal(403);
      expect((await member.post('/projects', { slug: 'new', ...granting }, '/account')).status).to.equal(403);
      expect((await call('GET', '/shop')).json['project']).to.include({ archived: false });
    });
  });
});
