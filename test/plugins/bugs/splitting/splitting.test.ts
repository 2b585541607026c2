/**
 * A split by occurrence: where reports go from then on, what is counted where, who may, and what a
 * crash leaves.
 */
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { conflict, ServiceError } from '../../../../kernel/errors.js';
import type { Report } from '../../../../ports/domain/bugs.js';
import { attempt, DEATHS, dying } from '../dying.js';
import {
  codeOf,
  ENGINES,
  ensureCollections,
  errorReport,
  fixtureOn,
  MANAGER,
  memoryFixture,
  settled,
  shown,
  type Fixture,
  twoProcesses,
} from '../fixture.js';
import { httpOf, READ, type AskFreely } from '../http.js';

const at = (environment: string, fields: Partial<Report> = {}): Report => errorReport({ environment, ...fields });

/**
 * Production and staging errors with one key, and one more key by another origin that the item
 * adopted.
 */
async function mixed(fixture: Fixture): Promise<string> {
  const { id } = await fixture.bugs.record(at('production', { file_path: null }));
  for (const environment of ['production', 'staging', 'production', 'staging'])
    expect((await fixture.bugs.record(at(environment))).id).to.equal(id);
  await settled(fixture);
  return id;
}

const kept = async (fixture: Fixture, id: string): Promise<{ id: string; environment: string }[]> => {
  await settled(fixture);
  return (await fixture.parts.listPart(id, 'occurrences', { limit: 50 })).items as {
    id: string;
    environment: string;
  }[];
};
const actions = async (fixture: Fixture, id: string): Promise<string[]> => {
  await settled(fixture);
  const page = await fixture.parts.listPart(id, 'activity', { limit: 50 });
  return (page.items as { action: string }[]).map(({ action }) => action);
};
const sum = (counters: Record<string, number> = {}): number => Object.values(counters).reduce((all, n) => all + n, 0);
const STAGING = { by: { field: 'environment', values: ['staging'] } } as const;

