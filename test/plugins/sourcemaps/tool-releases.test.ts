/** What `sentry-cli releases`, `deploys` and `info` ask (contract 21, Amendments). */
import { expect } from 'chai';
import type { Asked } from '../../adapters/hapi/support.js';
import { bundle } from '../../adapters/sourcemaps/archives.js';
import { ASSEMBLE, built, CHUNKS, DEBUG_ID, filesOf, Fixture, OF_SHOP, sha1 } from './fixture.js';

const RELEASE = '/api/0/organizations/acme/releases/shop%401.4.0';

describe('releases created by Sentry’s tools', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await Fixture.create();
  });
  afterEach(() => fixture.stop());

  it('returns the scopes of a token', async () => {
    const { status, body } = await fixture.ask('GET', '/api/0/');
    expect(status).to.equal(200);
    expect((body['auth'] as { scopes?: unknown }).scopes).to.include('bugtracker:manage');
  });

  for (const path of ['/api/0/organizations/acme', '/api/0/projects/acme/shop'])
    it(`accepts and lists a release file below ${path}`, async () => {
      const files = `${path}/releases/shop%401.4.0/files/`;
      const map = filesOf(built(), null)[1]?.text ?? '';
      const sent = await fixture.form(files, [
        ['file', map, 'app.js.map'],
        ['name', '~/assets/app.js.map'],
        ['project', 'shop'],
      ]);
      expect(sent.status, JSON.stringify(sent.body)).to.equal(201);
      expect(sent.body).to.include({ name: '~/assets/app.js.map', size: Buffer.byteLength(map) });
      const listed = await fixture.ask('GET', '/api/0/projects/acme/shop/releases/shop%401.4.0/files/?cursor=');
      expect((listed.body as unknown as { name: string }[]).map(({ name }) => name)).to.deep.equal([
        '~/assets/app.js.map',
      ]);
    });

  it('verifies the checksum of a bundle', async () => {
    const bytes = bundle(filesOf(built(), DEBUG_ID));
    await fixture.form(CHUNKS, [['file', bytes, sha1(bytes)]]);
    const requested = { checksum: sha1('other'), chunks: [sha1(bytes)], projects: ['shop'] };
    const wrong = await fixture.ask('POST', ASSEMBLE, requested);
    expect(wrong.body).to.include({ state: 'error' });
    expect(JSON.stringify(wrong.body['detail'])).to.include('checksum');
    const right = await fixture.ask('POST', ASSEMBLE, { ...requested, checksum: sha1(bytes) });
    expect(right.body).to.include({ state: 'ok' });
  });

  it('stores commits of set-commits, and shows those that touched the failing file', async () => {
    const commits = [
      {
        id: '1586D762533146deef08411085f52b26622689da',
        repository: 'origin',
        author_name: 'Ada',
        author_email: 'ada@example.org',
        timestamp: '2026-11-28T17:51:24Z',
        message: 'Round prices\n',
        patch_set: [{ path: 'src/cart.js', type: 'M' }],
      },
      { id: 'not a hash', message: 'x' },
    ];
    const put = await fixture.ask('PUT', `${RELEASE}/`, { commits, projects: ['shop'] });
    expect(put.status, JSON.stringify(put.body)).to.equal(200);
    await fixture.upload(filesOf(built(), null), { projects: ['shop'], version: 'shop@v1.4.0' });
    await fixture.report(built(), { release: 'shop@v1.4.0' });
    const [item] = await fixture.items();
    const { body } = await fixture.ask('GET', `/api/bugtracker/v1/bugs/${item?.item['ref'] as unknown as string}`);
    expect(body['suspect_commits']).to.have.lengthOf(1);
    expect((body['suspect_commits'] as unknown as object[])[0]).to.include({
      id: commits[0]?.id.toLowerCase(),
      author_name: 'Ada',
      message: 'Round prices',
      touched: 'src/cart.js',
    });
  });

  for (const [what, method, path, body, status, detail] of [
    ['commits of a repository', 'PUT', `${RELEASE}/`, { refs: [{ repository: 'a/b', commit: 'c' }] }, 422, '--local'],
    ['a deploy', 'POST', `${RELEASE}/deploys/`, { environment: 'prod' }, 422, 'not store deploys'],
    ['to delete a release', 'DELETE', `${RELEASE}/`, undefined, 409, 'withdrawn'],
  ] as const)
    it(`rejects ${what} with a single sentence, as the tool displays it`, async () => {
      const rejected = await fixture.ask(method, path, body);
      expect(rejected.status).to.equal(status);
      expect(JSON.stringify(rejected.body)).to.include(detail);
    });

  it('resolves the project by release or organization, and otherwise explains how to set it', async () => {
    const commits = [{ id: '1586d762533146deef08411085f52b26622689da', message: 'x' }];
    const put = (org: string, version: string): Promise<Asked> =>
      fixture.ask('PUT', `/api/0/organizations/${org}/releases/${version}/`, { commits });
    for (const [org, version] of [
      ['acme', 'shop@1.5.0'],
      ['shop', '1.5.0'],
    ] as const) {
      const kept = await put(org, version);
      expect([kept.status, kept.body['projects']]).to.deep.equal([200, [{ slug: 'shop', name: 'shop' }]]);
    }
    const unnamed = await put('acme', '1.5.0');
    expect(unnamed.status).to.equal(422);
    expect(unnamed.body['error']?.['message']).to.match(/The project is missing: .*--org <project>/);
    expect((await put('acme', 'nowhere@1.5.0')).status).to.equal(422);
  });

  it('allows a project token to list and create only its project’s releases', async () => {
    const listed = await fixture.ask('GET', '/api/0/organizations/acme/releases/', undefined, OF_SHOP);
    expect([listed.status, listed.body]).to.deep.equal([200, []]);
    const foreign = await fixture.ask('GET', '/api/0/projects/acme/other/releases/', undefined, OF_SHOP);
    expect(foreign.status).to.equal(403);
  });
});
