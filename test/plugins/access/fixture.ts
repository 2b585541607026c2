/**
 * The access plugin on the memory store, with a clock that the test moves and a hasher that costs
 * nothing.
 */
import 'reflect-metadata';
import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { ContainerScope } from '../../../kernel/container.js';
import {
  added,
  addedBy,
  collection,
  type Collection,
  type Doc,
  type Extension,
  type ExtensionPoint,
  type Ids,
  type Logger,
  type Plugin,
  type PluginContext,
  type PluginParts,
} from '../../../kernel/contract/index.js';
import { RUNTIME } from '../../../ports/domain/system.js';
import type { Cipher } from '../../../ports/cipher.js';
import type { Clock } from '../../../ports/clock.js';
import type { PasswordHasher } from '../../../ports/hasher.js';
import type { DocumentStore } from '../../../ports/store/index.js';
import { buildAccessServices, type AccessConfig, type AccessServices } from '../../../plugins/access/services.js';
import access from '../../../plugins/access/plugin.js';

export const START = Date.parse('2026-11-20T08:00:00.000Z');
export const SHARED_KEY = 'shared-key-of-the-tests';
export const PASSWORD = 'violet-harbour-lantern';

export class ManualClock implements Clock {
  private ahead = 0;
  constructor(private at = START) {}
  now = (): number => this.at + this.ahead;
  iso = (): string => new Date(this.now()).toISOString();
  monotonic = (): number => this.at;
  readonly epoch = 'test';
  forward(ms: number): void {
    this.at += ms;
  }
  /** Somebody puts the time of day ahead, or back. */
  put(ms: number): void {
    this.ahead += ms;
  }
}

export const ids: Ids = {
  uuid: (() => {
    let n = 0;
    return () => `00000000-0000-7000-8000-${String(++n).padStart(12, '0')}`.replace(/^0/, '1');
  })(),
  secret(length = 43) {
    let text = '';
    while (text.length < length)
      text += randomBytes(64)
        .toString('base64')
        .replace(/[^0-9A-Za-z]/g, '');
    return text.slice(0, length);
  },
};

export const cipher: Cipher = {
  seal(plain, purpose) {
    const iv = randomBytes(12);
    const c = createCipheriv('aes-256-gcm', cipher.derive('seal'), iv).setAAD(Buffer.from(purpose));
    return Buffer.concat([iv, c.update(plain, 'utf8'), c.final(), c.getAuthTag()]).toString('base64');
  },
  open(sealed, purpose) {
    const raw = Buffer.from(sealed, 'base64');
    const d = createDecipheriv('aes-256-gcm', cipher.derive('seal'), raw.subarray(0, 12)).setAAD(Buffer.from(purpose));
    d.setAuthTag(raw.subarray(-16));
    return d.update(raw.subarray(12, -16), undefined, 'utf8') + d.final('utf8');
  },
  derive: (purpose) => Buffer.from(hkdfSync('sha256', 'test data key', '', purpose, 32)),
};

/** Prefixes the hash with its scheme and remembers its calls. */
export class FakeHasher implements PasswordHasher {
  readonly asked: { password: string; known: boolean }[] = [];
  hash = async (password: string, cost = 12): Promise<string> => `$2y$${cost}$${digest(password)}`;
  async verify(password: string, hash: string | null): Promise<{ ok: boolean; rehash: boolean }> {
    this.asked.push({ password, known: hash !== null });
    if (hash === null) return { ok: false, rehash: false };
    const ok = hash.endsWith(digest(password));
    return { ok, rehash: ok && !hash.startsWith('$2y$12$') };
  }
}

const digest = (password: string): string => createHmac('sha256', 'test').update(password).digest('hex');
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const { signal } = new AbortController();
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

export const SCOPES = [
  'bugtracker:report',
  'bugtracker:read',
  'bugtracker:manage',
  'projects:read',
  'projects:manage',
  'setup:install',
  'license:read',
  'license:manage',
  ...(access.scopes ?? []),
  'watchdog:ping',
  'watchdog:read',
  'watchdog:manage',
];

export interface Fixture {
  store: DocumentStore;
  clock: ManualClock;
  hasher: FakeHasher;
  /** Services of other plugins, by token name. */
  others: Record<string, unknown>;
  /** What plugins added to extension points. */
  added: Extension[];
}

export async function fixtureOn(store: DocumentStore = new MemoryStore()): Promise<Fixture> {
  await store.connect();
  const others = { 'kernel.catalog': { listScopes: () => SCOPES }, [RUNTIME.name]: { countProcesses: () => 1 } };
  return { store, clock: new ManualClock(), hasher: new FakeHasher(), others, added: [] };
}

/** What the kernel would give `plugin`, by its manifest. */
export async function contextFor<C>(plugin: Plugin<C>, w: Fixture, config: Partial<C> = {}): Promise<PluginContext<C>> {
  const specs = (plugin.collections ?? []).map((spec) => ({
    name: `${plugin.id}_${spec.name}`,
    indexes: spec.indexes,
  }));
  await w.store.ensure(specs);
  const checked: unknown = plugin.config === undefined ? config : plugin.config.validate(config).value;
  const app = {
    version: '0',
    base_url: 'https://aos.test/ops',
    timezone: 'UTC',
    debug: false,
    shared_key: SHARED_KEY,
    webhook_key: '',
    limits: {},
    grouping: {},
  };
  const { clock, hasher } = w;
  const ports = { clock, ids, log: silent, hasher, cipher } as unknown as PluginContext['ports'];
  const rows = <T extends Doc>(name: string): Collection<T> => w.store.collection<T>(`${plugin.id}_${name}`);
  const extensions = <T>({ point }: ExtensionPoint<T>): T[] =>
    w.added.filter((one) => one.point === point).map(({ value }) => value as T);
  const scope = ContainerScope.createRoot({
    ...w.others,
    ...ports,
    app,
    config: checked,
    ...Object.fromEntries((plugin.collections ?? []).map(({ name }) => [collection(name).name, rows(name)])),
    ...Object.fromEntries(
      (plugin.extensionPoints ?? []).flatMap((point) => [
        [added({ point }).name, () => extensions({ point })],
        [addedBy({ point }).name, () => extensions({ point }).map((value) => ({ plugin: 'other', value }))],
      ]),
    ),
  });
  return {
    config: checked as C,
    app,
    log: silent,
    clock: w.clock,
    ids,
    ports,
    collection: rows,
    transact: null,
    resolve: (({ name }) => w.others[name]) as PluginContext['resolve'],
    find: (({ name }) => w.others[name]) as PluginContext['find'],
    extensions,
    services: (classes) => scope.services(classes),
    bind: (key, value) => scope.bind(key, value),
    lock: async (_name, work) => ({ result: await work({ signal, fence: 1, confirm: async () => undefined }) }),
    emit: async () => true,
  };
}

/** The services of one process; several on one fixture act as several processes. */
export async function services(w: Fixture, config: Partial<AccessConfig> = {}): Promise<AccessServices> {
  // definePlugin answers every plugin's type; this one's configuration is known here.
  return buildAccessServices(await contextFor(access as unknown as Plugin<AccessConfig>, w, config));
}

/** What the plugin contributes, its services published to the fixture. */
export async function setUp<C>(plugin: Plugin<C>, w: Fixture, config: Partial<C> = {}): Promise<PluginParts> {
  const parts = await plugin.setup(await contextFor(plugin, w, config));
  Object.assign(w.others, parts.services);
  w.added.push(...(parts.extensions ?? []));
  return parts;
}