for (const engine of ENGINES) {
  describe(`bugs: split by occurrence on ${engine.name}`, function () {
    let fixture: Fixture;
    let other: Fixture;
    let close: () => Promise<void>;
    beforeEach(async function () {
      ({ fixture, other, close } = await twoProcesses(engine, () => this.skip()));
    });
    afterEach(async function () {
      if (this.currentTest?.isPending() === true) return;
      await close();
    });

    it('by a difference: moves counts, occurrences and later reports of every key', async () => {
      const id = await mixed(fixture);
      // The other process has the key in its memory.
      expect((await other.bugs.record(at('production'))).id).to.equal(id);
      await settled(other);
      const { item, split_off, preview } = await fixture.splitting.split(id, MANAGER, STAGING);
      expect(preview.by).to.deep.equal({ field: 'environment', values: ['staging'] });
      expect(item).to.include({ id, hit_count: 4, status: 'open' });
      expect(split_off).to.include({ hit_count: 2, status: 'open', environment: 'staging', title: 'E: cart is empty' });
      expect((await kept(fixture, id)).map(({ environment }) => environment)).to.deep.equal(
        Array<string>(4).fill('production'),
      );
      expect((await kept(fixture, split_off.id)).map(({ environment }) => environment)).to.deep.equal([
        'staging',
        'staging',
      ]);
      other.clock.advance(2_001);
      for (const one of [fixture, other]) {
        expect((await one.bugs.record(at('staging'))).id).to.equal(split_off.id);
        expect((await one.bugs.record(at('production'))).id).to.equal(id);
        // No staging report had this key before.
        expect((await one.bugs.record(at('staging', { file_path: null }))).id).to.equal(split_off.id);
      }
      await settled(fixture);
      await settled(other);
      expect((await shown(fixture, id)).hit_count).to.equal(6);
      expect((await shown(fixture, split_off.id)).hit_count).to.equal(6);
      expect(await kept(fixture, split_off.id)).to.have.lengthOf(6);
      expect(await actions(fixture, id)).to.include('split_off');
      expect(await actions(fixture, split_off.id)).to.deep.equal(['split_from', 'created']);
      expect(fixture.told.filter(({ data }) => data.id === split_off.id).map(({ event }) => event)).to.deep.equal([
        'bug.created',
      ]);
      expect(await fixture.deps.splits.count()).to.equal(0);
    });

    for (const [more, counts] of [
      [0, [2, 3]],
      [95, null],
    ] as const)
      it(`splits once for two concurrent callers, with ${more === 0 ? 'every occurrence' : 'a sample of the occurrences'} stored`, async () => {
        const id = await mixed(fixture);
        for (let i = 0; i < more; i++) await fixture.bugs.record(at(i % 4 === 0 ? 'staging' : 'production'));
        await settled(fixture);
        const hits = 5 + more;
        let before: (() => Promise<unknown>) | null = () => fixture.splitting.split(id, MANAGER, STAGING);
        const slower = fixtureOn(fixture.store, fixture.clock, (deps) => {
          const { texts } = deps;
          // It has chosen the occurrences, and reads the item's texts next.
          deps.texts = new Proxy(texts, {
            get: (target, name) => {
              const value = Reflect.get(target, name) as unknown;
              if (typeof value !== 'function') return value;
              return async (...args: unknown[]): Promise<unknown> => {
                const first = name === 'get' ? before : null;
                if (first !== null) before = null;
                await first?.();
                return value.apply(target, args);
              };
            },
          });
        });
        expect(await codeOf(slower.splitting.split(id, MANAGER, STAGING))).to.equal('conflict');
        const { items } = await fixture.deps.items.find();
        const found = items.map(({ hit_count }) => hit_count).toSorted((a, b) => a - b);
        if (counts !== null) expect(found).to.deep.equal(counts);
        expect([found.length, sum(found as never)]).to.deep.equal([2, hits]);
        await settled(slower);
      });

    it('by many concurrent callers: each succeeds once or conflicts, with no occurrence lost or doubled', async () => {
      const id = await mixed(fixture);
      for (let i = 0; i < 95; i++) await fixture.bugs.record(at(['production', 'staging', 'test'][i % 3] ?? ''));
      await settled(fixture);
      const parts = ['staging', 'test', 'staging', 'test'].map(
        (value) => ({ by: { field: 'environment', values: [value] } }) as const,
      );
      const codes = await Promise.all(
        parts.map((part, i) =>
          (i < 2 ? fixture : other).splitting.split(id, MANAGER, part).then(
            () => 'split',
            (error: { code: string }) => error.code,
          ),
        ),
      );
      for (const one of [fixture, other]) await settled(one);
      const { items } = await fixture.deps.items.find();
      const split = codes.filter((code) => code === 'split').length;
      expect(split, codes.join()).to.be.within(1, 2);
      expect(items).to.have.lengthOf(1 + split);
      expect(items.reduce((all, { hit_count }) => all + hit_count, 0)).to.equal(100);
      for (const item of items) {
        const environments = new Set((await kept(fixture, item.id)).map(({ environment }) => environment));
        expect(environments.size, [...environments].join()).to.equal(item.id === id ? 3 - split : 1);
        expect(sum(item.hours) + sum(item.days)).to.equal(item.hit_count);
      }
      expect(await fixture.deps.splits.count()).to.equal(0);
    });

    it('splits a part again, and a merge restores it', async () => {
      const id = await mixed(fixture);
      const { split_off } = await fixture.splitting.split(id, MANAGER, STAGING);
      await fixture.bugs.record(at('staging', { host: 'web-2' }));
      await settled(fixture);
      const again = await fixture.splitting.split(split_off.id, MANAGER, { by: { field: 'host', values: ['web-2'] } });
      expect((await fixture.bugs.record(at('staging', { host: 'web-2' }))).id).to.equal(again.split_off.id);
      expect((await fixture.bugs.record(at('staging', { host: 'web-1' }))).id).to.equal(split_off.id);
      await fixture.merging.merge(split_off.id, id, MANAGER);
      expect((await fixture.bugs.record(at('staging', { host: 'web-1' }))).id).to.equal(id);
      expect((await fixture.bugs.record(at('staging', { host: 'web-2' }))).id).to.equal(again.split_off.id);
      await fixture.merging.split(split_off.id, MANAGER);
      expect((await fixture.bugs.record(at('staging', { host: 'web-1' }))).id).to.equal(split_off.id);
    });

    it('of a whole key: moves selected occurrences with their key and its class and message alias', async () => {
      const { id } = await fixture.bugs.record(errorReport({ error_message: 'cart is empty' }));
      const second = await fixture.bugs.record(errorReport({ error_message: 'cart is gone', file_path: 'src/b.ts' }));
      await fixture.merging.merge(second.id, id, MANAGER);
      await fixture.bugs.record(errorReport({ error_message: 'cart is gone', file_path: 'src/b.ts' }));
      const [newest] = await kept(fixture, id);
      const { split_off } = await fixture.splitting.split(id, MANAGER, { occurrences: [newest?.id ?? ''] });
      expect(split_off).to.include({ title: 'E: cart is gone', hit_count: 1, file_path: 'src/b.ts' });
      expect(
        (await fixture.bugs.record(errorReport({ error_message: 'cart is gone', file_path: 'src/b.ts' }))).id,
      ).to.equal(split_off.id);
      expect((await fixture.bugs.record(errorReport())).id).to.equal(id);
    });

    it('shows another report when the first one was moved', async () => {
      const { id } = await fixture.bugs.record(
        at('staging', { error_message: 'cart 123456 is empty', stack_trace: 'E\n  at a (a.js:1:1)' }),
      );
      await fixture.bugs.record(
        at('production', { error_message: 'cart 654321 is empty', stack_trace: 'E\n  at b (a.js:9:1)' }),
      );
      await settled(fixture);
      const { item, split_off } = await fixture.splitting.split(id, MANAGER, STAGING);
      expect(item).to.include({
        environment: 'production',
        error_message: 'cart 654321 is empty',
        title: 'E: cart 654321 is empty',
      });
      expect(item.stack_trace).to.contain('at b');
      expect(split_off).to.include({ error_message: 'cart 123456 is empty' });
      expect(split_off.stack_trace).to.contain('at a');
      const [left] = (await kept(fixture, split_off.id)) as unknown as { stack_trace: string }[];
      expect(left?.stack_trace).to.contain('at a');
    });

    it('distributes the counters of a busy item by its stored occurrences, without loss', async () => {
      const { id } = await fixture.bugs.record(at('production'));
      for (let i = 0; i < 120; i++) await fixture.bugs.record(at(i % 3 === 0 ? 'staging' : 'production'));
      await settled(fixture);
      const before = await fixture.deps.items.get(id);
      const { split_off, preview } = await fixture.splitting.split(id, MANAGER, STAGING);
      const [stays, left] = await Promise.all([fixture.deps.items.get(id), fixture.deps.items.get(split_off.id)]);
      expect(preview.estimated).to.equal(true);
      expect((stays?.hit_count ?? 0) + (left?.hit_count ?? 0)).to.equal(121);
      expect(left?.hit_count).to.be.within(10, 80);
      for (const counters of ['minutes', 'hours'] as const)
        expect(sum(stays?.[counters]) + sum(left?.[counters])).to.equal(sum(before?.[counters]));
    });
  });
}

