/**
 * What ignore rules cost a report: no read of the store, no write where nothing is muted, one for
 * the hit where it is.
 */
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import type { Collection, Doc, DocumentStore } from '../../../../ports/store/index.js';
import { WatchedStore, listUncoveredQueries } from '../../../support/watched-store.js';
import { COLLECTIONS as ITEMS } from '../../../../plugins/bugs/collections.js';
import { COLLECTIONS } from '../../../../plugins/errorstream/rules/collections.js';
import { ensureCollections, errorReport, settled } from '../../bugs/fixture.js';
import { MEMBER, rulesOn, type RuleFixture } from './fixture.js';

/** The store, with every call noted as `collection.method`. */
function noted(store: DocumentStore, calls: string[]): DocumentStore {
  const seen = Object.create(store) as DocumentStore;
  seen.ensure = (specs) => store.ensure(specs);
  seen.collection = <T extends Doc>(name: string): Collection<T> =>
    new Proxy(store.collection<T>(name), {
      get: (target, method) => {
        const inner = Reflect.get(target, method) as (...args: unknown[]) => unknown;
        return (...args: unknown[]): unknown => {
          calls.push(`${name.replace(/^[a-z]+_/, '')}.${String(method)}`);
          return inner.apply(target, args);
        };
      },
    });
  return seen;
}

describe('ignore rules: cost per report', () => {
  const calls: string[] = [];
  let fixture: RuleFixture;
  beforeEach(async () => {
    fixture = await rulesOn(noted(await ensureCollections(new MemoryStore()), calls));
    fixture.bugs.deps.random = () => 0.999_999;
    for (let i = 0; i < 60; i++) await fixture.bugs.bugs.record(errorReport());
    await settled(fixture.bugs);
    calls.length = 0;
  });
  const record = async (fields: Parameters<typeof errorReport>[0] = {}): Promise<void> => {
    await fixture.bugs.bugs.record(errorReport(fields));
    await settled(fixture.bugs);
  };

  it('no calls without rules', async () => {
    expect(fixture.book.findMute(errorReport())).to.equal(null);
    await record();
    expect(calls).to.deep.equal(['items.change']);
  });

  it('no calls with rules that do not match', async () => {
    for (let i = 0; i < 20; i++) await fixture.rule({ pattern: `x${i}`, match_type: i % 2 ? 'regex' : 'contains' });
    calls.length = 0;
    expect(fixture.book.findMute(errorReport())).to.equal(null);
    await record();
    expect(calls).to.deep.equal(['items.change']);
  });

  it('writes the count and the rule’s counter on a match, and the rate only when it is exceeded', async () => {
    await fixture.rule({ alarm_threshold: 1000 });
    await record();
    calls.length = 0;
    await record();
    expect(calls).to.deep.equal(['items.change', 'rules.change']);
  });

  it('shares a few counter writes among 64 concurrent matches', async () => {
    const { id } = await fixture.rule();
    await record();
    calls.length = 0;
    await Promise.all(Array.from({ length: 64 }, () => fixture.bugs.bugs.record(errorReport())));
    expect(calls.filter((call) => call === 'rules.change').length).to.be.below(32);
    expect(await fixture.stored(id)).to.include({ hit_count: 65 });
  });

  it('makes a single small read after a second, after the response', async () => {
    fixture.clock.advance(1_001);
    expect(fixture.book.findMute(errorReport())).to.equal(null);
    await fixture.book.reload();
    expect(calls.filter((call) => !call.startsWith('revisions.'))).to.deep.equal([]);
  });
});

describe('ignore rules: declared indexes', () => {
  it('cover its queries', async () => {
    const store = new WatchedStore();
    await ensureCollections(store);
    const fixture = await rulesOn(store);
    const rule = await fixture.rule({ alarm_threshold: 1 });
    for (let i = 0; i < 3; i++) await fixture.bugs.bugs.record(errorReport());
    await fixture.registry.getPage(MEMBER, { limit: 50, enabled: true });
    await fixture.registry.preview(MEMBER, { match_type: 'contains', pattern: 'cart', project: 'alpha' });
    await fixture.registry.startApply(MEMBER, rule.id);
    await fixture.runs.waitForIdle();
    await fixture.registry.apply(MEMBER, rule.id, {});
    await fixture.registry.change(MEMBER, rule.id, { pattern: 'cart' });
    await fixture.bugs.jobs.sweep();
    await fixture.registry.listMutedGroups(rule.id, 5);
    await fixture.registry.remove(MEMBER, rule.id);
    fixture.clock.advance(20_000);
    await fixture.tick();
    await settled(fixture.bugs);
    expect(listUncoveredQueries(store.asked, 'errorstream', COLLECTIONS).without).to.deep.equal([]);
    expect(listUncoveredQueries(store.asked, 'bugs', ITEMS).without).to.deep.equal([]);
  });
});
