import { inject, injectable } from '../../kernel/contract/index.js';
import { MAX_AHEAD_MS } from '../../lib/clock-skew.js';
import { toIsoString } from '../../lib/time.js';
import { removeAll } from '../../ports/store/remove-all.js';
import { ItemCloser } from './builds/item-closer.js';
import { LeaseExpiryRecorder } from './claims/lease-expiry.js';
import { DEPS, type BugsConfig } from './deps.js';
import { PendingFeedbackService } from './feedback/pending-feedback.js';
import { SAMPLING_WINDOW_MS } from './item/payload-sampling.js';
import { LinkService } from './links/link-service.js';
import { RekeyingService } from './merging/rekeying.js';
import { SplitCompletionService } from './splitting/split-completion.js';
import { MutingService } from './muting/muting-service.js';
import { RateAlarmService } from './muting/rate-alarms.js';
import { BlockingService } from './store/blocking.js';
import { ClientRefService } from './store/client-refs.js';
import { ItemOutbox } from './store/item-outbox.js';
import { SearchTextService } from './store/search-texts.js';
import { ItemRemovalService } from './editing/removal.js';
import { PullRequestReviewService } from './editing/reviews.js';
import type { Clock } from '../../ports/clock.js';
import type { StoredOccurrence } from './item/occurrence-documents.js';
import type { ItemDoc } from './item/model.js';
import type { Collection } from '../../ports/store/index.js';

/** Each service completes what a crash left of its work. */
@injectable()
export class RecoveryService {
  constructor(
    @inject(ItemOutbox) private readonly outbox: ItemOutbox,
    @inject(ClientRefService) private readonly refs: ClientRefService,
    @inject(RekeyingService) private readonly rekeying: RekeyingService,
    @inject(ItemRemovalService) private readonly removal: ItemRemovalService,
    @inject(PendingFeedbackService) private readonly waiting: PendingFeedbackService,
    @inject(LinkService) private readonly links: LinkService,
    @inject(BlockingService) private readonly blocking: BlockingService,
    @inject(SplitCompletionService) private readonly splits: SplitCompletionService,
  ) {}

  async emitPendingEvents(signal?: AbortSignal): Promise<void> {
    await this.outbox.reconcile(signal);
  }

  /** References, merges, splits, deletions, links, and feedback whose event has arrived. */
  async completePendingWork(signal?: AbortSignal): Promise<void> {
    await this.refs.removeStaleEntries();
    await this.refs.reconcile();
    await this.rekeying.reconcile(signal);
    await this.splits.reconcile(signal);
    await this.removal.reconcile();
    await this.waiting.reconcile(signal);
    await this.links.reconcile(signal);
    await this.blocking.reconcile(signal);
  }

  async deleteExpired(signal?: AbortSignal): Promise<void> {
    await this.refs.deleteExpired(signal);
    await this.removal.deleteOldMarkers(signal);
    await this.waiting.deleteExpired(signal);
  }

  async applyRetention(days: number, signal?: AbortSignal): Promise<void> {
    await this.removal.deleteRetired(days, signal);
  }

  async drain(): Promise<void> {
    await this.refs.drain();
    await this.outbox.drain();
  }
}

@injectable()
export class BugsJobs {
  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.occurrences) private readonly occurrences: Collection<StoredOccurrence>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.config) private readonly config: BugsConfig,
    @inject(RecoveryService) private readonly repairs: RecoveryService,
    @inject(LeaseExpiryRecorder) private readonly expiry: LeaseExpiryRecorder,
    @inject(ItemCloser) private readonly closing: ItemCloser,
    @inject(RateAlarmService) private readonly alarms: RateAlarmService,
    @inject(PullRequestReviewService) private readonly reviews: PullRequestReviewService,
    @inject(SearchTextService) private readonly words: SearchTextService,
    @inject(MutingService) private readonly muting: MutingService,
  ) {}

  async reconcile(signal?: AbortSignal): Promise<void> {
    await this.emitPendingEvents(signal);
    await this.completePendingWork(signal);
  }

  emitPendingEvents(signal?: AbortSignal): Promise<void> {
    return this.repairs.emitPendingEvents(signal);
  }

  async completePendingWork(signal?: AbortSignal): Promise<void> {
    await this.repairs.completePendingWork(signal);
    await this.words.reconcile(signal);
    await this.reviews.reconcile(signal);
  }

  /**
   * Expires leases and mutes, closes published items, emits alarms that a crash prevented, and
   * corrects data from a clock that ran ahead; every 30 s.
   */
  async sweep(): Promise<void> {
    await this.#clampLastSeen();
    await this.expiry.writeAllExpired();
    await this.closing.reconcile();
    await this.alarms.reconcile();
    await this.muting.unmuteExpired();
  }

  /** Hourly: expired data, payloads older than 30 days, and items past their retention. */
  async deleteExpired(signal?: AbortSignal): Promise<void> {
    await this.repairs.deleteExpired(signal);
    const before = toIsoString(this.clock.now() - SAMPLING_WINDOW_MS);
    await removeAll(this.occurrences, { received_at: { lt: before } }, signal);
    if (signal?.aborted === true) return;
    const { retention_days: days } = this.config;
    if (days !== null) await this.repairs.applyRetention(days, signal);
  }

  /** `last_seen_at` never decreases otherwise after the clock ran ahead. */
  async #clampLastSeen(): Promise<void> {
    const { items, clock } = this;
    const ahead = { last_seen_at: { gt: toIsoString(clock.now() + MAX_AHEAD_MS) } };
    if ((await items.count(ahead)) === 0) return;
    const now = clock.iso();
    await items.changeMany(ahead, { set: { last_seen_at: now }, max: { updated_at: now } });
  }

  async stop(): Promise<void> {
    await this.expiry.drain();
    await this.repairs.drain();
  }
}
