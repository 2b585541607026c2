/**
 * The release store as users meet it: a listening server, packages on the disk, accounts, and
 * licenses as this test keeps them.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request as ask } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveAccessMode } from '../../../adapters/fs/access-mode.js';
import { FsReleaseStore } from '../../../adapters/fs/release-store.js';
import { HapiServer } from '../../../adapters/hapi/server.js';
import { ThreadHasher } from '../../../adapters/node/hasher.js';
import { NodeOutbound } from '../../../adapters/node/outbound.js';
import { definePlugin, type CommandResult, type Plugin } from '../../../kernel/contract/index.js';
import access from '../../../plugins/access/plugin.js';
import projects from '../../../plugins/projects/plugin.js';
import type { ReleasesConfig } from '../../../plugins/releases/config.js';
import releases from '../../../plugins/releases/plugin.js';
import { ADMIN_BOOTSTRAP } from '../../../ports/domain/access.js';
import {
  LICENSE_CHANGE_LISTENERS,
  LICENSES,
  type LicenseCredential,
  type LicenseDirectory,
  type LicenseChangeListener,
} from '../../../ports/domain/licensing.js';
import { RELEASE_STORE, type ReleaseStoreMaintenance } from '../../../ports/domain/releases.js';
import type { Outbound } from '../../../ports/outbound.js';
import type { ReleaseLocation } from '../../../ports/release-store.js';
import type { DocumentStore } from '../../../ports/store/index.js';
import { buildPackage } from '../../kit/contracts/release-store.js';
import { fakeMetrics } from '../../kit/fakes.js';
import { createHelpers } from '../../../web/helpers/index.js';
import { createTestKernel, type TestKernel } from '../../harness.js';
import { PASSWORD_COST } from '../../support/prepared-data-dir.js';
import { ManualClock } from '../../kit/clock.js';
import { RandomIds } from '../../../adapters/node/ids.js';

export const PASSWORD = 'correct horse battery';
export const KEY = 'AAAA-BBBB-CCCC-DDDD-EEEE';
export const OTHER_KEY = 'ZZZZ-BBBB-CCCC-DDDD-EEEE';
export const nameOf = (key: string): string => `lic_${createHash('sha256').update(key).digest('hex').slice(0, 16)}`;
export const basic = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

const OFF = {
  intake_per_minute: 0,
  intake_burst: 0,
  api_per_minute: 0,
  bulk_per_minute: 0,
  auth_failures_per_minute: 0,
  public_per_minute: 0,
};

/** Licenses that a test adds and takes away; `changed` tells as the licensing plugin does. */
export class KeptLicenses implements LicenseDirectory {
  readonly rows = new Map<string, LicenseCredential[]>();
  #mark = 0;
  watchers: () => readonly LicenseChangeListener[] = () => [];

  async *iterateCredentials(product: string): AsyncGenerator<LicenseCredential> {
    yield* (this.rows.get(product) ?? []).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }
  async getRevision(): Promise<string> {
    return String(this.#mark);
  }
  async findByKeySha256(): Promise<null> {
    return null;
  }
  async set(product: string, credentials: LicenseCredential[]): Promise<void> {
    this.#mark++;
    this.rows.set(product, credentials);
    for (const watcher of this.watchers()) await watcher.onChange(product);
  }
}

export interface Asked {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** One request, with a path as it is: nothing is made of `..` or `%2e`. */
export function get(
  base: string,
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Asked> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const call = ask({ hostname, port, path, method, headers, agent: false }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('error', reject);
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(pieces) }),
      );
    });
    call.on('error', reject);
    call.end();
  });
}

export class StoreFixture {
  private constructor(
    readonly folder: string,
    readonly harness: TestKernel,
    readonly files: FsReleaseStore,
    readonly licenses: KeptLicenses,
    readonly clock: ManualClock,
    /** Where the self-test asks: this server, until a test puts another one in front. */
    readonly target: { url: string },
    readonly hasher: ThreadHasher,
    private readonly unpacks: boolean,
  ) {
    this.base = target.url;
  }

