/**
 * Writes the access files from accounts and licenses (contract 40, access files). Marks are taken
 * before reading and stored after writing, so a change or crash in between makes the files due
 * again.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import type { HeldLease } from '../../../lib/lease.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import { HOUR_MS } from '../../../lib/time.js';
import type { LicenseCredential } from '../../../ports/domain/licensing.js';
import type { AccessFile } from '../../../ports/release-store.js';
import { withLeaseLock } from '../lease-turn.js';
import { ACCESS_DEPS, type AccessDeps, type AccessDoc } from './deps.js';
import {
  buildAccountLines,
  buildHeaderLine,
  ACCESS_FILE_VERSION,
  buildHtaccess,
  buildHtpasswd,
  buildLicenseLines,
} from './files.js';

export const STATE = 'access-files';
/** The files are written at least this often (contract 40, access files). */
const EVERY_MS = 6 * HOUR_MS;
/** Maximum runs per call when sources change during a run; the next call handles later changes. */
const MOST_RUNS = 5;
const MOST_NAMED = 100;

interface Now {
  accounts: string;
  licenses: string;
  format: string;
}

@injectable()
export class AccessFiles {
  readonly #flights = new SingleFlight<string[]>();
  /**
   * Tags of files whose header was verified, by path, so that unchanged files are not read again.
   */
  readonly #read = new BoundedMap<string>({ most: 2_000 });
  readonly #protected = new Set<string>();

  constructor(@inject(ACCESS_DEPS) private readonly deps: AccessDeps) {}

  /**
   * Writes the files that are due, based on reads that begin after this call.
   * @returns their products
   */
  regenerate(): Promise<string[]> {
    return this.#flights.fresh('due', () => this.#alone((held) => this.#run(held, false)));
  }

  regenerateAll(): Promise<string[]> {
    return this.#flights.fresh('all', () => this.#alone((held) => this.#run(held, true)));
  }

