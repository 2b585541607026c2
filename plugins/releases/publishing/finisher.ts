/**
 * Completes a change of a release, also after a crash: `latest.json` and statement, bug items to
 * close, events (docs/consistency.md, releases). Every step is idempotent. Callers hold the
 * product's lock.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import type { ReleasePublished } from '../../../ports/domain/releases.js';
import { normalizeVersion } from '../../../lib/versions.js';
import { StoredManifests } from '../asking/manifest-texts.js';
import { DEPS, type ReleaseDeps } from '../deps.js';
import { toStorePath, type ReleaseOutboxEntry, type ReleaseDoc, type ReleaseFields } from '../model.js';
import { ChannelDocuments } from './channel-documents.js';
import { PublishLeases, type PublishClaim } from './publish-lease.js';
import { ReleaseDocs } from './release-docs.js';

const NAMED_ITEMS = 100;

@injectable()
export class Finisher {
  constructor(
    @inject(DEPS) private readonly deps: ReleaseDeps,
    @inject(ReleaseDocs) private readonly docs: ReleaseDocs,
    @inject(StoredManifests) private readonly manifests: StoredManifests,
    @inject(ChannelDocuments) private readonly channels: ChannelDocuments,
    @inject(PublishLeases) private readonly leases: PublishLeases,
  ) {}

  async record(id: string, fields: ReleaseFields, manifest: string): Promise<ReleaseDoc> {
    const { clock, ids } = this.deps;
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
      outbox: [...before.outbox, entry],
    };
    return this.docs.change(before, changes, manifest);
  }

  async finish(doc: ReleaseDoc): Promise<{ release: ReleaseDoc; closed: string[] }> {
    const release = doc.withdrawing === undefined ? doc : await this.#leave(doc, doc.withdrawing);
    await this.channels.write(release.product, new Set([release.channel]));
    const closed: string[] = [];
    if (release.withdrawn_at !== null) await this.#forgetBuild(release);
    for (const entry of release.outbox) {
      const sent = await this.#send(release, entry);
      if (sent === null) return { release, closed };
      closed.push(...sent);
    }
    await this.manifests.keepOnly(release.id, [release.manifest_sha256]);
    await this.docs.clearMarkers(release);
    return { release, closed };
  }

  /** Completes a dead publisher's intent when the package is in place, and undoes it otherwise. */
  async mend(claim: PublishClaim): Promise<void> {
    const { left, id } = claim;
    if (left === null) return;
    const { store } = this.deps;
    const before = await this.docs.get(id);
    const { release, staged } = left;
    if (before?.manifest_sha256 !== release.manifest_sha256) {
      const manifest = await this.manifests.read(id, release.manifest_sha256);
      const held = await store.packages.held(toStorePath(release));
      if (manifest !== null && held?.sha256 === release.package_sha256) {
        await store.packages.describe(toStorePath(release), { manifest, signature: release.manifest_signature });
        await this.finish(await this.record(id, release, manifest));
      } else await this.manifests.keepOnly(id, before === null ? [] : [before.manifest_sha256]);
    }
    if (staged !== null) await store.packages.discard(staged);
    await this.leases.finish(claim);
    claim.left = null;
  }

  /**
   * Removes the file from the web root, then marks the release (contract 40, publishing: withdraw).
   */
  async #leave(doc: ReleaseDoc, { reason, at }: { reason: string; at: string }): Promise<ReleaseDoc> {
    await this.deps.store.packages.withdraw(toStorePath(doc));
    const gone = { withdrawn_at: at, withdrawn_reason: reason, withdrawing: undefined, rolling: undefined };
    return this.docs.change(doc, gone);
  }

  async #forgetBuild({ product, version }: ReleaseDoc): Promise<void> {
    const same = normalizeVersion(version);
    const offered = (await this.docs.list({ product, withdrawn_at: null })).some(
      (other) => normalizeVersion(other.version) === same,
    );
    if (!offered) await this.deps.bugs()?.releaseWithdrawn(product, version);
  }

  /** @returns the closed items; null when a listener failed */
  async #send({ product }: ReleaseDoc, entry: ReleaseOutboxEntry): Promise<string[] | null> {
    const options = { id: entry.id, timestamp: entry.at, project_slug: product };
    if (entry.event === 'release.halted') return (await this.deps.emit(entry.event, entry.data, options)) ? [] : null;
    const { version, build } = entry.data;
    // The event id identifies this publication, so a retry learns which items the first attempt
    // closed.
    const publication = entry.id.slice('evt_'.length);
    const closed = (await this.deps.bugs()?.releasePublished(product, { version, build, publication })) ?? [];
    const data: ReleasePublished = {
      ...entry.data,
      closed_items: closed.slice(0, NAMED_ITEMS),
      closed_count: closed.length,
    };
    return (await this.deps.emit(entry.event, data, options)) ? closed : null;
  }
}
