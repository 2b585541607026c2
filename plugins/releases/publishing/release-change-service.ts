/**
 * Withdraws, rolls out and halts published releases and promotes them to another channel (contract
 * 40, publishing).
 */
import { inject, injectable, type Principal, type Clock, type Ids } from '../../../kernel/contract/index.js';
import { conflict, invalid, notFound, ServiceError } from '../../../kernel/errors.js';
import type { ReleaseManifest } from '../../../lib/formats/manifest.js';
import { ManifestRepository } from '../update-check/manifest-repository.js';
import { DEPS } from '../deps.js';
import { toStorePath, type ReleaseDoc } from '../model.js';
import type { Platform } from '../../../lib/formats/platform.js';
import { formatReleaseName, getReleaseId } from '../release-place.js';
import { ReleaseChangeFinisher } from './change-finisher.js';
import { ProductLock } from './product-lock.js';
import {
  ReleasePublisher,
  buildRolloutFields,
  type PackageFacts,
  type PublishedRelease,
  type PublishRequest,
} from './publisher.js';
import { ReleaseRepository } from './release-repository.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';
import type { AuditLog } from '../../../ports/domain/audit.js';
import type { ReleaseStore } from '../../../ports/release-store.js';

export interface SelectedRelease {
  product: string;
  channel: string;
  version: string;
  platform: Platform | null;
}

