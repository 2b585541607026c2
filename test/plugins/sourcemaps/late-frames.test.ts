/**
 * Frames that a map could not rewrite in time (contract 21, source maps): counted as they came,
 * rewritten later.
 */
import { expect } from 'chai';
import { ChildProcessSourceMaps } from '../../../adapters/sourcemaps/source-maps.js';
import { SourceMapRejected, type LocateRequest, type SourcePosition } from '../../../ports/source-map-reader.js';
import { built, debugMeta, DEBUG_ID, filesOf, Fixture, SCRIPT, type Built } from './fixture.js';

type Loose = Record<string, unknown>;

/** A reader that a busy machine leaves without time. */
class SlowSourceMaps extends ChildProcessSourceMaps {
  isBusy = true;
  asked = 0;
  /** Answers in place of the map. */
  sources: ((column: number) => SourcePosition) | null = null;

  override async locate(question: LocateRequest): Promise<(SourcePosition | null)[]> {
    this.asked++;
    if (this.isBusy) throw new SourceMapRejected('was not read in time', false);
    const { sources } = this;
    return sources === null ? super.locate(question) : question.positions.map(({ column }) => sources(column));
  }
}

const SECRETS = ['AKIAIOSFODNN7EXAMPLE', 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'];
const LINES = Array.from({ length: 5 }, () => `const key = '${SECRETS.join(' ')}'; ${'x'.repeat(900)}`);

/** Two functions of two files behind one minified name: the column tells them apart. */
const twoFunctions = (column: number): SourcePosition => ({
  file: column < 100 ? 'src/a.js' : 'src/b.js',
  line: column,
  column: 1,
  function: column < 100 ? 'first' : 'second',
  source: { before: LINES, line: LINES[0] ?? '', after: LINES },
});

const eventAt = (...columns: number[]): Loose => ({
  ...debugMeta,
  exception: {
    values: [
      {
        type: 'Error',
        value: 'empty',
        stacktrace: {
          frames: columns.map((colno) => ({ filename: SCRIPT, function: 't', in_app: true, lineno: 1, colno })),
        },
      },
    ],
  },
});

const JOB = 'errorstream.late_frames';
const MINUTE_MS = 60_000;
const READABLE = { file_path: 'src/cart.js', line_no: 3 };

describe('frames resolved by source maps later', () => {
  const app: Built = built();
  let maps: SlowSourceMaps;
  let fixture: Fixture;
  beforeEach(async () => {
    maps = new SlowSourceMaps();
    fixture = await Fixture.create({ maps });
    await fixture.upload(filesOf(app, DEBUG_ID));
  });
  afterEach(() => fixture.stop());

  const occurrences = async (id: unknown): Promise<Loose[]> => {
    const { body } = await fixture.ask('GET', `/api/bugtracker/v1/bugs/${String(id)}/occurrences?limit=100`);
    return body['items'] as unknown as Loose[];
  };
  const contextOf = (occurrence: Loose | undefined): Loose => (occurrence?.['context'] ?? {}) as Loose;
  const run = async (): Promise<void> => {
    fixture.service.clock.advance(MINUTE_MS);
    await fixture.service.jobs.run(JOB);
  };

  it('show why an occurrence is minified until it is resolved, and resolve all of a burst', async () => {
    for (let n = 0; n < 60; n++) await fixture.report(app, debugMeta);
    const [late] = await fixture.items();
    expect(late?.item).to.include({ file_path: SCRIPT, hit_count: 60 });
    const [missing] = (late?.context['missing_source_maps'] ?? []) as unknown as Loose[];
    expect(missing).to.include({
      debug_id: DEBUG_ID,
      problem: `The source map with the debug id ${DEBUG_ID} was not read in time.`,
    });
    await run();
    expect((await fixture.items()).map(({ item }) => item['file_path'])).to.deep.equal([SCRIPT]);

    maps.isBusy = false;
    await run();
    const [item, ...others] = (await fixture.items()).map((one) => one.item);
    expect(others).to.deep.equal([]);
    expect(item).to.include({ ...READABLE, hit_count: 60 });
    expect(item?.['stack_trace']).to.equal('    at total (src/cart.js:3:5)');
    const kept = await occurrences(item?.['id']);
    expect(kept.length).to.be.above(40);
    for (const occurrence of kept) {
      expect(occurrence).to.include({ ...READABLE, stack_trace: '    at total (src/cart.js:3:5)' });
      const context = contextOf(occurrence);
      expect(context).not.to.have.property('missing_source_maps');
      expect(context['source']).to.include({ '3': "    throw new Error('empty');" });
      const [frame] = context['frames'] as Loose[];
      expect(frame).to.include({ filename: 'src/cart.js', lineno: 3, function: 'total', in_app: true });
      expect(frame?.['raw']).to.deep.equal({ filename: SCRIPT, lineno: 1, colno: app.at.colno, function: 't' });
    }
    // What comes in time is the same group, and a repeat of the job finds nothing to do.
    await fixture.report(app, debugMeta);
    const { asked: requested } = maps;
    await run();
    expect(maps.asked).to.equal(requested);
    expect((await fixture.items()).map((one) => one.item['hit_count'])).to.deep.equal([61]);
  });

  it('join the group that the error has by its original source', async () => {
    await fixture.report(app, debugMeta);
    maps.isBusy = false;
    await fixture.report(app, debugMeta);
    const [first, second] = await fixture.items();
    expect([first?.item['status'], second?.item['status']]).to.deep.equal(['open', 'open']);
    await run();
    const found = (await fixture.items()).map(({ item }) => [item['status'], item['file_path'], item['hit_count']]);
    expect(found).to.have.deep.members([
      ['open', 'src/cart.js', 1],
      ['duplicate', 'src/cart.js', 1],
    ]);
    await fixture.report(app, debugMeta);
    expect((await fixture.items()).map(({ item }) => item['hit_count'])).to.have.members([2, 1]);
  });

  it('are truncated and scrubbed like those of a timely report', async () => {
    maps.sources = twoFunctions;
    await fixture.report(app, eventAt(...Array.from({ length: 60 }, (_, i) => 61 - i)));
    maps.isBusy = false;
    await run();
    const [found] = await fixture.items();
    const text = JSON.stringify(found);
    for (const secret of SECRETS) expect(text).not.to.include(secret);
    expect(JSON.stringify(found?.context).length).to.be.at.most(32_768);
    expect(found?.item).to.include({ file_path: 'src/a.js', line_no: 2 });
  });

  it('stay separate from another function with the same minified name', async () => {
    maps.sources = twoFunctions;
    maps.isBusy = false;
    await fixture.report(app, eventAt(200));
    maps.isBusy = true;
    for (let n = 0; n < 2; n++) await fixture.report(app, eventAt(10));
    maps.isBusy = false;
    await run();
    maps.isBusy = true;
    await fixture.report(app, eventAt(201));
    maps.isBusy = false;
    await run();
    const found = (await fixture.items()).map(({ item }) => [item['status'], item['file_path']]);
    expect(found).to.have.deep.members([
      ['open', 'src/a.js'],
      ['open', 'src/b.js'],
    ]);
  });

  it('do not join a muted item', async () => {
    maps.sources = twoFunctions;
    maps.isBusy = false;
    await fixture.report(app, eventAt(10));
    const items = fixture.service.store.collection<{ id: string; muted: boolean; status: string }>('bugs_items');
    await items.change({ status: 'open' }, { set: { muted: true } });
    maps.isBusy = true;
    await fixture.report(app, eventAt(11));
    maps.isBusy = false;
    await run();
    expect((await items.find()).items.map(({ status }) => status)).to.deep.equal(['open', 'open']);
  });

  it('are resolved for other occurrences when one is damaged', async () => {
    for (const fingerprint of ['one', 'two', 'three']) {
      await fixture.report(app, { ...debugMeta, fingerprint: [fingerprint] });
      fixture.service.clock.advance(1_000);
    }
    const stored = fixture.service.store.collection<{ id: string; late_at: string }>('bugs_occurrences');
    const [first] = (await stored.find({ sort: [['late_at', 'asc']] })).items;
    await stored.change({ id: first?.id ?? '' }, { set: { 'late.scripts': null } });
    maps.isBusy = false;
    await run();
    const rewritten = (await fixture.items()).filter(({ item }) => item['file_path'] === ('src/cart.js' as unknown));
    expect(rewritten).to.have.length(2);
  });

  it('store no retry plan larger than the error', async () => {
    const long = (i: number): string => `https://s.example/${i}${'x'.repeat(900)}.js`;
    const frames = Array.from({ length: 400 }, (_, i) => ({ filename: long(i), function: 'f', lineno: 1, colno: 1 }));
    const images = frames.map(({ filename }) => ({ type: 'sourcemap', code_file: filename, debug_id: DEBUG_ID }));
    const exception = { values: [{ type: 'Error', value: 'empty', stacktrace: { frames } }] };
    await fixture.report(app, { debug_meta: { images }, exception });
    const { items } = await fixture.service.store.collection<{ id: string; late?: object }>('bugs_occurrences').find();
    for (const { late } of items) expect(JSON.stringify(late ?? null).length).to.be.at.most(16_384);
  });

  it('give up after several attempts with increasing delays, and store the reason', async () => {
    await fixture.report(app, debugMeta);
    const before = maps.asked;
    for (let n = 0; n < 600; n++) await run();
    expect(maps.asked - before).to.equal(12);
    const [found] = await fixture.items();
    expect(found?.item).to.include({ file_path: SCRIPT, hit_count: 1 });
    expect(found?.context).to.have.property('missing_source_maps');
  });

  it('store no failure that is unrelated to the map’s bytes', async () => {
    await fixture.report(app, debugMeta);
    const { items } = await fixture.service.store
      .collection<{ id: string; fault: string | null }>('sourcemaps_artifacts')
      .find();
    expect(items.map(({ fault }) => fault)).to.deep.equal([null, null]);
  });

  it('are resolved in the text of a trace sent by the application', async () => {
    await fixture.upload(filesOf(app, DEBUG_ID), { projects: ['shop'], version: '1.4.2' });
    const stack_trace = `Error: empty\n    at t (${SCRIPT}:1:${app.at.colno})\n    at main (app.js:1:1)`;
    const { status } = await fixture.ask(
      'POST',
      '/api/errors/v1/report',
      {
        project: 'shop',
        error_level: 'error',
        error_message: 'empty',
        exception_class: 'Error',
        app_version: '1.4.2',
        stack_trace,
      },
      'master:bugtracker:report',
    );
    expect(status).to.equal(201);
    const [late] = await fixture.items();
    expect(late?.context['missing_source_maps']).to.have.length(1);
    maps.isBusy = false;
    await run();
    const [found] = await fixture.items();
    expect(found?.item).to.include(READABLE);
    expect(found?.item['stack_trace']).to.equal(
      'Error: empty\n    at total (src/cart.js:3:5)\n    at main (app.js:1:1)',
    );
    expect(found?.context).to.include({ raw_stack_trace: stack_trace });
    expect(found?.context).not.to.have.property('missing_source_maps');
  });
});
