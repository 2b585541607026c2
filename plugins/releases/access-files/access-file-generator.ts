/**
 * From accounts and licenses (contract 40, access files). Marks are taken before reading and stored
 * after writing, so a change or crash in between makes the files due again.
 */
import {
  inject,
  injectable,
  type Collection,
  type Clock,
  type Ids,
  type Logger,
} from '../../../kernel/contract/index.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import type { HeldLease, LeaseRow } from '../../../lib/lease.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import { HOUR_MS } from '../../../lib/time.js';
import type { LicenseCredential, LicenseDirectory } from '../../../ports/domain/licensing.js';
import type { AccessFile, ReleaseStore } from '../../../ports/release-store.js';
import { withLeaseLock } from '../lease-lock.js';
import { ACCESS_FILES_DEPS, type AccessFilesDoc } from './deps.js';
import {
  buildAccountLines,
  buildHeaderLine,
  ACCESS_FILE_VERSION,
  buildHtaccess,
  buildHtpasswd,
  buildLicenseLines,
} from './access-file-texts.js';
import type { AccountDirectory } from '../../../ports/domain/access.js';
import type { ProcessOwner, Processes } from '../../../ports/processes.js';

export const STATE_ID = 'access-files';
/** See contract 40, access files. */
const REWRITE_INTERVAL_MS = 6 * HOUR_MS;
/** When sources change during a run; the next call handles later changes. */
const MAX_RUNS = 5;
const MAX_SKIPPED_NAMES = 100;

interface SourceState {
  accounts: string;
  licenses: string;
  format: string;
}

@injectable()
export class AccessFileGenerator {
  readonly #flights = new SingleFlight<string[]>();
  /** By path; their header was verified, so they are not read again. */
  readonly #verifiedTags = new BoundedMap<string>({ most: 2_000 });
  readonly #protected = new Set<string>();

  constructor(
    @inject(ACCESS_FILES_DEPS.store) private readonly store: ReleaseStore,
    @inject(ACCESS_FILES_DEPS.rows) private readonly rows: Collection<AccessFilesDoc>,
    @inject(ACCESS_FILES_DEPS.leases) private readonly leases: Collection<LeaseRow<ProcessOwner>>,
    @inject(ACCESS_FILES_DEPS.clock) private readonly clock: Clock,
    @inject(ACCESS_FILES_DEPS.ids) private readonly ids: Ids,
    @inject(ACCESS_FILES_DEPS.log) private readonly log: Logger,
    @inject(ACCESS_FILES_DEPS.processes) private readonly processes: Processes,
    @inject(ACCESS_FILES_DEPS.accounts) private readonly accounts: AccountDirectory,
    @inject(ACCESS_FILES_DEPS.licenses) private readonly licenses: () => LicenseDirectory | undefined,
    @inject(ACCESS_FILES_DEPS.webPath) private readonly webPath: string | null,
  ) {}

  /**
   * Based on reads that begin after this call.
   * @returns their products
   */
  regenerate(): Promise<string[]> {
    return this.#flights.fresh('due', () => this.#withLock((held) => this.#writeDue(held, false)));
  }

  regenerateAll(): Promise<string[]> {
    return this.#flights.fresh('all', () => this.#withLock((held) => this.#writeDue(held, true)));
  }