describe('bugs: split by occurrence, over the API', () => {
  let fixture: Fixture;
  let ask: AskFreely;
  let id: string;
  beforeEach(async () => {
    fixture = await memoryFixture();
    ask = await httpOf(fixture);
    id = await mixed(fixture);
  });
  const split = (json: object, options?: object): ReturnType<AskFreely> =>
    ask('POST', `/bugs/${id}/split`, json, options);
  const fields = ({ body }: { body: Record<string, unknown> }): Record<string, string> =>
    (body['error'] as { fields: Record<string, string> }).fields;

  it('previews the groups, and stores nothing', async () => {
    const before = await fixture.deps.items.get(id);
    const open = await split({ dry_run: true });
    expect(open.status).to.equal(200);
    const { differences, leaves } = open.body['preview'] as { differences: object[]; leaves: null };
    expect(leaves).to.equal(null);
    expect(differences).to.deep.include({
      field: 'environment',
      values: [
        { value: 'production', count: 3 },
        { value: 'staging', count: 2 },
      ],
    });
    const { status, body } = await split({ ...STAGING, dry_run: true });
    expect(status).to.equal(200);
    const preview = body['preview'] as { leaves: { samples: object[] }; says: string };
    expect(preview).to.deep.include({ estimated: false, by: { field: 'environment', values: ['staging'] } });
    expect(preview.leaves).to.include({ occurrences: 2, hits: 2 });
    expect(preview.leaves.samples).to.have.lengthOf(2);
    expect(preview.says).to.contain('the environment staging');
    expect(await fixture.deps.items.get(id)).to.deep.equal(before);
    expect(await fixture.deps.items.count()).to.equal(1);
    expect(await fixture.deps.splits.count()).to.equal(0);
  });

  it('detects a field that distinguishes occurrences with a shared key, and splits by it', async () => {
    const chosen = (await kept(fixture, id))
      .filter(({ environment }) => environment === 'staging')
      .map((one) => one.id);
    const rejected = await split({ occurrences: chosen });
    expect(rejected.status).to.equal(422);
    expect(fields(rejected)['occurrences']).to.contain('share a grouping key').and.contain('environment');
    const { status, body } = await split({ occurrences: chosen, by: { field: 'environment' }, title: 'Staging only' });
    expect(status).to.equal(200);
    expect(body['split_off']).to.include({ title: 'Staging only', hit_count: 2 });
    expect((await fixture.bugs.record(at('staging'))).id).to.equal((body['split_off'] as { id: string }).id);
  });

  it('rejects invalid patterns and conditions that match nothing or everything, and changes nothing', async () => {
    for (const [json, field] of [
      [{ by: { field: 'environment', values: ['qa'] } }, 'by'],
      [{ by: { field: 'exception_class', values: ['E'] } }, 'by'],
      [{ by: { field: 'environment' } }, 'by.values'],
      [{ by: { field: 'message', values: ['(a)\\1'] } }, 'by.values'],
      [{ occurrences: ['nothing'] }, 'occurrences'],
      [{ by: { field: 'colour', values: ['x'] } }, 'by.field'],
    ] as const) {
      const answer = await split(json);
      expect(answer.status, JSON.stringify(json)).to.equal(422);
      expect(fields(answer), JSON.stringify(json)).to.have.property(field);
    }
    expect((await split({ ...STAGING, dry_run: true }, { bearer: READ })).status).to.equal(403);
    expect(await fixture.deps.items.count()).to.equal(1);
  });

  it('requires the item’s lease, which stays valid and whose holder is notified', async () => {
    const { lease } = await fixture.leases.claim(id, MANAGER, { agent: 'a' });
    expect(await split(STAGING)).to.have.nested.property('body.error.code', 'already_claimed');
    expect(await split({ ...STAGING, claim_token: 'x' })).to.have.nested.property('body.error.code', 'lease_lost');
    expect(await split({ ...STAGING, force: true })).to.have.nested.property('body.error.code', 'reason_required');
    expect(await codeOf(fixture.splitting.split(id, { ...MANAGER, by_tool: true }, STAGING))).to.equal(
      'already_claimed',
    );
    expect(await split(STAGING, { headers: { 'if-match': '"99"' } })).to.include({ status: 412 });
    expect(await fixture.deps.items.count()).to.equal(1);
    const { status, body } = await split({ ...STAGING, claim_token: lease.claim_token });
    expect(status).to.equal(200);
    expect(body['item']).to.include({ status: 'in_progress' });
    expect(body['split_off']).to.include({ status: 'open', claim: null });
    const tool = { ...MANAGER, by_tool: true };
    expect(
      await codeOf(
        fixture.splitting.split((body['split_off'] as { id: string }).id, tool, {
          by: { field: 'host', values: ['x'] },
        }),
      ),
    ).to.be.oneOf(['claim_required', 'validation_failed']);
  });

  it('leaves a merged item unchanged', async () => {
    const target = await fixture.bugs.record(errorReport({ exception_class: 'Other' }));
    await fixture.merging.merge(id, target.id, MANAGER);
    expect(await split(STAGING)).to.have.nested.property('body.error.code', 'invalid_transition');
    expect((await split({})).body['item']).to.include({ id, status: 'open' });
  });
});

