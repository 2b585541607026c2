/**
 * Publishes and promotes (contract 40, publishing), each step durable before the next
 * (docs/consistency.md): staged → read → manifest signed → marker → renames → release document →
 * `latest.json` and statement → items, events → marker removed. A crash before the renames leaves
 * nothing; afterwards the next reader of the marker finishes the publish.
 */
import { inject, injectable, type Clock, type Logger } from '../../../kernel/contract/index.js';
import { conflict, ServiceError } from '../../../kernel/errors.js';
import { FolderTaken, type PackagedFile, type StagedPackage, type ReleaseStore } from '../../../ports/release-store.js';
import { ManifestRepository } from '../update-check/manifest-repository.js';
import { DEPS } from '../deps.js';
import { buildManifest } from '../manifest-bytes.js';
import { toStorePath, type ReleaseDoc, type ReleaseFields } from '../model.js';
import type { Platform } from '../../../lib/formats/platform.js';
import { getReleaseId } from '../release-place.js';
import { ReleaseChangeFinisher } from './change-finisher.js';
import { ProductLock } from './product-lock.js';
import { PublishLeaseManager, type PublishClaim } from './publish-lease.js';
import { ReleaseRepository } from './release-repository.js';
import type { Signer } from '../../../ports/signer.js';

export interface PublishRequest {
  product: string;
  channel: string;
  version: string;
  platform: Platform;
  build: string | null;
  mandatory: boolean;
  rollout_percent: number | undefined;
  min_version: string | null;
  by: string;
  /** Before anything changes; missing without a credential. */
  reauthorize?: (() => Promise<void>) | undefined;
}

export interface PackageFacts {
  size: number;
  sha256: string;
  files: readonly PackagedFile[];
  notes: string | null | undefined;
  entry: string | null;
  runtime: ReleaseFields['runtime'];
  preserve_patterns: string[];
  setup: Readonly<Record<string, unknown>> | null;
}

export type PublishOutcome = 'created' | 'replaced' | 'unchanged';

export interface PublishedRelease {
  release: ReleaseDoc;
  outcome: PublishOutcome;
  closed: readonly string[];
}

/** False when the package is gone. */
type PutPackage = (release: ReleaseFields, manifest: string) => Promise<boolean>;

