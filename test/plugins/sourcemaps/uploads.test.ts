/**
 * What tools upload, and the errors that it makes readable (contract 21, Beyond the specification).
 */
import { expect } from 'chai';
import type { BundleChunk } from '../../../plugins/sourcemaps/model.js';
import type { Loose } from '../../adapters/hapi/support.js';
import {
  ASSEMBLE,
  built,
  CHUNKS,
  DEBUG_ID,
  debugMeta,
  filesOf,
  Fixture,
  OF_SHOP,
  SCRIPT,
  sha1,
  type Built,
} from './fixture.js';

const REWRITTEN = { file_path: 'src/cart.js', line_no: 3 };
const RAW = { file_path: SCRIPT, line_no: 1 };

describe('source map uploads', function () {
  let app: Built;
  let fixture: Fixture;
  before(() => void (app = built()));
  beforeEach(async () => {
    fixture = await Fixture.create();
  });
  afterEach(() => fixture.stop());

  const count = (name: string): Promise<number> => fixture.service.store.collection(`sourcemaps_${name}`).count();

  it('resolves a frame by its debug id before grouping, and stores the raw frame', async () => {
    expect((await fixture.upload(filesOf(app, DEBUG_ID))).body).to.deep.equal({
      state: 'ok',
      missingChunks: [],
      detail: null,
    });
    await fixture.report(app, debugMeta);
    // A build later, the same source is at another place of the script.
    await fixture.report(app, { ...debugMeta, release: 'shop@9' });
    const [{ item, context } = { item: {} as Loose, context: {} as Loose }, ...others] = await fixture.items();
    expect(others).to.deep.equal([]);
    expect(item).to.include({ ...REWRITTEN, hit_count: 2 });
    expect((context['frames'] as unknown as Loose[])[0]).to.deep.include({
      filename: 'src/cart.js',
      function: 'total',
      lineno: 3,
      raw: { filename: SCRIPT, function: 't', ...app.at },
    });
    expect(context['source']).to.deep.include({
      1: 'export function total(lines) {',
      3: "    throw new Error('empty');",
      6: '}',
    });
    expect(context).not.to.have.property('missing_source_maps');
  });

  it('stores chunks as bytes and a single file deflated', async () => {
    const map = JSON.stringify({ version: 3, sources: ['a'], names: [], mappings: 'AAAA', x: ' '.repeat(300_000) });
    const path = '/api/0/projects/acme/shop/releases/1.0/files/';
    const { status } = await fixture.form(path, [
      ['name', '~/a.js.map'],
      ['file', map, 'a.js.map'],
    ]);
    expect(status).to.equal(201);
    await fixture.upload(filesOf(app, DEBUG_ID));
    const pieces = await fixture.service.store.collection<BundleChunk>('sourcemaps_pieces').find();
    expect(pieces.items.map(({ data }) => data instanceof Uint8Array)).to.deep.equal([true, true, true]);
    const bytes = pieces.items.reduce((sum, { data }) => sum + data.length, 0);
    expect(bytes).to.be.below(10_000);
    // What is stored deflated is read as it was sent.
    await fixture.report(app, { ...debugMeta });
    expect((await fixture.items())[0]?.item).to.include(REWRITTEN);
  });

  it('shows the missing debug id and upload command, but never to the reporter', async () => {
    await fixture.report(app, debugMeta);
    const [found] = await fixture.items();
    expect(found?.item).to.include(RAW);
    expect(found?.context['missing_source_maps']).to.deep.equal([
      {
        file: SCRIPT,
        debug_id: DEBUG_ID,
        problem: `The source map with the debug id ${DEBUG_ID} was not uploaded.`,
        command: 'sentry-cli --url http://127.0.0.1:8080 sourcemaps upload --org aos --project shop ./dist',
      },
    ]);
  });

  it('finds maps by release and URL, with the event’s dist or without dist', async () => {
    await fixture.upload(filesOf(app, null), { projects: ['shop'], version: 'shop@1.4.2' });
    await fixture.report(app, { release: 'shop@1.4.2', dist: 'web' });
    await fixture.report(app, { release: 'shop@1.4.3' });
    const items = await fixture.items();
    expect(items.map(({ item }) => item['file_path'])).to.have.members(['src/cart.js', SCRIPT]);
  });

  it('accepts single files of a release from older tools', async () => {
    const files = '/api/0/projects/acme/shop/releases/shop%402.0.0/files/';
    const script = `${app.text}\n//# sourceMappingURL=app.js.map\n`;
    const sent = await fixture.form(files, [
      ['name', '~/assets/app.js'],
      ['file', script, 'app.js'],
    ]);
    expect(sent.status).to.equal(201);
    expect(sent.body).to.deep.equal({
      id: sha1(script),
      name: '~/assets/app.js',
      sha1: sha1(script),
      dist: null,
      size: script.length,
      headers: {},
    });
    await fixture.form(files, [
      ['name', '~/assets/app.js.map'],
      ['file', app.map, 'app.js.map'],
      ['header', 'Content-Type: application/json'],
    ]);
    await fixture.report(app, { release: 'shop@2.0.0' });
    expect((await fixture.items())[0]?.item).to.include(REWRITTEN);
  });

  it('separates maps of projects', async () => {
    await fixture.upload(filesOf(app, DEBUG_ID));
    await fixture.report(app, debugMeta, 8);
    expect((await fixture.items())[0]?.item).to.include({ ...RAW, project: 'other' });
  });

  it('accepts a project token for its project only, also without a project in the request', async () => {
    const rejected = await fixture.upload(filesOf(app, DEBUG_ID), { projects: ['other'] }, OF_SHOP);
    expect([rejected.status, rejected.body['error']?.['code']]).to.deep.equal([403, 'insufficient_scope']);
    expect((await fixture.upload(filesOf(app, DEBUG_ID), {}, OF_SHOP)).body['state']).to.equal('ok');
    const unnamed = await fixture.upload(filesOf(app, DEBUG_ID), {});
    expect([unnamed.status, unnamed.body['error']?.['fields']]).to.deep.equal([
      422,
      { projects: 'must contain a project if the token is not limited to one' },
    ]);
    const unknown = await fixture.upload(filesOf(app, DEBUG_ID), { projects: ['nowhere'] });
    expect([unknown.status, unknown.body['error']?.['code']]).to.deep.equal([422, 'unknown_project']);
  });

  it('requests only the missing chunks', async () => {
    const files = filesOf(app, DEBUG_ID);
    const chunks = [sha1('never sent')];
    const requested = await fixture.ask('POST', ASSEMBLE, { checksum: sha1('x'), chunks, projects: ['shop'] });
    expect(requested.body).to.deep.equal({ state: 'not_found', missingChunks: chunks, detail: null });
    await fixture.upload(files);
    expect(await count('chunks')).to.equal(0);
    const again = await fixture.upload(files);
    expect(again.body['state']).to.equal('ok');
    expect(await count('bundles')).to.equal(1);
  });

  it('rejects chunks with a wrong hash or size, and invalid forms', async () => {
    const wrong = await fixture.form(CHUNKS, [['file', 'content', sha1('other content')]]);
    expect([wrong.status, wrong.body['error']?.['fields']]).to.deep.equal([
      422,
      { file: 'does not match the SHA-1 in its name' },
    ]);
    const large = Buffer.alloc(262_145);
    expect((await fixture.form(CHUNKS, [['file', large, sha1(large)]])).status).to.equal(422);
    expect((await fixture.form(CHUNKS, [['other', 'x']])).body['error']?.['fields']).to.deep.equal({
      file: 'is required',
    });
    const none = await fixture.server.ask('POST', CHUNKS, {
      bearer: 'master:bugtracker:manage',
      payload: 'no form',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    });
    expect([none.status, none.body['error']?.['code']]).to.deep.equal([400, 'invalid_request']);
    const many = await fixture.form(
      CHUNKS,
      Array.from({ length: 100 }, () => ['file', 'a', sha1('a')]),
    );
    expect(many.status).to.equal(400);
    expect(await count('chunks')).to.equal(0);
  });

  it('reports an invalid bundle and stores nothing of it', async () => {
    const bytes = Buffer.from('no archive');
    await fixture.form(CHUNKS, [['file', bytes, sha1(bytes)]]);
    const answer = await fixture.ask('POST', ASSEMBLE, {
      checksum: sha1(bytes),
      chunks: [sha1(bytes)],
      projects: ['shop'],
    });
    expect(answer.body).to.deep.equal({
      state: 'error',
      missingChunks: [],
      detail: 'The bundle is not a zip archive.',
    });
    expect([await count('bundles'), await count('pieces'), await count('artifacts')]).to.deep.equal([0, 0, 0]);
  });

  it('reads a hostile map once and reports why it is unusable', async () => {
    const bad: Built = { ...app, map: '{"version":3,"sections":['.repeat(5_000) };
    await fixture.upload(filesOf(bad, DEBUG_ID));
    await fixture.report(app, debugMeta);
    await fixture.report(app, debugMeta);
    const [found] = await fixture.items();
    expect(found?.item).to.include({ ...RAW, hit_count: 2 });
    const [missing] = (found?.context['missing_source_maps'] ?? []) as unknown as Loose[];
    expect(missing?.['problem']).to.equal(`The source map with the debug id ${DEBUG_ID} is nested too deeply.`);
    const { items } = await fixture.service.store
      .collection<{ id: string; fault: string | null }>('sourcemaps_artifacts')
      .find();
    expect(items.map(({ fault }) => fault)).to.have.members([null, 'is nested too deeply']);
  });

  it('reads a rejected map again when its bundle is uploaded again', async () => {
    await fixture.upload(filesOf(app, DEBUG_ID));
    const artifacts = fixture.service.store.collection<{ id: string; fault: string | null }>('sourcemaps_artifacts');
    await artifacts.changeMany({}, { set: { fault: 'takes too long' } });
    await fixture.report(app, debugMeta);
    expect((await fixture.items()).map(({ item }) => item['file_path'])).to.deep.equal([RAW.file_path]);
    expect((await fixture.upload(filesOf(app, DEBUG_ID))).body).to.include({ state: 'ok' });
    await fixture.report(app, { ...debugMeta, exception: undefined, message: 'another' });
    await fixture.report(app, debugMeta);
    expect((await fixture.items()).map(({ item }) => item['file_path'])).to.include('src/cart.js');
  });

  it('responds to other requests of the tools, and requires a credential', async () => {
    const releases = '/api/0/organizations/any/releases/';
    expect((await fixture.ask('POST', releases, { version: 'shop@1', projects: ['shop'] })).status).to.equal(201);
    const put = await fixture.ask('PUT', `${releases}shop%401/`, { dateReleased: '2026-11-24T00:00:00Z' });
    expect([put.status, put.body['version']]).to.deep.equal([200, 'shop@1']);
    expect((await fixture.ask('GET', '/api/0/organizations/any/repos/')).status).to.equal(200);
    const options = await fixture.ask('GET', CHUNKS);
    expect(options.body).to.include({
      chunkSize: 262_144,
      hashAlgorithm: 'sha1',
      url: `http://127.0.0.1:8080${CHUNKS}`,
    });
    expect(options.body['accept']).to.include('artifact_bundles_v2');
    for (const path of [CHUNKS, releases]) {
      expect((await fixture.server.ask('POST', path, {})).status, path).to.equal(401);
      expect((await fixture.ask('POST', path, {}, 'intake:bugtracker:report')).status, path).to.equal(403);
    }
  });
});