  /** @param folder its data directory; else one of its own */
  static async open(
    options: {
      folder?: string;
      store?: DocumentStore;
      section?: Partial<ReleasesConfig>;
      limits?: Record<string, number>;
    } = {},
  ): Promise<StoreFixture> {
    const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'aos-store-')));
    const clock = new ManualClock();
    const ids = new RandomIds(clock);
    const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };
    const limits = { json_bytes: 1 << 20, inflated_bytes: 8 << 20, ...OFF, ...options.limits };
    const server = new HapiServer({
      host: '127.0.0.1',
      port: 0,
      base_url: 'http://aos.test',
      trusted_proxies: [],
      limits,
      debug: false,
      version: '0',
      timezone: 'UTC',
      webDir: join(import.meta.dirname, '../../../web'),
      helpers: createHelpers({ timezone: 'UTC', now: () => clock.now() }),
      log,
      clock,
      ids,
      metrics: fakeMetrics,
    });
    const licenses = new KeptLicenses();
    const stub: Plugin = definePlugin({
      id: 'licensing',
      version: '1.0.0',
      api: 1,
      title: 'Licenses of the test',
      provides: [LICENSES.name],
      extensionPoints: [LICENSE_CHANGE_LISTENERS.point],
      setup(ctx) {
        licenses.watchers = () => ctx.extensions(LICENSE_CHANGE_LISTENERS);
        return { services: { [LICENSES.name]: licenses } };
      },
    });
    const { web_group = null, web_path = null, unpack_files = false } = options.section ?? {};
    const accessMode = await resolveAccessMode({ web_group, web_path });
    const files = new FsReleaseStore(join(folder, 'releases'), accessMode, undefined, { enabled: unpack_files });
    const hasher = new ThreadHasher({ cost: PASSWORD_COST });
    const node = new NodeOutbound();
    const target = { url: 'http://127.0.0.1:1' };
    const outbound: Outbound = {
      checkUrl: (url, policy) => node.checkUrl(url, policy),
      request: (requested) => node.request({ ...requested, url: requested.url.replace('http://aos.test', target.url) }),
    };
    const made = createTestKernel([access, projects, stub, releases], {
      ...(options.store && { store: options.store }),
      app: { base_url: 'http://aos.test' },
      sections: { auth: { admin_user: 'admin', admin_password: PASSWORD }, releases: options.section ?? {} },
      parts: { http: server, clock, ids, hasher, outbound, releaseStore: files },
    });
    target.url = (await made.kernel.boot('serve', { jobs: false })).address ?? '';
    await made.kernel.findService(ADMIN_BOOTSTRAP)?.ensureAdmin();
    return new StoreFixture(folder, made, files, licenses, clock, target, hasher, unpack_files);
  }

  /** This server. */
  readonly base: string;
  #token = '';

  /** A command of the plugins, by its name. */
  async command(
    name: string,
    options: Record<string, string | boolean> = {},
    stdin = '',
    args: string[] = [],
  ): Promise<CommandResult> {
    const command = this.harness.kernel.listCommands().find(({ spec }) => spec.name === name);
    if (command === undefined) throw new Error(`there is no command ${name}`);
    return command.spec.run({ args, options, stdin: async () => stdin });
  }

  async account(username: string, role = 'installer'): Promise<void> {
    await this.command('user create', { username, role, 'password-stdin': true }, PASSWORD);
  }

  get care(): ReleaseStoreMaintenance {
    return this.harness.kernel.findService(RELEASE_STORE) as ReleaseStoreMaintenance;
  }

  /** As CI publishes. */
  async publish(
    place: Partial<ReleaseLocation> = {},
    bytes = buildPackage({ 'a.txt': 'a' }),
  ): Promise<ReleaseLocation> {
    const whole = { product: 'shop', channel: 'stable', version: '1.0', platform: 'any', ...place };
    if (this.#token === '') {
      const scopes = 'updateservice:publish';
      this.#token = ((await this.command('token create', { name: 'ci', scopes })).json as { token: string }).token;
    }
    await this.command('project create', {}, '', [whole.product]).catch(() => undefined);
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/gzip' };
    const url = `${this.base}/api/updateservice/v1/publish?${new URLSearchParams(whole).toString()}`;
    const answer = await fetch(url, { method: 'POST', headers, body: bytes });
    if (!answer.ok) throw new Error(`publish: ${answer.status} ${await answer.text()}`);
    if (this.unpacks) await this.files.packages.updateFiles(whole);
    return whole;
  }

  /** The package of `publish` is withdrawn. */
  async withdrawn(): Promise<void> {
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ product: 'shop', channel: 'stable', version: '1.0', reason: 'test' });
    const answer = await fetch(`${this.base}/api/updateservice/v1/withdraw`, { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(`withdraw: ${answer.status} ${await answer.text()}`);
  }

  async license(key: string, valid_until: string | null = null): Promise<LicenseCredential> {
    return { name: nameOf(key), hash: await this.hasher.hash(key, 8), valid_until };
  }

  read(...path: string[]): Promise<string> {
    return readFile(join(this.folder, 'releases', ...path), 'utf8');
  }

  async stop(): Promise<void> {
    await this.harness.stop();
    await this.hasher.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}
