/**
 * The ignore rules over the bug tracker's services, on a store of the test's choice: one process of
 * any number.
 */
import { ContainerScope } from '../../../../kernel/container.js';
import { COLLECTIONS, MIGRATIONS } from '../../../../plugins/errorstream/rules/collections.js';
import type { RuleDeps } from '../../../../plugins/errorstream/rules/deps.js';
import { buildRuleServices, buildRuleJobs, type RuleServices } from '../../../../plugins/errorstream/rules/services.js';
import type { IgnoreRule, IgnoreRuleFields, RuleView } from '../../../../plugins/errorstream/rules/rule.js';
import type { AuditEntry } from '../../../../ports/domain/audit.js';
import type { SessionPrincipal, TokenPrincipal } from '../../../../ports/http/index.js';
import type { DocumentStore } from '../../../../ports/store/index.js';
import { ManualClock } from '../../../kit/clock.js';
import { fixtureOn, type Fixture } from '../../bugs/fixture.js';

export const MEMBER: SessionPrincipal = {
  kind: 'session',
  session_id: 's',
  account_id: 'a',
  username: 'mara',
  role: 'member',
};

export const boundTo = (project: string): TokenPrincipal => ({
  kind: 'token',
  id: 'tok',
  name: 'bound',
  token_kind: 'master',
  scopes: ['bugtracker:manage', 'bugtracker:read'],
  project,
  source: null,
  parent_id: null,
});

export interface RuleFixture extends RuleServices {
  bugs: Fixture;
  deps: RuleDeps;
  clock: ManualClock;
  audited: { action: string; target: string; details: AuditEntry['details'] }[];
  /** The job, once. */
  tick(): Promise<void>;
  rule(fields?: IgnoreRuleFields): Promise<RuleView>;
  stored(id: string): Promise<IgnoreRule | null>;
}

const nameOf = (collection: string): string => `errorstream_${collection}`;

export async function ensureRules(store: DocumentStore): Promise<DocumentStore> {
  await store.ensure(COLLECTIONS.map((spec) => ({ name: nameOf(spec.name), indexes: spec.indexes })));
  return store;
}

/** A process of its own. @param change what is not as it should be */
export async function rulesOn(
  store: DocumentStore,
  clock = new ManualClock(),
  change: (deps: RuleDeps) => void = () => undefined,
): Promise<RuleFixture> {
  await ensureRules(store);
  let services: RuleServices | undefined;
  const bugs = fixtureOn(store, clock, (deps) => {
    deps.filters = () => (services === undefined ? [] : [services.book]);
  });
  const audited: RuleFixture['audited'] = [];
  const deps: RuleDeps = {
    rules: store.collection(nameOf('rules')),
    revisions: store.collection(nameOf('revisions')),
    applies: store.collection(nameOf('applies')),
    bugs: bugs.bugs,
    muting: bugs.muting,
    projects: bugs.deps.projects,
    audit: () => ({
      record: async (_who, action, target, details = {}) => void audited.push({ action, target, details }),
      listRecent: async () => ({ items: [], next: null }),
      listByTarget: async () => ({ items: [], next: null }),
    }),
    clock,
    ids: bugs.deps.ids,
    log: bugs.log,
  };
  change(deps);
  const built = buildRuleServices(ContainerScope.createRoot({}), deps);
  services = built;
  return {
    ...built,
    bugs,
    deps,
    clock,
    audited,
    tick: async () => {
      for (const job of buildRuleJobs(built))
        await job.run({ data: null, signal: new AbortController().signal, attempt: 1, lastAttempt: true });
    },
    rule: (fields = {}) =>
      built.registry.create(MEMBER, {
        match_type: 'contains',
        pattern: 'cart is empty',
        reason: 'known noise',
        ...fields,
      }),
    stored: (id) => deps.rules.get(id),
  };
}

export async function migrated(fixture: RuleFixture): Promise<void> {
  for (const migration of MIGRATIONS) {
    await migration.run({
      collection: (name) => fixture.bugs.store.collection(nameOf(name)),
      clock: fixture.clock,
      ids: fixture.deps.ids,
      log: fixture.deps.log,
    });
  }
}
