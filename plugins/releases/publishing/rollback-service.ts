import { inject, injectable, type Principal, type Clock, type Ids } from '../../../kernel/contract/index.js';
import { conflict, ServiceError } from '../../../kernel/errors.js';
import { compareVersions } from '../../../lib/versions.js';
import { DEPS } from '../deps.js';
import type { ReleaseDoc } from '../model.js';
import type { ChannelRollback } from '../update-check/channel-releases.js';
import { formatReleaseName } from '../release-place.js';
import { ReleaseIndex } from '../update-check/release-index.js';
import { ReleaseChangeFinisher } from './change-finisher.js';
import { ProductLock } from './product-lock.js';
import { ReleaseChangeService, type SelectedRelease } from './release-change-service.js';
import { ReleaseRepository } from './release-repository.js';
import type { AuditLog } from '../../../ports/domain/audit.js';

export interface RollbackResult {
  /** Offered again, one per platform. */
  releases: ReleaseDoc[];
  /** By this call, newest first. */
  withdrawn: ReleaseDoc[];
  /** Null without a later release. */
  rollback: ChannelRollback | null;
  unchanged: boolean;
}

@injectable()
export class RollbackService {
  constructor(
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.audit) private readonly audit: Pick<AuditLog, 'record' | 'listByTarget'>,
    @inject(ReleaseRepository) private readonly docs: ReleaseRepository,
    @inject(ReleaseIndex) private readonly index: ReleaseIndex,
    @inject(ProductLock) private readonly lock: ProductLock,
    @inject(ReleaseChangeFinisher) private readonly finisher: ReleaseChangeFinisher,
    @inject(ReleaseChangeService) private readonly changes: ReleaseChangeService,
  ) {}

  /**
   * Withdraws later releases. One write records the intent and the event; the reconciler completes
   * it after a crash.
   * @param chosen platform null: all
   * @throws ServiceError not_found, reason_required; conflict when the release is not offered to
   *   everyone, or a later release for `any` would still be offered
   */
  async rollBack(principal: Principal, chosen: SelectedRelease, reason: string): Promise<RollbackResult> {
    if (reason.trim() === '')
      throw new ServiceError('reason_required', 'A reason is required to roll a channel back.', {
        fields: { reason: 'must say why' },
      });
    await this.changes.listSelected(chosen);
    return this.lock.run(chosen.product, () => this.#rollBackLocked(principal, chosen, reason));
  }

  /** Returns whether a later release of the channel is offered. */
  async hasLater(doc: ReleaseDoc): Promise<boolean> {
    return (await this.finisher.listLater(doc, null)).some(({ withdrawn_at }) => withdrawn_at === null);
  }

  async #rollBackLocked(principal: Principal, chosen: SelectedRelease, reason: string): Promise<RollbackResult> {
    const { product, channel, platform, version: to } = chosen;
    const targets = (await this.changes.listSelected(chosen)).filter(isOffered);
    const [target] = targets;
    if (target === undefined)
      throw conflict(`Release ${to} in ${channel} is withdrawn. Publish it again, or choose another release.`);
    for (const doc of targets) checkOfferedToAll(doc);
    if (platform !== null && platform !== 'any') await this.#checkNoLaterForAny(target);
    const later = (await this.finisher.listLater(target, platform)).toReversed();
    const due = later.filter((doc) => doc.withdrawn_at === null || doc.rolled_back === undefined);
    const [newest] = later;
    if (newest === undefined || due.length === 0)
      return {
        releases: targets,
        withdrawn: [],
        rollback: await this.#readRollback(product, channel),
        unchanged: true,
      };
    const at = this.clock.iso();
    const from = newest.version;
    const withdrawn = [...new Set(due.map(({ version }) => version))];
    await this.audit.record(
      principal,
      'release.rolled_back',
      formatReleaseName(target),
      { reason, platform: platform ?? 'all', withdrawn: withdrawn.join(', ') },
      { before: { newest: from }, after: { newest: target.version } },
    );
    const data = { product, channel, platform, from, to: target.version, reason, withdrawn };
    const entry = { id: `evt_${this.ids.uuid()}`, at, event: 'release.rolled_back' as const, data };
    const outbox = [...target.outbox, entry];
    const changes = { rolling_back: { reason, at, platform }, open_at: at, outbox };
    await this.finisher.finish(await this.docs.update(target, changes));
    const rollback = await this.#readRollback(product, channel);
    return { releases: await this.#reload(targets), withdrawn: await this.#reload(due), rollback, unchanged: false };
  }

  async #checkNoLaterForAny(target: ReleaseDoc): Promise<void> {
    const later = (await this.finisher.listLater(target, 'any')).findLast(isOffered);
    if (later === undefined) return;
    throw conflict(
      `${later.version} for any platform would still be offered to ${target.platform}. Omit \`platform\` to roll back all of them.`,
    );
  }

  async #readRollback(product: string, channel: string): Promise<ChannelRollback | null> {
    await this.index.catchUp(product);
    const { releases } = this.index.getChannel(product, channel);
    return releases.getRollback(releases.getViews());
  }

  async #reload(docs: readonly ReleaseDoc[]): Promise<ReleaseDoc[]> {
    const found = await Promise.all(docs.map(({ id }) => this.docs.get(id)));
    return found.filter((doc) => doc !== null).toSorted((a, b) => compareVersions(b.version, a.version));
  }
}

const isOffered = ({ withdrawn_at, withdrawing }: ReleaseDoc): boolean =>
  withdrawn_at === null && withdrawing === undefined;

function checkOfferedToAll({ version, channel, platform, halted_at, rollout_percent }: ReleaseDoc): void {
  if (halted_at === null && rollout_percent >= 100) return;
  const state = halted_at === null ? `offered to ${rollout_percent} % of the machines` : 'halted';
  throw conflict(
    `Release ${version} in ${channel} for ${platform} is ${state}. Set its rollout to 100 first, or choose another release.`,
  );
}