  /** Writes the files of every product without valid ones. Runs before the service listens. */
  async complete(): Promise<void> {
    for (const product of await this.products())
      if (!(await this.#whole(product))) {
        await this.regenerate();
        return;
      }
  }

  /**
   * Returns true when a product's files were deleted while this process ran, which switches its
   * protection off (interface, release store). A product without files since the start is not open.
   */
  wasProtected(product: string): boolean {
    return this.#protected.has(product);
  }

  async protect(product: string): Promise<void> {
    if (await this.#whole(product)) return;
    await this.#alone(async (held) => {
      if (await this.#whole(product)) return;
      await this.#writeAll(held, [product], (await this.state()) ?? { id: STATE });
      await this.deps.rows.change({ id: STATE }, { set: { written_at: this.deps.clock.iso() } }, { upsert: true });
    });
  }

  async state(): Promise<AccessDoc | null> {
    return this.deps.rows.get(STATE);
  }

  products(): Promise<string[]> {
    return this.deps.store.access.products();
  }

  /**
   * Lists products without `.htaccess`, which everyone may read, for example after it was deleted
   * on purpose.
   */
  async unprotected(): Promise<string[]> {
    const { store } = this.deps;
    const open: string[] = [];
    for (const product of await store.access.products())
      if ((await store.access.tag(product, '.htaccess')) === null) open.push(product);
    return open;
  }

  /**
   * Empties a file that a web server exposes. It stays empty until an administrator writes all
   * files.
   */
  async cut(product: string): Promise<void> {
    await this.#alone(async () => {
      const state = await this.state();
      const cut = [...new Set([...(state?.cut ?? []), product])];
      await this.deps.rows.change({ id: STATE }, { set: { cut } }, { upsert: true });
      await this.deps.store.access.write(product, '.htpasswd', `${buildHeaderLine(product)}\n`);
    });
  }

  /**
   * Serializes writers of access files over all processes.
   * @throws ServiceError overloaded
   */
  #alone<T>(work: (held: HeldLease) => Promise<T>): Promise<T> {
    const busy = 'Another process has been writing the access files for a minute.';
    return withLeaseLock(this.deps, { id: 'access-files', what: 'the access files', busy }, work);
  }

  async #run(held: HeldLease, all: boolean): Promise<string[]> {
    const written = new Set<string>();
    if (all) await this.deps.rows.change({ id: STATE }, { set: { cut: [] } }, { upsert: true });
    for (let run = 0; run < MOST_RUNS; run++) {
      const now = await this.#now();
      const state = (await this.state()) ?? { id: STATE };
      const due = all && run === 0 ? await this.deps.store.access.products() : await this.#due(now, state);
      if (due === null) break;
      const { skipped, expires_at } = await this.#writeAll(held, due, state);
      for (const product of due) written.add(product);
      held.check();
      const at = this.deps.clock.iso();
      const set = { ...now, run_at: at, written_at: at, expires_at, skipped };
      await this.deps.rows.change({ id: STATE }, { set }, { upsert: true });
    }
    return [...written].toSorted();
  }

  async #now(): Promise<Now> {
    const { accounts, licenses, webPath, store } = this.deps;
    return {
      accounts: await accounts.mark(),
      licenses: (await licenses()?.mark()) ?? '',
      format: `${ACCESS_FILE_VERSION} ${webPath ?? store.folder ?? ''}`,
    };
  }

  async #due(now: Now, state: AccessDoc): Promise<string[] | null> {
    const { store, clock } = this.deps;
    const products = await store.access.products();
    const age = clock.now() - Date.parse(state.run_at ?? '');
    const { expires_at: ends = null } = state;
    const ended = ends !== null && Date.parse(ends) <= clock.now();
    const changed = (['accounts', 'licenses', 'format'] as const).some((mark) => state[mark] !== now[mark]);
    if (changed || ended || !(age >= 0 && age < EVERY_MS)) return products;
    const missing: string[] = [];
    for (const product of products) if (!(await this.#whole(product))) missing.push(product);
    return missing.length === 0 ? null : missing;
  }

  async #whole(product: string): Promise<boolean> {
    const ours = await Promise.all([this.#ours(product, '.htaccess'), this.#ours(product, '.htpasswd')]);
    const whole = ours.every(Boolean);
    if (whole) this.#protected.add(product);
    return whole;
  }

  async #ours(product: string, file: AccessFile): Promise<boolean> {
    const { store } = this.deps;
    const path = `${product}/${file}`;
    const tag = await store.access.tag(product, file);
    if (tag === null) return false;
    if (this.#read.get(path) === tag) return true;
    const text = await store.access.read(product, file);
    if (text?.split('\n', 1)[0] !== buildHeaderLine(product)) return false;
    this.#read.set(path, tag);
    return true;
  }

  async #writeAll(
    held: HeldLease,
    products: readonly string[],
    { cut = [] }: AccessDoc,
  ): Promise<{ skipped: string[]; expires_at: string | null }> {
    const { accounts, licenses, store, webPath } = this.deps;
    const people = buildAccountLines(await listOf(accounts.opening()));
    let expires_at: string | null = null;
    for (const product of products) {
      const keys = await listOf<LicenseCredential>(licenses()?.opening(product) ?? []);
      for (const { valid_until } of keys)
        if (valid_until !== null && (expires_at === null || valid_until < expires_at)) expires_at = valid_until;
      held.check();
      const lines = cut.includes(product) ? [] : [...buildLicenseLines(keys), ...people.lines];
      // `.htpasswd` is written first, because `.htaccess` refers to it.
      await store.access.write(product, '.htpasswd', buildHtpasswd(product, lines));
      await store.access.write(product, '.htaccess', buildHtaccess(product, webPath ?? store.folder ?? '/'));
      this.#protected.add(product);
    }
    if (people.skipped.length > 0)
      this.deps.log.warn(
        { accounts: people.skipped.length },
        'accounts whose password is not bcrypt cannot open the store',
      );
    return { skipped: people.skipped.slice(0, MOST_NAMED), expires_at };
  }
}

async function listOf<T>(items: AsyncIterable<T> | readonly T[]): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
