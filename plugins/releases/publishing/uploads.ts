/** Handles `POST /publish` from the request to the response (contract 40, publishing). */
import { inject, injectable, type Principal } from '../../../kernel/contract.js';
import type { UploadedBody } from '../../../ports/http.js';
import type { StagedPackage } from '../../../ports/release-store.js';
import { findHidingRelease } from '../asking/channel-releases.js';
import { ReleaseIndex } from '../asking/release-index.js';
import { DEPS, type ReleaseDeps } from '../deps.js';
import { formatReleaseName } from './changes.js';
import { PackageIntake, type DeclaredPackage } from './package-intake.js';
import { listPublishWarnings } from './publish-warnings.js';
import { ReleaseDocs } from './release-docs.js';
import { Publisher, type PublishedRelease, type PublishRequest } from './publisher.js';
import type { PublishClaim } from './publish-lease.js';

export interface Upload {
  request: PublishRequest;
  body: UploadedBody;
  announced: DeclaredPackage;
}

@injectable()
export class Uploads {
  constructor(
    @inject(DEPS) private readonly deps: ReleaseDeps,
    @inject(PackageIntake) private readonly intake: PackageIntake,
    @inject(Publisher) private readonly publisher: Publisher,
    @inject(ReleaseIndex) private readonly index: ReleaseIndex,
    @inject(ReleaseDocs) private readonly docs: ReleaseDocs,
  ) {}

  /** @throws ServiceError as the contract lists them; an error leaves nothing behind */
  async publish(principal: Principal, upload: Upload): Promise<PublishedRelease & { warnings: string[] }> {
    const { request, body, announced } = upload;
    const project = await this.deps.projects.accepting(request.product, 'releases');
    return this.publisher.alone(request, async (claim) => {
      const staged = await this.intake.stage(body, announced.sha256);
      try {
        const published = await this.#published(claim, upload, staged);
        const warnings = [...published.warnings, ...this.#warnings(request, published, project.require_signed)];
        if (published.outcome !== 'unchanged') {
          const { package_sha256, rollout_percent, manifest_signature } = published.release;
          const details = { package_sha256, rollout_percent, signed: manifest_signature !== null };
          await this.deps.audit.record(principal, 'release.published', formatReleaseName(published.release), details);
        }
        return { ...published, warnings };
      } finally {
        await this.deps.store.packages.discard(staged.id);
      }
    });
  }

  async #published(
    claim: PublishClaim,
    upload: Upload,
    staged: StagedPackage,
  ): Promise<PublishedRelease & { warnings: string[] }> {
    const { request, body, announced } = upload;
    const fields = await body.fields();
    const notes = await this.intake.notes(announced, fields);
    const { meta, warnings: unknown } = this.intake.meta(announced, fields);
    const there = await this.publisher.offered(claim.id);
    if (there !== null && there.package_sha256 === staged.sha256) {
      const same = await this.publisher.unchanged(there, request.rollout_percent, notes, request.reauthorize);
      const kept = request.min_version !== there.min_version || request.build !== there.build;
      const warnings = kept ? ['The package is the same: build and min_version stay as they were published.'] : [];
      return { ...same, warnings: [...unknown, ...warnings] };
    }
    const { facts, warnings } = await this.intake.read(staged, request.platform, meta);
    const published = await this.publisher.staged(claim, request, staged, { ...facts, notes });
    const { id, product, channel, platform } = published.release;
    const others = (await this.docs.readable({ product, channel, platform })).filter((other) => other.id !== id);
    return {
      ...published,
      warnings: [...unknown, ...warnings, ...listPublishWarnings({ ...request, ...facts }, others)],
    };
  }

  #warnings(request: PublishRequest, { release }: PublishedRelease, requireSigned: boolean): string[] {
    const warnings: string[] = [];
    if (release.manifest_signature === null) {
      warnings.push(
        requireSigned
          ? 'The release is unsigned, and the project wants signed ones: agents will refuse it.'
          : 'The release is unsigned: no signing key is configured.',
      );
    }
    const newer = findHidingRelease(
      this.index.channel(release.product, release.channel).views[request.platform],
      release,
    );
    if (newer !== null) {
      warnings.push(`Version ${newer.version} is newer: machines will not be offered ${release.version}.`);
    }
    return warnings;
  }
}