describe('bugs: a split by occurrence interrupted by a crash', () => {
  for (const { late, pass, when } of DEATHS) {
    it(`before any of its writes ${when}: is applied completely or not at all`, async () => {
      let n = 1;
      for (let through = false; !through; n++) {
        const store = await ensureCollections(new MemoryStore());
        const first = fixtureOn(store);
        const id = await mixed(first);
        const victim = fixtureOn(dying(store, n, late).store, first.clock);
        through = await attempt(victim, () => victim.splitting.split(id, MANAGER, STAGING));
        const heir = fixtureOn(store, first.clock);
        pass(heir.clock);
        await heir.jobs.reconcile();
        await settled(heir);
        expect(await heir.deps.splits.count(), `write ${n}`).to.equal(0);
        const items = (await heir.deps.items.find({ sort: [['id', 'asc']], limit: 10 })).items;
        expect(
          items.reduce((all, { hit_count }) => all + hit_count, 0),
          `write ${n}`,
        ).to.equal(5);
        const sizes = await Promise.all(items.map(async (item) => (await kept(heir, item.id)).length));
        expect(
          sizes.toSorted((a, b) => a - b),
          `write ${n}`,
        ).to.deep.equal(items.length === 1 ? [5] : [2, 3]);
        const counted = await heir.bugs.record(at('staging'));
        expect(counted.id === id, `write ${n}`).to.equal(items.length === 1);
        if (through) expect(items).to.have.lengthOf(2);
      }
      expect(n).to.be.greaterThan(8);
    });
  }

  it('is completed when it fails after the item was written', async () => {
    const store = await ensureCollections(new MemoryStore());
    const fixture = fixtureOn(store, undefined, (deps) => {
      // Without transactions history goes through the item, and is stored behind its write.
      deps.transact = null;
    });
    const id = await mixed(fixture);
    const { activity } = fixture.deps;
    const bulk = activity.bulk.bind(activity);
    let refusals = 0;
    activity.bulk = async (writes) => {
      if ((await fixture.deps.splits.count()) > 0 && refusals++ === 0) throw conflict('Too busy.');
      return bulk(writes);
    };
    const thrown = await fixture.splitting.split(id, MANAGER, STAGING).catch((error: unknown) => error);
    expect(thrown).to.be.instanceOf(ServiceError).with.property('code', 'conflict');
    expect(await fixture.deps.splits.count()).to.equal(0);
    const { items } = await fixture.deps.items.find({ sort: [['id', 'asc']], limit: 10 });
    expect(items.map(({ hit_count }) => hit_count).toSorted((a, b) => a - b)).to.deep.equal([2, 3]);
    await settled(fixture);
  });
});