@injectable()
export class ReleasePublisher {
  constructor(
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.store) private readonly store: ReleaseStore,
    @inject(DEPS.signer) private readonly signer: Signer,
    @inject(DEPS.protect) private readonly protect: (product: string) => Promise<void>,
    @inject(PublishLeaseManager) private readonly leases: PublishLeaseManager,
    @inject(ProductLock) private readonly lock: ProductLock,
    @inject(ReleaseRepository) private readonly docs: ReleaseRepository,
    @inject(ManifestRepository) private readonly manifests: ManifestRepository,
    @inject(ReleaseChangeFinisher) private readonly finisher: ReleaseChangeFinisher,
  ) {}

  /**
   * Only one publisher per release.
   * @throws ServiceError publish_in_progress; conflict when the product's folder in the store
   *   belongs to another owner
   */
  async withClaim<T>(
    request: Pick<PublishRequest, 'product' | 'channel' | 'version' | 'platform'>,
    work: (claim: PublishClaim) => Promise<T>,
  ): Promise<T> {
    const { product, channel, version, platform } = request;
    await this.store.requireFolder(product).catch((error: unknown) => {
      throw error instanceof FolderTaken ? conflict(error.message) : error;
    });
    const claim = await this.leases.claim(getReleaseId(product, channel, version, platform));
    try {
      if (claim.left !== null) await this.lock.run(product, () => this.finisher.recover(claim));
      return await work(claim);
    } finally {
      await this.leases.release(claim);
    }
  }

  /** Returns null when missing, withdrawn, or without its package. */
  async findOffered(id: string): Promise<ReleaseDoc | null> {
    const doc = await this.docs.get(id);
    if (doc === null || doc.withdrawn_at !== null || doc.withdrawing !== undefined) return null;
    const { product, channel, version, platform } = toStorePath(doc);
    const file = await this.store.open([product, channel, version, platform, 'package.tar.gz']);
    return file?.size === doc.package_size ? doc : null;
  }

  /** Optionally with another rollout or notes (contract 40, publishing). */
  republish(
    doc: ReleaseDoc,
    rollout: number | undefined,
    notes: string | null | undefined,
    reauthorize: PublishRequest['reauthorize'],
  ): Promise<PublishedRelease> {
    return this.lock.run(doc.product, async () => {
      await reauthorize?.();
      const before = (await this.docs.get(doc.id)) ?? doc;
      // The answer that the interrupted publish would have given.
      const { closed } = before.open_at === undefined ? { closed: [] } : await this.#finishSafely(before);
      const moves = rollout !== undefined && rollout !== before.rollout_percent;
      const rewords = notes !== undefined && notes !== before.release_notes;
      if (!moves && !rewords) return { release: before, outcome: 'unchanged', closed };
      const changes = {
        ...(rewords ? { release_notes: notes } : {}),
        ...(moves ? buildRolloutFields(before.product, rollout, this.clock.iso()) : {}),
        open_at: this.clock.iso(),
      };
      const { release } = await this.#finishSafely(await this.docs.update(before, changes));
      return { release, outcome: 'unchanged', closed };
    });
  }

  async publishStaged(
    claim: PublishClaim,
    request: PublishRequest,
    staged: StagedPackage,
    facts: PackageFacts,
  ): Promise<PublishedRelease> {
    return this.commit(claim, request, facts, staged.id, async (release, manifest) => {
      const texts = { manifest, signature: release.manifest_signature };
      await this.store.packages.put(staged.id, toStorePath(release), texts);
      return true;
    });
  }

  /** @param staged package that `put` moves */
  commit(
    claim: PublishClaim,
    request: PublishRequest,
    facts: PackageFacts,
    staged: string | null,
    put: PutPackage,
  ): Promise<PublishedRelease> {
    return this.lock.run(request.product, async () => {
      const before = await this.docs.get(claim.id);
      if (before?.open_at !== undefined) await this.finisher.finish(before);
      await request.reauthorize?.();
      const { release, manifest } = await this.#signManifest(claim.id, request, facts);
      await this.leases.recordIntent(claim, { staged, release });
      await this.protect(request.product);
      if (!(await put(release, manifest))) {
        await this.leases.clearIntent(claim);
        throw new ServiceError('conflict', 'The package was withdrawn meanwhile.');
      }
      const written = await this.finisher.saveRelease(claim.id, release, manifest);
      await this.leases.clearIntent(claim);
      const finished = await this.#finishSafely(written);
      return { ...finished, outcome: before === null ? 'created' : 'replaced' };
    });
  }

  async #finishSafely(doc: ReleaseDoc): Promise<{ release: ReleaseDoc; closed: readonly string[] }> {
    try {
      return await this.finisher.finish(doc);
    } catch (err) {
      this.log.error({ err, release: doc.id }, 'a release was published, but follow-up work was delayed');
      return { release: doc, closed: [] };
    }
  }

  async #signManifest(
    id: string,
    request: PublishRequest,
    facts: PackageFacts,
  ): Promise<{ release: ReleaseFields; manifest: string }> {
    const { product, channel, platform, min_version, build, mandatory, rollout_percent = 100, by } = request;
    const { size, sha256, files, notes = null, entry, runtime, preserve_patterns, setup } = facts;
    const manifestFields = {
      product,
      version: await this.#resolveSpelling(request),
      channel,
      platform,
      published_at: this.clock.iso(),
      preserve_patterns,
      min_version,
      entry,
      runtime,
    };
    const release = {
      ...manifestFields,
      build,
      mandatory,
      rollout_percent,
      release_notes: notes,
      published_by: by,
      package_size: size,
      package_sha256: sha256,
      file_count: files.length,
      has_setup: setup !== null,
    };
    const manifest = await buildManifest({ ...manifestFields, package: { sha256, size }, files, setup });
    const signed = await this.signer.sign(manifest.bytes);
    const manifest_sha256 = manifest.sha256;
    await this.manifests.write(id, manifest.text, manifest_sha256);
    const signature = { manifest_signature: signed?.signature ?? null, key_id: signed?.key.key_id ?? null };
    return { release: { ...release, manifest_sha256, ...signature }, manifest: manifest.text };
  }

  /** The first spelling is retained, and with it the path (contract 40, versions). */
  async #resolveSpelling({ product, channel, version }: PublishRequest): Promise<string> {
    const known = await this.docs.listByVersion(product, channel, version);
    return known.toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1))[0]?.version ?? version;
  }
}

export const buildRolloutFields = (
  product: string,
  percent: number,
  at: string,
): Pick<ReleaseDoc, 'rollout_percent' | 'rollout_at' | 'halted_at' | 'halted_reason'> & {
  rolling: string | undefined;
} => ({
  rollout_percent: percent,
  rollout_at: at,
  halted_at: null,
  halted_reason: null,
  rolling: percent > 0 && percent < 100 ? product : undefined,
});