  /** For every product without valid ones, before the service listens. */
  async writeMissing(): Promise<void> {
    for (const product of await this.listProducts())
      if (!(await this.#isComplete(product))) {
        await this.regenerate();
        return;
      }
  }

  /**
   * Returns true when files were deleted while this process ran, which switches the product's
   * protection off (interface, release store). Without files since the start it is not open.
   */
  wasProtected(product: string): boolean {
    return this.#protected.has(product);
  }

  async protect(product: string): Promise<void> {
    if (await this.#isComplete(product)) return;
    await this.#withLock(async (held) => {
      if (await this.#isComplete(product)) return;
      await this.#writeAll(held, [product], (await this.getState()) ?? { id: STATE_ID });
      await this.rows.change({ id: STATE_ID }, { set: { written_at: this.clock.iso() } }, { upsert: true });
    });
  }

  async getState(): Promise<AccessFilesDoc | null> {
    return this.rows.get(STATE_ID);
  }

  listProducts(): Promise<string[]> {
    return this.store.access.listProducts();
  }

  /** Without `.htaccess`, everyone may read them. */
  async listUnprotected(): Promise<string[]> {
    const store = this.store;
    const open: string[] = [];
    for (const product of await store.access.listProducts())
      if ((await store.access.getTag(product, '.htaccess')) === null) open.push(product);
    return open;
  }

  /** It stays empty until an administrator writes all files. */
  async emptyExposed(product: string): Promise<void> {
    await this.#withLock(async () => {
      const state = await this.getState();
      const cut = [...new Set([...(state?.cut ?? []), product])];
      await this.rows.change({ id: STATE_ID }, { set: { cut } }, { upsert: true });
      await this.store.access.write(product, '.htpasswd', `${buildHeaderLine(product)}\n`);
    });
  }

  /**
   * Covers all processes.
   * @throws ServiceError overloaded
   */
  #withLock<T>(work: (held: HeldLease) => Promise<T>): Promise<T> {
    const busy = 'Another process is writing the access files. Try again in a minute.';
    return withLeaseLock(
      { leases: this.leases, clock: this.clock, ids: this.ids, log: this.log, processes: this.processes },
      { id: 'access-files', what: 'the access files', busy },
      work,
    );
  }

  async #writeDue(held: HeldLease, all: boolean): Promise<string[]> {
    const written = new Set<string>();
    if (all) await this.rows.change({ id: STATE_ID }, { set: { cut: [] } }, { upsert: true });
    for (let run = 0; run < MAX_RUNS; run++) {
      const now = await this.#readSourceState();
      const state = (await this.getState()) ?? { id: STATE_ID };
      const due = all && run === 0 ? await this.store.access.listProducts() : await this.#listDue(now, state);
      if (due === null) break;
      const { skipped, expires_at } = await this.#writeAll(held, due, state);
      for (const product of due) written.add(product);
      held.check();
      const at = this.clock.iso();
      const set = { ...now, run_at: at, written_at: at, expires_at, skipped };
      await this.rows.change({ id: STATE_ID }, { set }, { upsert: true });
    }
    return [...written].toSorted();
  }

  async #readSourceState(): Promise<SourceState> {
    const { accounts, licenses, webPath, store } = this;
    return {
      accounts: await accounts.getRevision(),
      licenses: (await licenses()?.getRevision()) ?? '',
      format: `${ACCESS_FILE_VERSION} ${webPath ?? store.folder ?? ''}`,
    };
  }

  async #listDue(now: SourceState, state: AccessFilesDoc): Promise<string[] | null> {
    const { store, clock } = this;
    const products = await store.access.listProducts();
    const age = clock.now() - Date.parse(state.run_at ?? '');
    const { expires_at: ends = null } = state;
    const ended = ends !== null && Date.parse(ends) <= clock.now();
    const changed = (['accounts', 'licenses', 'format'] as const).some((mark) => state[mark] !== now[mark]);
    if (changed || ended || !(age >= 0 && age < REWRITE_INTERVAL_MS)) return products;
    const missing: string[] = [];
    for (const product of products) if (!(await this.#isComplete(product))) missing.push(product);
    return missing.length === 0 ? null : missing;
  }

  async #isComplete(product: string): Promise<boolean> {
    const ours = await Promise.all([
      this.#hasOwnHeader(product, '.htaccess'),
      this.#hasOwnHeader(product, '.htpasswd'),
    ]);
    const whole = ours.every(Boolean);
    if (whole) this.#protected.add(product);
    return whole;
  }

  async #hasOwnHeader(product: string, file: AccessFile): Promise<boolean> {
    const store = this.store;
    const path = `${product}/${file}`;
    const tag = await store.access.getTag(product, file);
    if (tag === null) return false;
    if (this.#verifiedTags.get(path) === tag) return true;
    const text = await store.access.read(product, file);
    if (text?.split('\n', 1)[0] !== buildHeaderLine(product)) return false;
    this.#verifiedTags.set(path, tag);
    return true;
  }

  async #writeAll(
    held: HeldLease,
    products: readonly string[],
    { cut = [] }: AccessFilesDoc,
  ): Promise<{ skipped: string[]; expires_at: string | null }> {
    const { accounts, licenses, store, webPath } = this;
    const people = buildAccountLines(await collect(accounts.iterateCredentials()));
    let expires_at: string | null = null;
    for (const product of products) {
      const keys = await collect<LicenseCredential>(licenses()?.iterateCredentials(product) ?? []);
      for (const { valid_until } of keys)
        if (valid_until !== null && (expires_at === null || valid_until < expires_at)) expires_at = valid_until;
      held.check();
      const lines = cut.includes(product) ? [] : [...buildLicenseLines(keys), ...people.lines];
      // `.htaccess` refers to it.
      await store.access.write(product, '.htpasswd', buildHtpasswd(product, lines));
      await store.access.write(product, '.htaccess', buildHtaccess(product, webPath ?? store.folder ?? '/'));
      this.#protected.add(product);
    }
    if (people.skipped.length > 0)
      this.log.warn(
        { accounts: people.skipped.length },
        'accounts whose password hash is not bcrypt cannot access the store',
      );
    return { skipped: people.skipped.slice(0, MAX_SKIPPED_NAMES), expires_at };
  }
}

async function collect<T>(items: AsyncIterable<T> | readonly T[]): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
