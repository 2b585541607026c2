/**
 * What the audit log finds by filters: the same as a look at every entry, page by page, on both
 * embedded stores.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { searchAuditLog } from '../../../../plugins/access/audit/audit-search.js';
import access from '../../../../plugins/access/plugin.js';
import type { AuditEntry, AuditQuery } from '../../../../ports/domain/audit.js';
import type { Collection } from '../../../../ports/store/index.js';
import { PluginStores, type OpenedStore } from '../../../support/stores.js';

const ACTORS = ['admin', 'admin2', 'anna', 'system', 'token ci (a)', 'token ci (b)'];
const ACTIONS = ['bug.bulk', 'token.created', 'token.revoked', 'tokens.odd', 'user.disabled'];
const TIMES = Array.from({ length: 6 }, (_, i) => `2026-11-20T08:00:0${i}.000Z`);

const maybe = <T>(values: readonly T[]): fc.Arbitrary<T | undefined> => fc.constantFrom(undefined, ...values);
const queries = fc.record({
  actor: maybe(['admin', 'a', 'token ci', 'nobody']),
  action: maybe(['token.', 'token.created', 'user.', 'x.', 'bug.bulk']),
  target: maybe(['t0', 't1']),
  since: maybe(TIMES),
  until: maybe(TIMES),
});

const entry = (n: number, [actor, action, target, at]: readonly [string, string, string, string]): AuditEntry => ({
  id: `id-${String(n).padStart(4, '0')}`,
  at,
  actor,
  action,
  target,
  details: {},
});

const fits = (one: AuditEntry, { actor, action, target, since, until }: AuditQuery): boolean =>
  (actor === undefined || one.actor.startsWith(actor)) &&
  (action === undefined || (action.endsWith('.') ? one.action.startsWith(action) : one.action === action)) &&
  (target === undefined || one.target === target) &&
  (since === undefined || one.at >= since) &&
  (until === undefined || one.at < until);

const newestFirst = (a: AuditEntry, b: AuditEntry): number =>
  a.at === b.at ? (a.id < b.id ? 1 : -1) : a.at < b.at ? 1 : -1;

async function paged(rows: Collection<AuditEntry>, query: AuditQuery, limit: number): Promise<string[]> {
  const found: string[] = [];
  for (let after: string | null = null, more = true; more; more = after !== null) {
    const page: { items: AuditEntry[]; next: string | null } = await searchAuditLog(rows, query, limit, after);
    expect(page.items.length).to.be.at.most(limit);
    found.push(...page.items.map(({ id }) => id));
    after = page.next;
  }
  return found;
}

for (const engine of new PluginStores('access', access.collections ?? []).embedded) {
  describe(`access: audit log search (${engine.name})`, () => {
    let opened: OpenedStore;
    let rows: Collection<AuditEntry>;
    beforeEach(async () => {
      opened = await engine.open();
      rows = opened.store.collection('access_audit');
    });
    afterEach(() => opened.close());

    it('returns the same pages as a full scan, for every filter', async () => {
      const kind = fc.tuple(
        fc.constantFrom(...ACTORS),
        fc.constantFrom(...ACTIONS),
        fc.constantFrom('t0', 't1', 't2'),
        fc.constantFrom(...TIMES),
      );
      await fc.assert(
        fc.asyncProperty(
          fc.array(kind, { maxLength: 40 }),
          fc.array(queries, { minLength: 1, maxLength: 6 }),
          fc.integer({ min: 1, max: 7 }),
          async (kinds, requested, limit) => {
            await rows.remove({});
            const entries = kinds.map((one, n) => entry(n, one));
            await rows.bulk(entries.map((insert) => ({ insert })));
            for (const one of requested) {
              const query = Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined));
              const expected = entries.filter((e) => fits(e, query)).toSorted(newestFirst);
              expect(await paged(rows, query, limit)).to.deep.equal(expected.map(({ id }) => id));
            }
          },
        ),
        { numRuns: 40 },
      );
    });

    it('finds entries by a prefix that matches more names than are queried separately', async () => {
      const entries = Array.from({ length: 60 }, (_, n) =>
        entry(n, [`user ${String(n % 30).padStart(2, '0')}`, 'bug.bulk', 't', TIMES[n % 6] as string]),
      );
      await rows.bulk(entries.map((insert) => ({ insert })));
      const expected = entries.toSorted(newestFirst).map(({ id }) => id);
      expect(await paged(rows, { actor: 'user' }, 7)).to.deep.equal(expected);
    });
  });
}
