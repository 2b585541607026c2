/**
 * The services of the bugs plugin over a store of the test's choice, with a clock that the test
 * moves.
 */
import { MemoryStore } from '../../../adapters/memory/store.js';
import { RandomIds } from '../../../adapters/node/ids.js';
import { ContainerScope } from '../../../kernel/container.js';
import { ServiceError } from '../../../kernel/errors.js';
import type { ItemListResponse } from '../../../plugins/bugs/lists/item-list.js';
import type { BugCaller } from '../../../plugins/bugs/caller.js';
import { COLLECTIONS } from '../../../plugins/bugs/collections.js';
import type { BugDeps } from '../../../plugins/bugs/deps.js';
import { PublishedBuildRepository } from '../../../plugins/bugs/builds/published-builds.js';
import { buildServices, type BugServices } from '../../../plugins/bugs/services.js';
import type { BugEvent, Item, Report } from '../../../ports/domain/bugs.js';
import type { ProjectDirectory, ProjectInfo } from '../../../ports/domain/projects.js';
import type { TokenPrincipal } from '../../../ports/http/index.js';
import type { DocumentStore } from '../../../ports/store/index.js';
import { ReportMetrics } from '../../../plugins/bugs/report-metrics.js';
import { fakeMetrics, RecordingLog } from '../../kit/fakes.js';
import { ManualClock } from '../../kit/clock.js';
import { LIVE_TOKEN, liveTokens, noAccounts } from '../../support/fake-access.js';
import { PluginStores } from '../../support/stores.js';
import { toReplaceable } from '../../support/replaceable.js';

export const MANAGER: BugCaller = { id: 'tok-manager', name: 'manager', project: null, manage: true, kind: 'token' };
/** The same as a principal. */
export const MASTER: TokenPrincipal = {
  kind: 'token',
  id: MANAGER.id,
  name: MANAGER.name,
  token_kind: 'master',
  parent_id: null,
  scopes: ['bugtracker:manage'],
  project: null,
  source: null,
};

const info = (slug: string): ProjectInfo => ({
  slug,
  name: slug,
  description: null,
  repo_url: null,
  number: 1,
  setup_scopes: [],
  cache_ttl_hours: 72,
  require_signed: false,
  archived: false,
});

const PROJECTS: ProjectDirectory = {
  get: async (slug) => info(slug),
  findByNumber: async () => null,
  list: async () => [info('alpha'), info('beta')],
  requireAccepting: async (slug) => {
    if (slug === 'nowhere') throw new ServiceError('unknown_project', 'Project not found.');
    return info(slug);
  },
};

/** Accounts that the fixture knows. */
const ACCOUNTS = ['alice', 'bob', 'member'];
export { LIVE_TOKEN };

export interface Told {
  id: string;
  event: string;
  data: BugEvent;
}

export interface Fixture extends BugServices {
  store: DocumentStore;
  deps: BugDeps;
  clock: ManualClock;
  /** Every event that was emitted, in order. */
  told: Told[];
  log: RecordingLog;
  /** A release stands that no publish has told of yet. */
  published: (version: string, build?: string | null, project?: string) => Promise<void>;
}

const STORE = new PluginStores('bugs', COLLECTIONS);
export const { toStoredName: nameOf, ensureCollections } = STORE;