@injectable()
export class ReleaseChangeService {
  constructor(
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.store) private readonly store: ReleaseStore,
    @inject(DEPS.audit) private readonly audit: Pick<AuditLog, 'record' | 'listByTarget'>,
    @inject(DEPS.projects) private readonly projects: ProjectDirectory,
    @inject(ReleaseRepository) private readonly docs: ReleaseRepository,
    @inject(ManifestRepository) private readonly manifests: ManifestRepository,
    @inject(ProductLock) private readonly lock: ProductLock,
    @inject(ReleaseChangeFinisher) private readonly finisher: ReleaseChangeFinisher,
    @inject(ReleasePublisher) private readonly publisher: ReleasePublisher,
  ) {}

  /**
   * Those already withdrawn stay unchanged.
   * @throws ServiceError not_found, reason_required
   */
  async withdraw(principal: Principal, chosen: SelectedRelease, reason: string): Promise<ReleaseDoc[]> {
    if (reason.trim() === '')
      throw new ServiceError('reason_required', 'A reason is required to withdraw a release.', REASON_REQUIRED);
    await this.listSelected(chosen);
    return this.lock.run(chosen.product, async () => {
      const result: ReleaseDoc[] = [];
      for (const doc of await this.listSelected(chosen)) {
        if (doc.withdrawn_at !== null) result.push(doc);
        else {
          const at = this.clock.iso();
          await this.#recordAudit(
            principal,
            'release.withdrawn',
            doc,
            { reason },
            { withdrawn_at: null },
            { withdrawn_at: at },
          );
          const marked = await this.docs.update(doc, { withdrawing: { reason, at }, open_at: at });
          result.push((await this.finisher.finish(marked)).release);
        }
      }
      return result;
    });
  }

  /** @throws ServiceError not_found; conflict for a withdrawn release */
  async setRollout(
    principal: Principal,
    chosen: SelectedRelease & { platform: Platform },
    percent: number,
  ): Promise<ReleaseDoc> {
    await this.listSelected(chosen);
    return this.lock.run(chosen.product, async () => {
      const [doc] = await this.listSelected(chosen);
      if (doc === undefined || doc.withdrawn_at !== null) throw createWithdrawnError(chosen);
      const at = this.clock.iso();
      const before = { rollout_percent: doc.rollout_percent, halted_at: doc.halted_at };
      await this.#recordAudit(principal, 'release.rollout', doc, {}, before, {
        rollout_percent: percent,
        halted_at: null,
      });
      const changed = await this.docs.update(doc, { ...buildRolloutFields(doc.product, percent, at), open_at: at });
      return (await this.finisher.finish(changed)).release;
    });
  }

  /**
   * Halts a rollout with too many faults (contract 40, staged rollout).
   * @returns null when it ended or changed meanwhile
   */
  async haltAutomatically(seen: ReleaseDoc, reason: string): Promise<ReleaseDoc | null> {
    return this.lock.run(seen.product, async () => {
      const doc = await this.docs.get(seen.id);
      if (doc === null || doc.rolling === undefined || doc.rollout_at !== seen.rollout_at) return null;
      return this.#writeHalt('system', doc, reason);
    });
  }

  /**
   * Even at full rollout: no machine is offered it until the rollout is set again.
   * @throws ServiceError not_found; conflict for a withdrawn release
   */
  async haltManually(
    principal: Principal,
    chosen: SelectedRelease & { platform: Platform },
    reason: string,
  ): Promise<ReleaseDoc> {
    await this.listSelected(chosen);
    return this.lock.run(chosen.product, async () => {
      const [doc] = await this.listSelected(chosen);
      if (doc === undefined || doc.withdrawn_at !== null) throw createWithdrawnError(chosen);
      return doc.halted_at === null ? this.#writeHalt(principal, doc, reason) : doc;
    });
  }

  async #writeHalt(by: Principal | 'system', doc: ReleaseDoc, reason: string): Promise<ReleaseDoc> {
    const at = this.clock.iso();
    const { product, version, channel, platform } = doc;
    const data = { product, version, channel, platform, reason };
    const outbox = [...doc.outbox, { id: `evt_${this.ids.uuid()}`, at, event: 'release.halted' as const, data }];
    const changes = { halted_at: at, halted_reason: reason, rolling: undefined, open_at: at, outbox };
    const before = { halted_at: null };
    await this.#recordAudit(by, 'release.halted', doc, { reason }, before, { halted_at: at });
    return (await this.finisher.finish(await this.docs.update(doc, changes))).release;
  }

  /**
   * Publishes to another channel. Without a platform, withdrawn releases are skipped.
   * @throws ServiceError not_found; conflict when all selected releases are withdrawn;
   *   publish_in_progress
   */
  async promote(
    principal: Principal,
    chosen: SelectedRelease,
    to: string,
    rollout: number | undefined,
    by: string,
    reauthorize?: PublishRequest['reauthorize'],
  ): Promise<PublishedRelease[]> {
    if (to === chosen.channel) throw invalid({ to: 'must differ from `from`' });
    await this.projects.requireAccepting(chosen.product, 'releases');
    const found = await this.listSelected(chosen);
    const offered = found.filter((doc) => doc.withdrawn_at === null && doc.withdrawing === undefined);
    if (offered.length === 0) throw createWithdrawnError(chosen);
    const result: PublishedRelease[] = [];
    for (const doc of offered) result.push(await this.#promoteOne(principal, doc, to, rollout, by, reauthorize));
    return result;
  }

  /** @throws ServiceError not_found */
  async listSelected({ product, channel, version, platform }: SelectedRelease): Promise<ReleaseDoc[]> {
    const found =
      platform === null
        ? await this.docs.listByVersion(product, channel, version)
        : [await this.docs.get(getReleaseId(product, channel, version, platform))].filter((doc) => doc !== null);
    if (found.length > 0) return found;
    throw notFound(`release ${version} of ${product} in ${channel}${platform === null ? '' : ` for ${platform}`}`);
  }

  async #promoteOne(
    principal: Principal,
    from: ReleaseDoc,
    to: string,
    rollout: number | undefined,
    by: string,
    reauthorize: PublishRequest['reauthorize'],
  ): Promise<PublishedRelease> {
    const { product, version, platform, build, mandatory, min_version } = from;
    const target = { product, channel: to, version, platform };
    return this.publisher.withClaim(target, async (claim) => {
      const there = await this.publisher.findOffered(claim.id);
      await reauthorize?.();
      await this.#recordAudit(principal, 'release.promoted', from, { to }, {}, { channel: to });
      if (there !== null && there.package_sha256 === from.package_sha256) {
        return this.publisher.republish(there, rollout, undefined, reauthorize);
      }
      const request = { ...target, build, mandatory, rollout_percent: rollout, min_version, by, reauthorize };
      return this.publisher.commit(claim, request, await this.#readFacts(from), null, (release, manifest) =>
        this.store.packages.link(toStorePath(from), toStorePath(release), {
          manifest,
          signature: release.manifest_signature,
        }),
      );
    });
  }

  async #readFacts(from: ReleaseDoc): Promise<PackageFacts> {
    const text = await this.manifests.read(from.id, from.manifest_sha256);
    if (text === null) throw conflict('The release was replaced meanwhile. Try again.');
    const { files, setup } = JSON.parse(text) as ReleaseManifest;
    const {
      package_size: size,
      package_sha256: sha256,
      release_notes: notes,
      entry,
      runtime,
      preserve_patterns,
    } = from;
    return { size, sha256, files, notes, entry, runtime, preserve_patterns, setup };
  }

  #recordAudit(
    principal: Principal | 'system',
    action: string,
    doc: ReleaseDoc,
    details: Record<string, string>,
    before: Record<string, string | number | null>,
    after: Record<string, string | number | null>,
  ): Promise<void> {
    return this.audit.record(principal, action, formatReleaseName(doc), details, { before, after });
  }
}

const REASON_REQUIRED = { fields: { reason: 'is required' } };

const createWithdrawnError = ({ version, channel }: SelectedRelease): ServiceError =>
  conflict(`Release ${version} in ${channel} is withdrawn. Publish it again first.`);
