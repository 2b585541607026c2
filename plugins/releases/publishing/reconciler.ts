/**
 * At start and by a job (docs/consistency.md, releases). Also compares the store with the
 * documents, because disks are restored from backups.
 */
import { inject, injectable, type Collection, type Clock, type Logger } from '../../../kernel/contract/index.js';
import { iteratePages } from '../../../lib/paging.js';
import { toIsoString, MINUTE_MS, SECOND_MS } from '../../../lib/time.js';
import { ManifestRepository } from '../update-check/manifest-repository.js';
import type { ReleaseStore } from '../../../ports/release-store.js';
import { DEPS } from '../deps.js';
import { toStorePath, type ReleaseDoc } from '../model.js';
import { formatReleaseName, hashText } from '../release-place.js';
import { ReleaseChangeFinisher } from './change-finisher.js';
import { LatestFileRepairer } from './latest-file-repairer.js';
import { ProductLock } from './product-lock.js';
import { PublishLeaseManager } from './publish-lease.js';
import { ReleaseFilesUpdater } from './release-files-updater.js';
import { ReleaseRepository } from './release-repository.js';
import { readStoredText } from './stored-text.js';

/** No longer in progress, or its events wait for a listener. */
const LEFTOVER_AGE_MS = 10 * SECOND_MS;
/** A package that stopped growing is no longer being uploaded. */
const STAGED_TIMEOUT_MS = 15 * MINUTE_MS;
const PAGE_SIZE = 200;

@injectable()
export class ReleaseReconciler {
  #lost: readonly string[] = [];

  constructor(
    @inject(DEPS.releases) private readonly releases: Collection<ReleaseDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.store) private readonly store: ReleaseStore,
    @inject(DEPS.alone) private readonly alone: boolean,
    @inject(PublishLeaseManager) private readonly leases: PublishLeaseManager,
    @inject(ProductLock) private readonly lock: ProductLock,
    @inject(ReleaseRepository) private readonly docs: ReleaseRepository,
    @inject(ManifestRepository) private readonly manifests: ManifestRepository,
    @inject(LatestFileRepairer) private readonly latest: LatestFileRepairer,
    @inject(ReleaseChangeFinisher) private readonly finisher: ReleaseChangeFinisher,
    @inject(ReleaseFilesUpdater) private readonly files: ReleaseFilesUpdater,
  ) {}

  get lost(): readonly string[] {
    return this.#lost;
  }

  async start(): Promise<void> {
    await this.finishPublishes();
    await this.finishOpen(this.clock.now() + MINUTE_MS);
    await this.latest.repair();
    await this.#discardStaged(this.alone ? -Infinity : STAGED_TIMEOUT_MS);
  }

  async run(signal?: AbortSignal): Promise<void> {
    await this.finishPublishes(signal);
    await this.finishOpen(this.clock.now() - LEFTOVER_AGE_MS, signal);
    await this.#discardStaged(STAGED_TIMEOUT_MS);
  }

  async finishPublishes(signal?: AbortSignal): Promise<void> {
    for await (const doc of this.leases.listAll()) {
      if (signal?.aborted === true) return;
      const claim = await this.leases.tryClaim(doc.id);
      if (claim === null) continue;
      try {
        if (claim.left !== null) await this.lock.run(claim.left.release.product, () => this.finisher.recover(claim));
      } catch (err) {
        this.log.error({ err, release: doc.id }, 'an interrupted publish could not be finished; this will be retried');
      } finally {
        await this.leases.release(claim);
      }
    }
  }

  /** @param before milliseconds; younger changes are skipped */
  async finishOpen(before: number, signal?: AbortSignal): Promise<void> {
    const filter = { open_at: { gt: '', lt: toIsoString(before) } };
    for await (const docs of iteratePages(this.releases, {
      filter,
      sort: [['open_at', 'asc']],
      limit: PAGE_SIZE,
    })) {
      for (const { id, product } of docs) {
        if (signal?.aborted === true) return;
        await this.#finish(id, product);
      }
    }
  }

  async compare(signal?: AbortSignal): Promise<void> {
    const lost: string[] = [];
    for await (const docs of iteratePages(this.releases, { limit: PAGE_SIZE })) {
      for (const doc of docs) {
        if (signal?.aborted === true) return;
        if (doc.open_at === undefined && !(await this.#isConsistent(doc))) {
          const held = await this.lock.run(doc.product, () => this.#repairFiles(doc.id));
          if (!held) lost.push(formatReleaseName(doc));
        }
      }
    }
    await this.latest.repair({ all: true, signal });
    await this.files.updateAll(signal);
    const { damaged } = await this.store.packages.sweep(signal);
    for (const place of damaged) if (!lost.includes(formatReleaseName(place))) lost.push(formatReleaseName(place));
    if (lost.length > 0) this.log.error({ lost }, 'packages are missing in the release store');
    this.#lost = lost;
  }

  async #finish(id: string, product: string): Promise<void> {
    try {
      await this.lock.run(product, async () => {
        const doc = await this.docs.get(id);
        if (doc?.open_at !== undefined) await this.finisher.finish(doc);
      });
    } catch (err) {
      this.log.error({ err, release: id }, 'a change of a release could not be finished; this will be retried');
    }
  }

  async #discardStaged(olderMs: number): Promise<void> {
    const { store, clock } = this;
    const staged = await store.packages.listStaged();
    if (staged.length === 0) return;
    const awaited = new Set<string | null>();
    for await (const { intent } of this.leases.listAll()) awaited.add(intent?.staged ?? null);
    for (const { id, modifiedAt } of staged) {
      if (!awaited.has(id) && clock.now() - modifiedAt.getTime() >= olderMs) await store.packages.discard(id);
    }
  }

  /** Agents verify the package's bytes. */
  async #isConsistent(doc: ReleaseDoc): Promise<boolean> {
    const file = await this.#readSize(doc, 'package.tar.gz');
    if (doc.withdrawn_at !== null) return file === null;
    if (file !== doc.package_size) return false;
    const manifest = await this.#readText(doc, 'manifest.json');
    if (manifest === null || hashText(manifest) !== doc.manifest_sha256) return false;
    return (await this.#readText(doc, 'manifest.sig'))?.trim() === (doc.manifest_signature ?? undefined);
  }

  /**
   * Runs under the product's lock.
   * @returns false when the package is lost
   */
  async #repairFiles(id: string): Promise<boolean> {
    const store = this.store;
    const doc = await this.docs.get(id);
    if (doc === null || doc.open_at !== undefined || (await this.leases.isHeld(id)) || (await this.#isConsistent(doc)))
      return true;
    if (doc.withdrawn_at !== null) {
      await store.packages.withdraw(toStorePath(doc));
      return true;
    }
    if ((await this.#readSize(doc, 'package.tar.gz')) !== doc.package_size) return false;
    const manifest = await this.manifests.read(id, doc.manifest_sha256);
    if (manifest !== null)
      await store.packages.writeTexts(toStorePath(doc), { manifest, signature: doc.manifest_signature });
    return true;
  }

  async #readSize(doc: ReleaseDoc, name: string): Promise<number | null> {
    const file = await this.store.open(toPathSegments(doc, name));
    return file?.size ?? null;
  }

  #readText(doc: ReleaseDoc, name: string): Promise<string | null> {
    return readStoredText(this.store, toPathSegments(doc, name));
  }
}

const toPathSegments = ({ product, channel, version, platform }: ReleaseDoc, name: string): string[] => [
  product,
  channel,
  version,
  platform,
  name,
];
