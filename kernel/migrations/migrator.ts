/**
 * Runs migrations: numbered, additive and once even when two processes start together. Indexes are
 * migrations too (`<plugin>:indexes-<hash>`). An interrupted migration runs again from its
 * beginning and must tolerate that.
 */
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Lease, type HeldLease, type LeaseRow } from '../../lib/lease.js';
import { collectAll } from '../../lib/paging.js';
import type { Backups } from '../../ports/store/backups.js';
import type { Clock } from '../../ports/clock.js';
import type { MigrationState } from '../../ports/domain/system.js';
import type { Ids } from '../../ports/ids.js';
import type { Logger } from '../../ports/logger.js';
import {
  StoreConflict,
  type CollectionSpec,
  type Collection,
  type Doc,
  type DocumentStore,
} from '../../ports/store/index.js';
import { getPluginCollection } from '../collections.js';
import type { FullManifest } from '../manifest.js';
import { isLater, assertNotTooNew } from './version-skew.js';

interface MigrationDoc extends Doc {
  applied_at: string;
  version?: string;
}

interface MigrationStep {
  id: string;
  plugin: string;
  run(): Promise<void>;
}

export interface MigratorParts {
  store: DocumentStore;
  clock: Clock;
  ids: Ids;
  log: Logger;
  version: string;
  collections?: readonly CollectionSpec[];
  /** After this time without renewal another process's migration counts as dead. */
  leaseMs?: number;
  /** Makes a backup before a store in use is changed. */
  backups?: Backups;
}

export interface MigrationOutcome {
  applied: readonly string[];
  pending: readonly string[];
  failed: readonly { plugin: string; id: string; error: unknown }[];
}

export class MigrationRenamed extends Error {
  override name = 'MigrationRenamed';
  constructor({ id, plugin }: Pick<MigrationStep, 'id' | 'plugin'>, applied: string) {
    super(
      `it was applied as ${applied}: restore that name for ${id}, and give a changed migration a new number; or run ` +
        `\`aos plugin forget ${plugin}\` to run all migrations of the plugin again`,
    );
  }
}

const POLL_MS = 50;
const INDEX_MIGRATION_PATTERN = /:indexes-[0-9a-f]+$/;

export class Migrator {
  readonly #steps: readonly MigrationStep[];

  constructor(
    private readonly parts: MigratorParts,
    manifests: readonly FullManifest[],
  ) {
    const own = parts.collections ?? [];
    const kernel = own.length === 0 ? [] : [this.#buildIndexSteps('kernel', own)];
    this.#steps = [...kernel, ...manifests.flatMap((manifest) => this.#buildSteps(manifest))];
    this.declared = {
      collections: [...own, ...manifests.flatMap(listStoredSpecs)],
      migrations: this.#steps.map(({ id }) => id).filter((id) => !id.includes(':indexes-')),
    };
  }

  /** By stored names; without index migrations. */
  readonly declared: { collections: readonly CollectionSpec[]; migrations: readonly string[] };

  /** Including those of plugins no longer installed. */
  async listApplied(): Promise<MigrationState[]> {
    const records = await collectAll(this.#getRecords(), { sort: [['applied_at', 'asc']], limit: 1_000 });
    return records.map(({ id, applied_at, version = null }) => ({ id, applied_at, version }));
  }

  async forget(plugin: string): Promise<string[]> {
    const ids = (await this.listApplied()).map(({ id }) => id).filter((id) => id.startsWith(`${plugin}:`));
    for (const id of ids) await this.#getRecords().remove({ id });
    return ids;
  }

  /** Same number but another name: none of their migrations runs. */
  listRenamed(applied: readonly MigrationState[]): MigrationOutcome['failed'] {
    const ids = new Set(applied.map(({ id }) => id));
    const found = this.#steps.flatMap((step) => {
      const other = findRenamed(step.id, ids);
      return other === null ? [] : [{ plugin: step.plugin, id: step.id, error: new MigrationRenamed(step, other) }];
    });
    return found.filter(({ plugin }, i) => found.findIndex((one) => one.plugin === plugin) === i);
  }

