/** Handles `POST /publish` from the request to the response (contract 40, publishing). */
import { inject, injectable, type Principal } from '../../../kernel/contract/index.js';
import type { UploadedBody } from '../../../ports/http/index.js';
import type { StagedPackage, ReleaseStore } from '../../../ports/release-store.js';
import { findHidingRelease } from '../update-check/channel-releases.js';
import { ReleaseIndex } from '../update-check/release-index.js';
import { DEPS } from '../deps.js';
import { formatReleaseName } from '../release-place.js';
import { PackageReceiver, type DeclaredPackage } from './package-receiver.js';
import { listPublishWarnings } from './publish-warnings.js';
import { ReleaseRepository } from './release-repository.js';
import { ReleasePublisher, type PublishedRelease, type PublishRequest } from './publisher.js';
import type { PublishClaim } from './publish-lease.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';
import type { AuditLog } from '../../../ports/domain/audit.js';

export interface PublishUpload {
  request: PublishRequest;
  body: UploadedBody;
  announced: DeclaredPackage;
}

@injectable()
export class PublishUploadHandler {
  constructor(
    @inject(DEPS.store) private readonly store: ReleaseStore,
    @inject(DEPS.audit) private readonly audit: Pick<AuditLog, 'record' | 'listByTarget'>,
    @inject(DEPS.projects) private readonly projects: ProjectDirectory,
    @inject(PackageReceiver) private readonly intake: PackageReceiver,
    @inject(ReleasePublisher) private readonly publisher: ReleasePublisher,
    @inject(ReleaseIndex) private readonly index: ReleaseIndex,
    @inject(ReleaseRepository) private readonly docs: ReleaseRepository,
  ) {}

  /** @throws ServiceError as the contract lists them; an error leaves nothing behind */
  async publish(principal: Principal, upload: PublishUpload): Promise<PublishedRelease & { warnings: string[] }> {
    const { request, body, announced } = upload;
    const project = await this.projects.requireAccepting(request.product, 'releases');
    return this.publisher.withClaim(request, async (claim) => {
      const staged = await this.intake.stage(body, announced.sha256);
      try {
        const published = await this.#publishStaged(claim, upload, staged);
        const warnings = [...published.warnings, ...this.#listWarnings(request, published, project.require_signed)];
        if (published.outcome !== 'unchanged') {
          const { package_sha256, rollout_percent, manifest_signature } = published.release;
          const details = { package_sha256, rollout_percent, signed: manifest_signature !== null };
          await this.audit.record(principal, 'release.published', formatReleaseName(published.release), details);
        }
        return { ...published, warnings };
      } finally {
        await this.store.packages.discard(staged.id);
      }
    });
  }

  async #publishStaged(
    claim: PublishClaim,
    upload: PublishUpload,
    staged: StagedPackage,
  ): Promise<PublishedRelease & { warnings: string[] }> {
    const { request, body, announced } = upload;
    const fields = await body.readFields();
    const notes = await this.intake.parseNotes(announced, fields);
    const { meta, warnings: unknown } = this.intake.parseMeta(announced, fields);
    const there = await this.publisher.findOffered(claim.id);
    if (there !== null && there.package_sha256 === staged.sha256) {
      const same = await this.publisher.republish(there, request.rollout_percent, notes, request.reauthorize);
      const hasIgnoredFields = request.min_version !== there.min_version || request.build !== there.build;
      const warnings = hasIgnoredFields ? ['The package is unchanged: build and min_version stay as published.'] : [];
      return { ...same, warnings: [...unknown, ...warnings] };
    }
    const { facts, warnings } = await this.intake.read(staged, request.platform, meta);
    const published = await this.publisher.publishStaged(claim, request, staged, { ...facts, notes });
    const { id, product, channel, platform } = published.release;
    const others = (await this.docs.listReadable({ product, channel, platform })).filter((other) => other.id !== id);
    return {
      ...published,
      warnings: [...unknown, ...warnings, ...listPublishWarnings({ ...request, ...facts }, others)],
    };
  }

  #listWarnings(request: PublishRequest, { release }: PublishedRelease, requireSigned: boolean): string[] {
    const warnings: string[] = [];
    if (release.manifest_signature === null) {
      warnings.push(
        requireSigned
          ? 'The release is unsigned, but the project requires signed ones: agents will reject it.'
          : 'The release is unsigned: no signing key is configured.',
      );
    }
    const newer = findHidingRelease(
      this.index.getChannel(release.product, release.channel).views[request.platform],
      release,
    );
    if (newer !== null) {
      warnings.push(`Version ${newer.version} is newer: machines will not be offered ${release.version}.`);
    }
    return warnings;
  }
}
