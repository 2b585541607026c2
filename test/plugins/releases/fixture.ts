/** The services of the releases plugin over stores of the test's choice, reading real packages. */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { MemoryReleaseStore } from '../../../adapters/memory/release-store.js';
import { MemoryInstallers } from '../../../adapters/memory/installers.js';
import { MemorySigner } from '../../../adapters/memory/signers.js';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { ContainerScope } from '../../../kernel/container.js';
import { ServiceError } from '../../../kernel/errors.js';
import { releasesConfig, type ReleasesConfig } from '../../../plugins/releases/config.js';
import type { ReleaseDeps } from '../../../plugins/releases/deps.js';
import plugin from '../../../plugins/releases/plugin.js';
import { buildServices, type ReleaseServices } from '../../../plugins/releases/services.js';
import type { BugsApi } from '../../../ports/domain/bugs.js';
import type { ProjectInfo } from '../../../ports/domain/projects.js';
import type { TokenPrincipal, UploadedBody } from '../../../ports/http/index.js';
import type { ReleaseStore } from '../../../ports/release-store.js';
import type { DocumentStore } from '../../../ports/store/index.js';
import type { Platform } from '../../../lib/formats/platform.js';
import type { PublishedRelease, PublishRequest } from '../../../plugins/releases/publishing/publisher.js';
import { ManualClock } from '../access/fixture.js';
import { FakeIds, RecordingLog } from '../../kit/fakes.js';
import { liveTokens } from '../../support/fake-access.js';
import { buildTarEntry } from '../../support/archives.js';
import { PluginStores } from '../../support/stores.js';

export const STORE = new PluginStores('releases', plugin.collections ?? []);
const { toStoredName: nameOf } = STORE;
export const { ensureCollections } = STORE;

export const CI: TokenPrincipal = {
  kind: 'token',
  id: 't',
  name: 'ci',
  token_kind: 'master',
  scopes: ['updateservice:publish'],
  project: null,
  source: null,
  parent_id: null,
};

/** One key for all tests: making an RSA key takes a while. */
export const SIGNER = new MemorySigner('rsa-sha256');

/** A package as a tool makes it. @param files path → content */
export const packageOf = (files: Readonly<Record<string, string>>): Buffer =>
  gzipSync(
    Buffer.concat([
      ...Object.entries(files).map(([name, content]) => buildTarEntry({ name, content })),
      Buffer.alloc(1024),
    ]),
  );

export const uploaded = (bytes: Uint8Array, fields: Record<string, string> = {}): UploadedBody => ({
  mediaType: 'application/gzip',
  declaredBytes: bytes.length,
  readLeadingFields: async () => fields,
  content: (async function* () {
    yield bytes;
  })(),
  readFields: () => Promise.resolve(fields),
});

export const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

export const memoryPackages = (): MemoryReleaseStore => new MemoryReleaseStore();

export interface Told {
  event: string;
  id: string;
  data: Record<string, unknown>;
}

export interface Fixture extends ReleaseServices {
  clock: ManualClock;
  told: Told[];
  audited: string[];
  log: RecordingLog;
  releaseStore: ReleaseStore;
  /** Publishes `content` as the only file. */
  publish(
    version: string,
    content?: string,
    more?: Partial<PublishRequest>,
  ): Promise<PublishedRelease & { warnings: string[] }>;
  publishFiles(
    version: string,
    files: Readonly<Record<string, string>>,
    more?: Partial<PublishRequest>,
  ): Promise<PublishedRelease & { warnings: string[] }>;
  /** What check says. */
  check(version: string, more?: { platform?: Platform; instance?: string; channel?: string }): Promise<Checked>;
}

export interface Checked {
  update_available: boolean;
  latest_version: string | null;
  current_withdrawn: boolean;
  signed: boolean;
  release: {
    version: string;
    platform: string;
    mandatory: boolean;
    package_sha256: string;
    manifest_json: string | null;
    manifest_url: string | null;
    manifest_sha256: string;
    release_notes: string | null;
  } | null;
}

let processes = 0;