/** A process of its own over the store. @param change what is not as it should be */
export function fixtureOn(
  store: DocumentStore,
  clock = new ManualClock(),
  change: (deps: BugDeps) => void = () => undefined,
): Fixture {
  const reported: Told[] = [];
  const log = new RecordingLog();
  const deps: BugDeps = {
    items: store.collection(nameOf('items')),
    texts: store.collection(nameOf('texts')),
    words: store.collection(nameOf('words')),
    keys: store.collection(nameOf('keys')),
    families: store.collection(nameOf('families')),
    floods: store.collection(nameOf('floods')),
    removals: store.collection(nameOf('removals')),
    refs: store.collection(nameOf('refs')),
    occurrences: store.collection(nameOf('occurrences')),
    comments: store.collection(nameOf('comments')),
    activity: store.collection(nameOf('activity')),
    counters: store.collection(nameOf('counters')),
    links: store.collection(nameOf('links')),
    moves: store.collection(nameOf('moves')),
    splits: store.collection(nameOf('splits')),
    views: store.collection(nameOf('views')),
    bulks: store.collection(nameOf('bulks')),
    waiting: store.collection(nameOf('waiting')),
    ruleLists: store.collection(nameOf('rulelists')),
    ruleRevisions: store.collection(nameOf('rulerevisions')),
    transact: STORE.createTransact(store),
    clock,
    ids: new RandomIds(clock),
    log,
    new_groups_per_hour: 0,
    peers: () => 1,
    grouping: { flood_items: 25, masks: {} },
    config: {
      hour_high: 100,
      hour_critical: 1000,
      delta_margin_seconds: 10,
      agent_token_seconds: 7200,
      max_claims: 1000,
      retention_days: null,
    },
    projects: PROJECTS,
    accounts: {
      ...noAccounts,
      listUsernames: async (most) => ACCOUNTS.slice(0, most),
      findUsername: async (name) => ACCOUNTS.find((account) => account === name.toLowerCase()) ?? null,
    },
    liveTokens,
    builds: store.collection(nameOf('builds')),
    traffic: store.collection(nameOf('traffic')),
    commits: store.collection(nameOf('commits')),
    filters: () => [],
    pullRequests: () => [],
    faultWatchers: () => [],
    peopleKey: Buffer.alloc(32, 7),
    senderKey: Buffer.from('senders'),
    audit: () => undefined,
    emit: async (event, data, { id }) => {
      reported.push({ id, event, data: data as BugEvent });
      return true;
    },
    random: Math.random,
    reports: new ReportMetrics(fakeMetrics),
  };
  change(deps);
  const scope = ContainerScope.createRoot({});
  const { known, ...rest } = {
    ...buildServices(scope, toReplaceable(deps)),
    ...scope.services({ known: PublishedBuildRepository }),
  };
  const published = (version: string, build: string | null = null, project = 'alpha'): Promise<void> =>
    known.add(project, { version, build });
  return { ...rest, store, deps, clock, told: reported, log, published };
}

export async function memoryFixture(): Promise<Fixture> {
  return fixtureOn(await ensureCollections(new MemoryStore()));
}

export const STORES = STORE.embedded;
/** The same and MongoDB. */
export const ENGINES = STORE.all;

/** Two processes on one store; `close` waits for both. */
export interface TwoProcesses {
  fixture: Fixture;
  other: Fixture;
  close: () => Promise<void>;
}

/** @param skip where this machine has no such store */
export async function twoProcesses(engine: (typeof ENGINES)[number], skip: () => never): Promise<TwoProcesses> {
  const opened = await engine.open(skip);
  const fixture = fixtureOn(opened.store);
  const other = fixtureOn(opened.store, fixture.clock);
  const close = async (): Promise<void> => {
    await settled(fixture);
    await settled(other);
    await opened.close();
  };
  return { fixture, other, close };
}

export function report(fields: Partial<Report> = {}): Report {
  return {
    type: 'bug',
    project: 'alpha',
    title: 'It breaks',
    severity: 'medium',
    source: 'agent',
    reported_by: 'tok-app',
    ...fields,
  };
}

export const errorReport = (fields: Partial<Report> = {}): Report =>
  report({
    type: 'error',
    title: 'E: cart is empty',
    severity: 'high',
    source: 'app',
    error_level: 'error',
    error_message: 'cart is empty',
    exception_class: 'E',
    file_path: 'src/cart.ts',
    ...fields,
  });

/** The code of the ServiceError that `run` rejects with; `none` when it does not. */
export async function codeOf(run: Promise<unknown>): Promise<string> {
  try {
    await run;
    return 'none';
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

/** Everything that goes on behind the answers has happened. */
export const settled = (fixture: Fixture): Promise<void> => fixture.jobs.stop();

let made = 0;

/**
 * A fresh item, brought into a status by the shortest way. Grouping would take ids in titles for
 * the same thing, short numbers not.
 */
export async function itemIn(fixture: Fixture, status: string, title = `Item ${++made}`): Promise<string> {
  const { id } = await fixture.bugs.record(report({ title }));
  const edit = (fields: object) => fixture.edits.edit(id, MANAGER, fields);
  if (status === 'in_progress') await fixture.leases.claim(id, MANAGER, { agent: 'a' });
  else if (status === 'wont_fix') await edit({ status, reason: 'as designed' });
  else if (status === 'duplicate')
    await edit({ status, duplicate_of: (await fixture.bugs.record(report({ title: `Target of ${title}` }))).id });
  else if (status !== 'open') await edit({ status });
  return id;
}

/** The item as the API shows it. */
/** The items of a list's answer. */
export const listed = ({ items }: Pick<ItemListResponse, 'items'>): Item[] => items;

export const shown = async (fixture: Fixture, name: string): Promise<Item> =>
  (await fixture.lists.getDetail(name, MANAGER)).item;