describe('source map storage', function () {
  const DAY_MS = 86_400_000;
  let app: Built;
  let fixture: Fixture;
  before(() => void (app = built()));
  afterEach(() => fixture.stop());

  const ids = async (): Promise<string[]> => {
    const { items } = await fixture.service.store
      .collection<{ id: string; release: string }>('sourcemaps_bundles')
      .find();
    return items.map(({ release }) => release);
  };
  const clean = (): Promise<unknown> => fixture.service.jobs.runNow('sourcemaps.clean');
  const upload = (version: string): Promise<unknown> =>
    fixture.upload(filesOf(app, null), { projects: ['shop'], version });

  it('is limited per project by deleting the oldest maps', async () => {
    fixture = await Fixture.create({ errors: { sourcemap_bytes: 2_500 } });
    for (const version of ['1', '2', '3', '4']) {
      await upload(version);
      fixture.service.clock.advance(1_000);
    }
    const kept = await ids();
    expect(kept).to.include('4');
    expect(kept).not.to.include('1');
    const pieces = await fixture.service.store.collection('sourcemaps_pieces').count();
    expect(pieces).to.equal(kept.length);
  });

  it('rejects an upload larger than the project limit', async () => {
    fixture = await Fixture.create({ errors: { sourcemap_bytes: 100 } });
    const { body } = await fixture.upload(filesOf(app, null));
    expect(body['state']).to.equal('error');
    expect(body['detail']).to.match(/^The bundle is larger than the limit of a project/);
  });

  it('deletes maps after the configured days without use', async () => {
    fixture = await Fixture.create({ errors: { sourcemap_days: 10 } });
    await upload('used');
    await upload('unused');
    fixture.service.clock.advance(8 * DAY_MS);
    await fixture.report(app, { release: 'used' });
    fixture.service.clock.advance(3 * DAY_MS);
    await clean();
    expect(await ids()).to.deep.equal(['used']);
  });

  it('deletes maps on time even if they were used while the clock ran ahead', async () => {
    fixture = await Fixture.create({ errors: { sourcemap_days: 10 } });
    const { clock } = fixture.service;
    await upload('used');
    const right = clock.now();
    clock.set(right + 365 * DAY_MS);
    await fixture.report(app, { release: 'used' });
    clock.set(right);
    clock.advance(DAY_MS);
    await fixture.report(app, { release: 'used' });
    clock.advance(9 * DAY_MS);
    await clean();
    expect(await ids()).to.deep.equal(['used']);
    clock.advance(2 * DAY_MS);
    await clean();
    expect(await ids()).to.deep.equal([]);
  });

  it('contains no incomplete upload after a crash', async () => {
    fixture = await Fixture.create();
    await upload('whole');
    const bundles = fixture.service.store.collection<{ id: string; state: string }>('sourcemaps_bundles');
    const [whole] = (await bundles.find()).items;
    if (whole === undefined) throw new Error('no bundle');
    await bundles.insert({ ...whole, id: `${whole.id}x`, state: 'assembling' });
    await bundles.change({ id: whole.id }, { set: { state: 'leaving' } });
    // A map of a bundle that is being deleted does not count.
    await fixture.report(app, { release: 'whole' });
    expect((await fixture.items())[0]?.item).to.include(RAW);
    fixture.service.clock.advance(2 * 3_600_000);
    await clean();
    for (const name of ['bundles', 'pieces', 'artifacts']) {
      expect(await fixture.service.store.collection(`sourcemaps_${name}`).count(), name).to.equal(0);
    }
  });

  it('deletes unused chunks after a day', async () => {
    fixture = await Fixture.create();
    await fixture.form(CHUNKS, [['file', 'left behind', sha1('left behind')]]);
    await clean();
    const chunks = fixture.service.store.collection('sourcemaps_chunks');
    expect(await chunks.count()).to.equal(1);
    fixture.service.clock.advance(DAY_MS + 1_000);
    await clean();
    expect(await chunks.count()).to.equal(0);
  });
});