  /**
   * In execution order.
   * @throws StoreTooNew
   */
  async listPending(applied?: readonly MigrationState[]): Promise<string[]> {
    return this.#filterPending(applied ?? (await this.listApplied())).map(({ id }) => id);
  }

  /**
   * Waits for another process.
   * @throws StoreTooNew, LeaseLost
   */
  async run(): Promise<MigrationOutcome> {
    const lease = this.#createLease();
    let waiting = false;
    while ((await this.#pendingSteps()).length > 0) {
      const held = await lease.acquire();
      if (held !== null) return this.#runUnder(held);
      if (!waiting) this.parts.log.info({}, 'waiting for the migrations of another process');
      waiting = true;
      await pause(POLL_MS);
    }
    await this.#markMigrated();
    return { applied: [], pending: [], failed: this.listRenamed(await this.listApplied()) };
  }

  async #runUnder(lease: HeldLease): Promise<MigrationOutcome> {
    const applied: string[] = [];
    const failed: { plugin: string; id: string; error: unknown }[] = [];
    let renamed: MigrationOutcome['failed'] = [];
    try {
      // The previous holder of the lease may have finished.
      const pending = await this.#pendingSteps();
      renamed = this.listRenamed(await this.listApplied());
      if (pending.length > 0) await this.#backUp();
      // In a new store, all collections are created together and all records are written at the
      // end.
      const isNew = (await this.listApplied()).length === 0 && (await this.#createCollections());
      for (const step of pending) {
        if (failed.some(({ plugin }) => plugin === step.plugin)) continue;
        if (isNew && INDEX_MIGRATION_PATTERN.test(step.id)) {
          applied.push(step.id);
          continue;
        }
        await lease.confirm();
        try {
          await (isNew ? step.run() : this.#apply(step));
          applied.push(step.id);
        } catch (error) {
          this.parts.log.error({ err: error, migration: step.id }, 'a migration failed');
          failed.push({ plugin: step.plugin, id: step.id, error });
        }
      }
      if (isNew) await this.#recordAll(applied);
    } finally {
      await lease.release();
    }
    if (failed.length > 0) return { applied, pending: await this.listPending(), failed: [...failed, ...renamed] };
    await this.#markMigrated();
    return { applied, pending: [], failed: renamed };
  }

  async #markMigrated(): Promise<void> {
    await this.parts.backups?.recordMigration().catch((err: unknown) => {
      this.parts.log.warn({ err }, 'the success of the migrations could not be recorded in the backup folder');
    });
  }

  /** A migration can only be undone with a backup; without one nothing is changed. */
  async #backUp(): Promise<void> {
    const { backups, log } = this.parts;
    if (backups === undefined || backups.folder === null || (await this.listApplied()).length === 0) return;
    try {
      const { path } = await backups.create({ beforeMigration: true });
      log.info({ path }, 'created a backup before the migrations');
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`migrations require a backup, which could not be created: ${why}`, { cause: error });
    }
  }

  /** Creates the collections of all plugins in one store transaction. */
  async #createCollections(): Promise<boolean> {
    try {
      await this.parts.store.ensure(this.declared.collections);
      return true;
    } catch (err) {
      this.parts.log.warn({ err }, 'the collections could not be created together; creating them one by one');
      return false;
    }
  }

  async #recordAll(ids: readonly string[]): Promise<void> {
    const { clock, log, version } = this.parts;
    const applied_at = clock.iso();
    await this.#getRecords().bulk(ids.map((id) => ({ insert: { id, applied_at, version } })));
    log.info({ migrations: ids.length }, 'created the store');
  }

  async #apply(step: MigrationStep): Promise<void> {
    const { clock, log } = this.parts;
    const began = clock.monotonic();
    await step.run();
    try {
      await this.#getRecords().insert({ id: step.id, applied_at: clock.iso(), version: this.parts.version });
    } catch (error) {
      // After a lost lease another process ran it too.
      if (!(error instanceof StoreConflict)) throw error;
    }
    log.info({ migration: step.id, ms: Math.round(clock.monotonic() - began) }, 'migrated');
  }

  async #pendingSteps(): Promise<MigrationStep[]> {
    return this.#filterPending(await this.listApplied());
  }

  #filterPending(records: readonly MigrationState[]): MigrationStep[] {
    const { version } = this.parts;
    const own = new Set(this.#steps.map(({ id }) => id));
    assertNotTooNew(records, (id) => own.has(id), version);
    const applied = new Set(records.map(({ id }) => id));
    const renamed = new Set(this.listRenamed(records).map(({ plugin }) => plugin));
    const later = records.filter((record) => !own.has(record.id) && isLater(record, version));
    const replaced = new Set(
      later
        .filter(({ id }) => INDEX_MIGRATION_PATTERN.test(id))
        .map(({ id }) => id.replace(INDEX_MIGRATION_PATTERN, '')),
    );
    // The indexes of the next version serve this one; declaring its own again would drop the newer
    // ones.
    return this.#steps.filter(
      ({ id, plugin }) =>
        !applied.has(id) && !renamed.has(plugin) && !(INDEX_MIGRATION_PATTERN.test(id) && replaced.has(plugin)),
    );
  }

  #buildSteps(manifest: FullManifest): MigrationStep[] {
    const { store, clock, ids, log } = this.parts;
    const plugin = manifest.id;
    const context = {
      collection: getPluginCollection(store, manifest),
      clock,
      ids,
      log: log.child({ plugin }),
    };
    const specs = listStoredSpecs(manifest);
    const numbered = manifest.migrations.map((migration) => ({
      id: `${plugin}:${String(migration.number).padStart(3, '0')}-${migration.name}`,
      plugin,
      run: async () => migration.run(context),
    }));
    return specs.length === 0 ? numbered : [this.#buildIndexSteps(plugin, specs), ...numbered];
  }

  /** Canonical order: the same declaration is the same migration. */
  #buildIndexSteps(plugin: string, specs: readonly CollectionSpec[]): MigrationStep {
    const canonical = specs
      .map(({ name, indexes, values = [], search = [], compressed = [], bytes }) => [
        name,
        indexes.map(({ fields, unique }) => `${unique === true ? '!' : ''}${fields.join('+')}`).sort(),
        ...[values, search, compressed].map((paths) => paths.toSorted()),
        ...(bytes === undefined ? [] : [`bytes ${bytes}`]),
      ])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
    const hash = createHash('sha256').update(JSON.stringify(canonical)).digest('hex').slice(0, 8);
    return { id: `${plugin}:indexes-${hash}`, plugin, run: () => this.parts.store.ensure(specs) };
  }

  #getRecords(): Collection<MigrationDoc> {
    return this.parts.store.collection<MigrationDoc>('kernel_migrations');
  }

  #createLease(): Lease {
    const { store, clock, ids, log, leaseMs = 15_000 } = this.parts;
    return new Lease(store.collection<LeaseRow>('kernel_leases'), {
      id: 'migrations',
      ttlMs: leaseMs,
      expiryMode: 'silence',
      clock,
      uuid: () => ids.uuid(),
      onFault: (error) => log.warn({ err: error }, 'the lease of the migrations was not renewed'),
    });
  }
}

const listStoredSpecs = ({ id, collections }: FullManifest): CollectionSpec[] =>
  collections.map((spec) => ({ ...spec, name: `${id}_${spec.name}` }));

function findRenamed(id: string, applied: ReadonlySet<string>): string | null {
  const number = /^[a-z0-9]+:\d+-/.exec(id)?.[0];
  if (number === undefined || applied.has(id)) return null;
  return [...applied].find((other) => other.startsWith(number)) ?? null;
}