/** A process of its own over the stores. */
export function fixtureOn(
  store: DocumentStore,
  releaseStore: ReleaseStore = memoryPackages(),
  clock = new ManualClock(),
  change: (deps: ReleaseDeps) => void = () => undefined,
): Fixture {
  const log = new RecordingLog();
  const reported: Told[] = [];
  const audited: string[] = [];
  const process = { host: `host-${++processes}`, pid: 1, started: null };
  const projects = new Map([
    ['shop', 'shop'],
    ['blog', 'blog'],
  ]);
  const info = (slug: string) => ({ slug, name: slug, require_signed: false, archived: false }) as ProjectInfo;
  const deps: ReleaseDeps = {
    machines: () => undefined,
    releases: store.collection(nameOf('releases')),
    manifests: store.collection(nameOf('manifests')),
    publishes: store.collection(nameOf('publishes')),
    statements: store.collection(nameOf('statements')),
    leases: store.collection(nameOf('leases')),
    clock,
    ids: new FakeIds(`0198${String(processes).padStart(4, '0')}`),
    log,
    config: releasesConfig.validate({}).value as ReleasesConfig,
    emit: (event, data, options) => {
      reported.push({ event, id: options?.id ?? '', data: data as Record<string, unknown> });
      return Promise.resolve(true);
    },
    store: releaseStore,
    signer: SIGNER,
    audit: {
      record: async (_principal, action, target) => void audited.push(`${action} ${target}`),
      listByTarget: async () => ({ items: [], next: null }),
    },
    projects: {
      get: async (slug) => (projects.has(slug) ? info(slug) : null),
      findByNumber: async () => null,
      list: async () => [...projects.keys()].map(info),
      requireAccepting: async (slug) => {
        if (!projects.has(slug)) throw new ServiceError('unknown_project', `Project ${slug} not found.`);
        return info(slug);
      },
    },
    // Every process of a test is on a host of its own, and dead once another one of the test asks.
    processes: { getSelf: async () => process, isDead: async (owner) => owner.host !== process.host },
    history: () => undefined,
    bugs: () => undefined,
    faults: () => undefined,
    fixes: () => undefined,
    health: () => undefined,
    short: () => false,
    packageBytes: 10_000_000,
    liveTokens,
    protect: async () => {},
    installers: new MemoryInstallers(),
    baseUrl: () => 'http://aos.test',
    alone: true,
  };
  change(deps);
  const services = buildServices(ContainerScope.createRoot({}), deps);
  const { uploads, updateChecks } = services;
  const publishFiles: Fixture['publishFiles'] = (version, files, more = {}) =>
    uploads.publish(CI, {
      request: {
        product: 'shop',
        channel: 'stable',
        version,
        platform: 'any',
        build: null,
        mandatory: false,
        rollout_percent: undefined,
        min_version: null,
        by: 'ci',
        ...more,
      },
      body: uploaded(packageOf(files)),
      announced: { sha256: undefined, notes: undefined, meta: undefined },
    });
  return {
    ...services,
    clock,
    told: reported,
    audited,
    log,
    releaseStore,
    publish: (version, content = version, more = {}) => publishFiles(version, { 'app.txt': content }, more),
    publishFiles,
    check: async (version, { platform = 'any', instance, channel = 'stable' } = {}) => {
      const reply = await updateChecks.check({
        product: 'shop',
        version,
        channel,
        platform,
        instance: instance ?? null,
      });
      return JSON.parse(reply.body as string) as Checked;
    },
  };
}

export const bugsOf = (closed: (version: string) => string[]): BugsApi =>
  ({
    recordRelease: async (_project: string, { version }: { version: string }) => closed(version),
    refsOf: async (ids: readonly string[]) => ids.map((id) => `ref of ${id}`),
    withdrawRelease: async () => {},
  }) as unknown as BugsApi;

export async function memoryFixture(change?: (deps: ReleaseDeps) => void): Promise<Fixture> {
  return fixtureOn(await ensureCollections(new MemoryStore()), undefined, undefined, change);
}
