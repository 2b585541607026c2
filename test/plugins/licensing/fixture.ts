/**
 * The services of the licensing plugin over a store of the test's choice, signed with a real key.
 */
import { createHash, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { DataCipher } from '../../../adapters/node/cipher.js';
import { RandomIds } from '../../../adapters/node/ids.js';
import { ContainerScope } from '../../../kernel/container.js';
import { ServiceError } from '../../../kernel/errors.js';
import type { Principal, SessionPrincipal } from '../../../ports/http/index.js';
import { COLLECTIONS } from '../../../plugins/licensing/collections.js';
import type { LicensingDeps } from '../../../plugins/licensing/deps.js';
import type { LicenseDoc } from '../../../plugins/licensing/model/documents.js';
import { buildServices, type LicensingServices } from '../../../plugins/licensing/services.js';
import type { AuditEntry } from '../../../ports/domain/audit.js';
import type { ProjectInfo } from '../../../ports/domain/projects.js';
import type { PredecessorKey, PublicKey, Signer } from '../../../ports/signer.js';
import type { DocumentStore } from '../../../ports/store/index.js';
import { ManualClock } from '../../kit/clock.js';
import { RecordingLog } from '../../kit/fakes.js';
import { PluginStores } from '../../support/stores.js';

export const ADMIN: SessionPrincipal = {
  kind: 'session',
  session_id: 's',
  account_id: 'a',
  username: 'admin',
  role: 'admin',
};
export const SHARED: Principal = { kind: 'shared_key' };
export const BASE = '/api/license/v1';

export class TestSigner implements Signer {
  #private: KeyObject;
  #before: PredecessorKey[] = [];

  constructor(kind: 'ed25519' | 'rsa' = 'ed25519') {
    this.#private = newPrivate(kind);
  }

  rotate(kind: 'ed25519' | 'rsa' = 'ed25519'): void {
    const old = this.#private;
    const before = publicOf(old);
    this.#private = newPrivate(kind);
    const der = createPublicKey(this.#private).export({ type: 'spki', format: 'der' });
    this.#before.unshift({ ...before, signature: signed(old, der) });
  }

  getKey = async (): Promise<PublicKey> => publicOf(this.#private);
  listPredecessors = async (): Promise<PredecessorKey[]> => this.#before;
  sign: Signer['sign'] = async (bytes) => ({ signature: signed(this.#private, bytes), key: publicOf(this.#private) });
  getKeyStart = async (): Promise<null> => null;
  onRotated = (): (() => void) => () => undefined;
  get pem(): string {
    return publicOf(this.#private).public_key;
  }
}

const newPrivate = (kind: 'ed25519' | 'rsa'): KeyObject =>
  kind === 'rsa'
    ? generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    : generateKeyPairSync('ed25519').privateKey;

const signed = (key: KeyObject, bytes: Uint8Array): string =>
  sign(key.asymmetricKeyType === 'rsa' ? 'sha256' : null, bytes, key).toString('base64');

function publicOf(key: KeyObject): PublicKey {
  const own = createPublicKey(key);
  const der = own.export({ type: 'spki', format: 'der' });
  return {
    key_id: createHash('sha256').update(der).digest('hex').slice(0, 16),
    algorithm: key.asymmetricKeyType === 'rsa' ? 'rsa-sha256' : 'ed25519',
    public_key: own.export({ type: 'spki', format: 'pem' }).toString(),
    bits: key.asymmetricKeyDetails?.modulusLength ?? 256,
  };
}

export interface Fixture extends LicensingServices {
  store: DocumentStore;
  deps: LicensingDeps;
  clock: ManualClock;
  signer: TestSigner;
  log: RecordingLog;
  audited: Pick<AuditEntry, 'action' | 'target' | 'details' | 'before' | 'after'>[];
  emitted: { event: string; data: Record<string, unknown>; id: string }[];
  /** Products whose watchers were called. */
  told: (string | null)[];
  /** An active license for five machines, and its key. */
  license(more?: Record<string, unknown>): Promise<{ doc: LicenseDoc; key: string }>;
  settled(): Promise<void>;
}

export const STORE = new PluginStores('licensing', COLLECTIONS);
export const STORES = STORE.all;

interface Options {
  clock?: ManualClock;
  signer?: TestSigner;
  change?: Partial<LicensingDeps>;
}

/** A process of its own over the store. */
export function fixtureOn(store: DocumentStore, options: Options = {}): Fixture {
  const { clock = new ManualClock(), signer = new TestSigner(), change } = options;
  const log = new RecordingLog();
  const audited: Fixture['audited'] = [];
  const emitted: Fixture['emitted'] = [];
  const reported: Fixture['told'] = [];
  const projects = new Map(['shop', 'blog'].map((slug) => [slug, { slug, cache_ttl_hours: 72 } as ProjectInfo]));
  const deps: LicensingDeps = {
    machines: () => undefined,
    mail: () => undefined,
    baseUrl: () => 'https://aos.example',
    licenses: store.collection(STORE.toStoredName('licenses')),
    activations: store.collection(STORE.toStoredName('activations')),
    leases: store.collection(STORE.toStoredName('leases')),
    marks: store.collection(STORE.toStoredName('marks')),
    expiryMarks: store.collection(STORE.toStoredName('marks')),
    clock,
    ids: new RandomIds(clock),
    log,
    cipher: new DataCipher('data-key-for-tests-only-0123456789abcdef'),
    hasher: { hash: async (key, cost) => `$2y$0${cost}$${createHash('sha256').update(key).digest('hex')}` },
    signer,
    audit: {
      record: async (_who, action, target, details = {}, shown) => {
        audited.push({ action, target, details, ...shown });
      },
      listRecent: async () => ({ items: [], next: null }),
      listByTarget: async () => ({ items: [], next: null }),
    },
    projects: {
      get: async (slug) => projects.get(slug) ?? null,
      requireAccepting: async (slug) => {
        const known = projects.get(slug);
        if (known === undefined) throw new ServiceError('unknown_project', `Project ${slug} not found.`);
        return known;
      },
      list: async () => [...projects.values()],
    },
    brands: { find: async () => null, findCommon: async () => null },
    throttle: {
      begin: async () => ({ recordFailure: async () => undefined, release: () => undefined }),
      reset: async () => undefined,
    },
    watchers: () => [{ onChange: async (product) => void reported.push(product) }],
    emit: async (event, data, { id = '' } = {}) => {
      emitted.push({ event, data: data as Record<string, unknown>, id });
      return true;
    },
    config: { expiring_days: 14 },
    ...change,
  };
  const services = buildServices(ContainerScope.createRoot({}), deps);
  return {
    ...services,
    store,
    deps,
    clock,
    signer,
    log,
    audited,
    emitted,
    told: reported,
    license: async (more = {}) => {
      const { license, key } = await services.licenses.create(ADMIN, { product: 'shop', max_activations: 5, ...more });
      return { doc: (await deps.licenses.get(license.id)) as LicenseDoc, key };
    },
    settled: async () => {
      for (const outbox of services.outboxes) await outbox.drain();
    },
  };
}

export async function memoryFixture(options: Options = {}): Promise<Fixture> {
  return fixtureOn(await STORE.ensureCollections(new MemoryStore()), options);
}
