/**
 * Also after a crash: `latest.json` and statement, bug items to close, events (docs/consistency.md,
 * releases). Every step is idempotent. Callers hold the product's lock.
 */
import { inject, injectable, type Clock, type Ids, type PluginContext } from '../../../kernel/contract/index.js';
import type { ReleasePublished } from '../../../ports/domain/releases.js';
import { compareVersions, normalizeVersion } from '../../../lib/versions.js';
import type { Platform } from '../../../lib/formats/platform.js';
import { ManifestRepository } from '../update-check/manifest-repository.js';
import { DEPS } from '../deps.js';
import {
  toStorePath,
  type ReleaseOutboxEntry,
  type ReleaseDoc,
  type ReleaseFields,
  type RollbackIntent,
} from '../model.js';
import { ChannelDocumentWriter } from './channel-documents.js';
import { PublishLeaseManager, type PublishClaim } from './publish-lease.js';
import { ReleaseFilesUpdater } from './release-files-updater.js';
import { ReleaseRepository } from './release-repository.js';
import type { BugsApi } from '../../../ports/domain/bugs.js';
import type { ReleaseStore } from '../../../ports/release-store.js';

const MAX_EVENT_ITEMS = 100;

@injectable()
export class ReleaseChangeFinisher {
  constructor(
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.emit) private readonly emit: PluginContext['emit'],
    @inject(DEPS.store) private readonly store: ReleaseStore,
    @inject(DEPS.bugs) private readonly bugs: () => BugsApi | undefined,
    @inject(ReleaseRepository) private readonly docs: ReleaseRepository,
    @inject(ManifestRepository) private readonly manifests: ManifestRepository,
    @inject(ChannelDocumentWriter) private readonly channels: ChannelDocumentWriter,
    @inject(PublishLeaseManager) private readonly leases: PublishLeaseManager,
    @inject(ReleaseFilesUpdater) private readonly files: ReleaseFilesUpdater,
  ) {}

  async saveRelease(id: string, fields: ReleaseFields, manifest: string): Promise<ReleaseDoc> {
    const { clock, ids } = this;
    const before = await this.docs.get(id);
    const { product, version, build, channel, platform, rollout_percent, published_at: at } = fields;
    const data = { product, version, build, channel, platform, signed: fields.manifest_signature !== null };
    const entry: ReleaseOutboxEntry = { id: `evt_${ids.uuid()}`, at, event: 'release.published', data };
    const rolling = rollout_percent > 0 && rollout_percent < 100 ? { rolling: product } : {};
    const state = {
      ...fields,
      withdrawn_at: null,
      withdrawn_reason: null,
      halted_at: null,
      halted_reason: null,
      rollout_at: at,
      open_at: clock.iso(),
    };
    if (before === null) {
      const fresh = { ...state, ...rolling, id, downloads: 0, created_at: at, outbox: [entry] };
      return this.docs.insert(fresh, manifest);
    }
    const changes = {
      ...state,
      rolling: undefined,
      ...rolling,
      withdrawing: undefined,
      rolled_back: undefined,
      outbox: [...before.outbox, entry],
    };
    return this.docs.update(before, changes, manifest);
  }

  async finish(doc: ReleaseDoc): Promise<{ release: ReleaseDoc; closed: string[] }> {
    const release = doc.withdrawing === undefined ? doc : await this.#withdraw(doc, doc.withdrawing);
    if (release.rolling_back !== undefined) await this.#withdrawLater(release, release.rolling_back);
    this.files.schedule(toStorePath(release));
    await this.channels.write(release.product, new Set([release.channel]));
    const closed: string[] = [];
    if (release.withdrawn_at !== null) await this.#notifyVersionWithdrawn(release);
    for (const entry of release.outbox) {
      const sent = await this.#send(release, entry);
      if (sent === null) return { release, closed };
      closed.push(...sent);
    }
    await this.manifests.deleteExcept(release.id, [release.manifest_sha256]);
    await this.docs.clearMarkers(release);
    return { release, closed };
  }

  /** Undoes a dead publisher's intent unless the package is in place. */
  async recover(claim: PublishClaim): Promise<void> {
    const { left, id } = claim;
    if (left === null) return;
    const store = this.store;
    const before = await this.docs.get(id);
    const { release, staged } = left;
    if (before?.manifest_sha256 !== release.manifest_sha256) {
      const manifest = await this.manifests.read(id, release.manifest_sha256);
      const held = await store.packages.readPackageInfo(toStorePath(release));
      if (manifest !== null && held?.sha256 === release.package_sha256) {
        await store.packages.writeTexts(toStorePath(release), { manifest, signature: release.manifest_signature });
        await this.finish(await this.saveRelease(id, release, manifest));
      } else await this.manifests.deleteExcept(id, before === null ? [] : [before.manifest_sha256]);
    }
    if (staged !== null) await store.packages.discard(staged);
    await this.leases.clearIntent(claim);
    claim.left = null;
  }

  /** The file first, then the release (contract 40, publishing: withdraw). */
  async #withdraw(doc: ReleaseDoc, { reason, at }: { reason: string; at: string }): Promise<ReleaseDoc> {
    await this.store.packages.withdraw(toStorePath(doc));
    const gone = { withdrawn_at: at, withdrawn_reason: reason, withdrawing: undefined, rolling: undefined };
    return this.docs.update(doc, gone);
  }

  /** The newest goes last, so that no release between the two is offered meanwhile. */
  async #withdrawLater(target: ReleaseDoc, { reason, at, platform }: RollbackIntent): Promise<void> {
    const { version: to } = target;
    const changed: ReleaseDoc[] = [];
    for (const doc of await this.listLater(target, platform)) {
      if (doc.withdrawn_at !== null && doc.rolled_back !== undefined) continue;
      const withdrawing = doc.withdrawn_at === null ? { withdrawing: { reason, at } } : {};
      const marked = await this.docs.update(doc, { ...withdrawing, rolled_back: { to, at }, open_at: at });
      changed.push(marked.withdrawing === undefined ? marked : await this.#withdraw(marked, marked.withdrawing));
    }
    for (const doc of changed) await this.finish(doc);
  }

  /**
   * Lists oldest first.
   * @param platform null: all
   */
  async listLater({ product, channel, version }: ReleaseDoc, platform: Platform | null): Promise<ReleaseDoc[]> {
    const found = await this.docs.list({ product, channel, ...(platform === null ? {} : { platform }) });
    return found
      .filter((doc) => compareVersions(doc.version, version) > 0)
      .toSorted((a, b) => compareVersions(a.version, b.version));
  }

  async #notifyVersionWithdrawn({ product, version }: ReleaseDoc): Promise<void> {
    const same = normalizeVersion(version);
    const offered = (await this.docs.list({ product, withdrawn_at: null })).some(
      (other) => normalizeVersion(other.version) === same,
    );
    if (!offered) await this.bugs()?.withdrawRelease(product, version);
  }

  /** @returns the closed items; null when a listener failed */
  async #send({ product }: ReleaseDoc, entry: ReleaseOutboxEntry): Promise<string[] | null> {
    const options = { id: entry.id, timestamp: entry.at, project_slug: product };
    if (entry.event !== 'release.published') return (await this.emit(entry.event, entry.data, options)) ? [] : null;
    const { version, build } = entry.data;
    // A retry learns by the event id which items the first attempt closed.
    const publication = entry.id.slice('evt_'.length);
    const closed = (await this.bugs()?.recordRelease(product, { version, build, publication })) ?? [];
    const data: ReleasePublished = {
      ...entry.data,
      closed_items: closed.slice(0, MAX_EVENT_ITEMS),
      closed_count: closed.length,
    };
    return (await this.emit(entry.event, data, options)) ? closed : null;
  }
}
