/**
 * What a plugin from outside may ask of the tracker (ports/domain/bugs.ts, TrackedItems), through
 * the kernel.
 */
import { expect } from 'chai';
import { definePlugin, type Plugin } from '../../../../kernel/contract/index.js';
import { ServiceError } from '../../../../kernel/errors.js';
import bugs from '../../../../plugins/bugs/plugin.js';
import { BUGS, ITEMS, type BugsApi, type TrackedItems } from '../../../../ports/domain/bugs.js';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { bootTestKernel, type TestKernel } from '../../../harness.js';
import { fakeAccess } from '../../../support/fake-access.js';
import { createFakeProjects } from '../../../support/fake-projects.js';
import { attempt, dying } from '../dying.js';
import {
  ENGINES,
  ensureCollections,
  fixtureOn,
  LIVE_TOKEN,
  MANAGER,
  memoryFixture,
  report,
  settled,
  shown,
  type Fixture,
} from '../fixture.js';

const rejected = async (work: Promise<unknown>): Promise<ServiceError> => {
  try {
    await work;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('it was not refused');
};

const historyOf = async (fixture: Fixture, id: string) => {
  await settled(fixture);
  const { items } = await fixture.parts.getPage(id, MANAGER, 'activity', {});
  return (items as { action: string; actor: string }[]).map(({ action, actor }) => `${actor}: ${action}`);
};
const commentsOf = async (fixture: Fixture, id: string) =>
  (await fixture.parts.getPage(id, MANAGER, 'comments', {})).items as { id: string; body: string; author: string }[];

describe('bugs: items for plugins', () => {
  it('attributes changes of each plugin to the name that the kernel gives it', async () => {
    const seen: Record<string, TrackedItems> = {};
    let api = {} as BugsApi;
    const outside = (id: string): Plugin =>
      definePlugin({
        id,
        version: '1.0.0',
        api: 1,
        title: id,
        needs: [BUGS.name],
        uses: [ITEMS.name],
        setup: (ctx) => {
          const items = ctx.find(ITEMS);
          if (items !== undefined) seen[id] = items;
          api = ctx.resolve(BUGS);
          return {};
        },
      });
    const service: TestKernel = await bootTestKernel([
      fakeAccess,
      createFakeProjects(),
      bugs,
      outside('oncall'),
      outside('mirror'),
    ]);
    try {
      const { id, ref } = await api.record(report());
      await seen['oncall']?.comment(ref, { body: 'seen', key: 'k' });
      await seen['mirror']?.comment(ref, { body: 'seen', key: 'k', actor: 'Ada' });
      const comments = await service.store.collection<{ id: string; author: string }>('bugs_comments').find();
      expect(comments.items.map(({ author }) => author)).to.have.members(['plugin:oncall', 'Ada (plugin:mirror)']);
      expect((await seen['oncall']?.get(id))?.ref).to.equal(ref);
    } finally {
      await service.stop();
    }
  });

  let fixture: Fixture;
  let items: TrackedItems;
  beforeEach(async () => {
    fixture = await memoryFixture();
    items = fixture.tracked.createForPlugin('oncall');
  });
  const made = async (title = 'It breaks'): Promise<string> => (await fixture.bugs.record(report({ title }))).id;

  it('returns an item by ref or id with its long texts, or null when it does not exist', async () => {
    const { id, ref } = await fixture.bugs.record(report({ description: 'long' }));
    expect(await items.get(ref)).to.deep.include({ id, description: 'long' });
    expect(await items.get(id)).to.deep.equal(await shown(fixture, id));
    for (const none of ['alpha-99', 'x', '', '$where', 'a'.repeat(500)]) expect(await items.get(none)).to.equal(null);
  });

  it('adds one comment per key on each item', async () => {
    const [one, other] = [await made('One'), await made('Other')];
    const first = await items.comment(one, { body: 'page sent', key: 'page-1' });
    expect(first.created).to.equal(true);
    const again = await items.comment(one, { body: 'another text', key: 'page-1' });
    expect(again).to.deep.equal({ id: first.id, created: false });
    expect((await items.comment(other, { body: 'page sent', key: 'page-1' })).created).to.equal(true);
    expect((await items.comment(one, { body: 'acknowledged', key: 'page-2', actor: 'Ada' })).created).to.equal(true);
    expect(
      (await fixture.tracked.createForPlugin('mirror').comment(one, { body: 'me too', key: 'page-1' })).created,
    ).to.equal(true);
    expect((await commentsOf(fixture, one)).map(({ body, author }) => `${author}: ${body}`)).to.have.members([
      'plugin:oncall: page sent',
      'Ada (plugin:oncall): acknowledged',
      'plugin:mirror: me too',
    ]);
    expect(await historyOf(fixture, one)).to.include('plugin:oncall: commented');
  });

  it('rejects invalid comments and comments with live tokens', async () => {
    const id = await made();
    for (const [given, field] of [
      [{ body: ' ', key: 'k' }, 'body'],
      [{ body: 'x'.repeat(16_385), key: 'k' }, 'body'],
      [{ body: 'x', key: '' }, 'key'],
      [{ body: 'x', key: 'k'.repeat(201) }, 'key'],
      [{ body: 'x', key: 'k', actor: 'x'.repeat(101) }, 'actor'],
      [{ body: `use ${LIVE_TOKEN}`, key: 'k' }, 'body'],
      [{ body: 'x', key: 'k', actor: LIVE_TOKEN }, 'actor'],
    ] as const) {
      const error = await rejected(items.comment(id, given));
      expect(error).to.include({ status: 422, code: 'validation_failed' });
      expect(error.fields).to.have.property(field);
    }
    expect(await rejected(items.comment('alpha-99', { body: 'x', key: 'k' }))).to.include({ code: 'not_found' });
    expect(await commentsOf(fixture, id)).to.deep.equal([]);
  });

  it('resolves with a build and a comment, and a repeat changes nothing', async () => {
    const id = await made();
    const done = await items.resolve(id, { build: '1.4', comment: 'fixed by the runbook', actor: 'Ada' });
    expect(done).to.include({ status: 'resolved', resolved_in_build: '1.4' });
    expect(await items.resolve(id, { build: '1.4', comment: 'again' })).to.deep.equal(done);
    expect(await items.resolve(id, { comment: 'again' })).to.deep.equal(done);
    expect(await commentsOf(fixture, id)).to.have.length(1);
    expect(await historyOf(fixture, id)).to.include('Ada (plugin:oncall): status');
    expect(await items.resolve(id, { build: '1.5' })).to.include({ status: 'resolved', resolved_in_build: '1.5' });
    await fixture.published('1.6');
    expect(await items.resolve(id, { build: '1.6' })).to.include({ status: 'closed' });
    expect(await items.resolve(id, { build: '1.7' })).to.include({ status: 'closed', resolved_in_build: '1.6' });
  });

  it('resolves once under many concurrent calls', async () => {
    const id = await made();
    await Promise.all(Array.from({ length: 8 }, () => items.resolve(id, { comment: 'done' })));
    expect(await commentsOf(fixture, id)).to.have.length(1);
    await settled(fixture);
    expect(fixture.told.filter(({ event }) => event === 'bug.resolved')).to.have.length(1);
  });

  it('never overrides an agent’s lease or a status set by a user', async () => {
    const id = await made();
    await fixture.leases.claim(id, MANAGER, { agent: 'coder' });
    expect(await rejected(items.resolve(id))).to.include({ status: 409, code: 'already_claimed' });
    const other = await made('Other');
    await fixture.edits.edit(other, MANAGER, { status: 'wont_fix', reason: 'as designed' });
    expect(await rejected(items.resolve(other, { comment: 'x' }))).to.include({ code: 'invalid_transition' });
    expect(await commentsOf(fixture, other)).to.deep.equal([]);
    expect(await rejected(items.resolve('alpha-99'))).to.include({ code: 'not_found' });
  });
});

for (const engine of ENGINES) {
  it(`bugs: adds one comment per key under many calls in several processes (${engine.name})`, async function () {
    const { store, close } = await engine.open(() => this.skip());
    try {
      const processes = [fixtureOn(store), fixtureOn(store), fixtureOn(store)];
      const [first] = processes as [Fixture];
      const { id } = await first.bugs.record(report());
      const done = await Promise.all(
        Array.from({ length: 18 }, (_, i) =>
          (processes[i % 3] ?? first).tracked
            .createForPlugin('oncall')
            .comment(id, { body: `from ${i}`, key: `k${i % 2}` }),
        ),
      );
      expect(done.filter(({ created }) => created)).to.have.length(2);
      for (const fixture of processes) await settled(fixture);
      expect(await commentsOf(first, id)).to.have.length(2);
    } finally {
      await close();
    }
  });
}

it('bugs: a comment interrupted by a crash at any write exists once after the repeat', async () => {
  for (let n = 1, alive = false; !alive; n++) {
    for (const late of [false, true]) {
      const store = await ensureCollections(new MemoryStore());
      const fixture = fixtureOn(store);
      const { id } = await fixture.bugs.record(report());
      await settled(fixture);
      const dead = dying(store, n, late);
      const say = (by: Fixture) => by.tracked.createForPlugin('oncall').comment(id, { body: 'page sent', key: 'k' });
      await attempt(fixtureOn(dead.store, fixture.clock), say);
      alive = !dead.died();
      await say(fixture);
      fixture.clock.advance(60_000);
      await fixture.jobs.reconcile();
      await settled(fixture);
      expect(await commentsOf(fixture, id), `write ${n}${late ? ', late' : ''}`).to.have.length(1);
    }
  }
});
