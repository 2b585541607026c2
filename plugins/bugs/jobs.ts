import { inject, injectable } from '../../kernel/contract.js';
import { AHEAD_MS } from '../../lib/clock-skew.js';
import { isoOf } from '../../lib/time.js';
import { removeAll } from '../../ports/store/remove-all.js';
import { Closing } from './builds/closing.js';
import { Expiry } from './claims/expiry.js';
import { DEPS, type BugDeps } from './deps.js';
import { WaitingFeedback } from './feedback/waiting-feedback.js';
import { WINDOW_MS } from './item/sampling.js';
import { Links } from './links/links.js';
import { Rekeying } from './merging/rekeying.js';
import { SplitHandover } from './splitting/handover.js';
import { Alarms } from './muting/alarms.js';
import { Blocking } from './store/blocking.js';
import { ClientRefs } from './store/client-refs.js';
import { ItemOutbox } from './store/item-outbox.js';
import { Words } from './store/words.js';
import { Removal } from './editing/removal.js';
import { Reviews } from './editing/reviews.js';

/** Completes work that a crash left unfinished; each service completes its own. */
@injectable()
export class Repairs {
  constructor(
    @inject(ItemOutbox) private readonly outbox: ItemOutbox,
    @inject(ClientRefs) private readonly refs: ClientRefs,
    @inject(Rekeying) private readonly rekeying: Rekeying,
    @inject(Removal) private readonly removal: Removal,
    @inject(WaitingFeedback) private readonly waiting: WaitingFeedback,
    @inject(Links) private readonly links: Links,
    @inject(Blocking) private readonly blocking: Blocking,
    @inject(SplitHandover) private readonly splits: SplitHandover,
  ) {}

  async tell(signal?: AbortSignal): Promise<void> {
    await this.outbox.reconcile(signal);
  }

  /**
   * Completes references, merges, splits, deletions, links, and feedback whose event has arrived.
   */
  async finish(signal?: AbortSignal): Promise<void> {
    await this.refs.tidy();
    await this.refs.reconcile();
    await this.rekeying.reconcile(signal);
    await this.splits.reconcile(signal);
    await this.removal.reconcile();
    await this.waiting.reconcile(signal);
    await this.links.reconcile(signal);
    await this.blocking.reconcile(signal);
  }

  /** Deletes expired references, deletion markers and unmatched feedback. */
  async forget(signal?: AbortSignal): Promise<void> {
    await this.refs.forget(signal);
    await this.removal.forget(signal);
    await this.waiting.forget(signal);
  }

  async retain(days: number, signal?: AbortSignal): Promise<void> {
    await this.removal.retain(days, signal);
  }

  async drain(): Promise<void> {
    await this.refs.drain();
    await this.outbox.drain();
  }
}

@injectable()
export class BugsJobs {
  constructor(
    @inject(DEPS) private readonly deps: Pick<BugDeps, 'items' | 'occurrences' | 'clock' | 'config'>,
    @inject(Repairs) private readonly repairs: Repairs,
    @inject(Expiry) private readonly expiry: Expiry,
    @inject(Closing) private readonly closing: Closing,
    @inject(Alarms) private readonly alarms: Alarms,
    @inject(Reviews) private readonly reviews: Reviews,
    @inject(Words) private readonly words: Words,
  ) {}

  async reconcile(signal?: AbortSignal): Promise<void> {
    await this.tell(signal);
    await this.finish(signal);
  }

  /** Runs every 30 s and at startup. */
  tell(signal?: AbortSignal): Promise<void> {
    return this.repairs.tell(signal);
  }

  async finish(signal?: AbortSignal): Promise<void> {
    await this.repairs.finish(signal);
    await this.words.reconcile(signal);
    await this.reviews.reconcile(signal);
  }

  /**
   * Runs every 30 s: expires leases, closes items whose release is published, emits alarms that a
   * crash prevented, and corrects data written while the clock ran ahead.
   */
  async sweep(): Promise<void> {
    await this.#seenByNow();
    await this.expiry.writeAllExpired();
    await this.closing.reconcile();
    await this.alarms.reconcile();
  }

  /**
   * Runs hourly: deletes expired data, payloads older than 30 days, and items past their retention
   * period.
   */
  async forget(signal?: AbortSignal): Promise<void> {
    await this.repairs.forget(signal);
    const before = isoOf(this.deps.clock.now() - WINDOW_MS);
    await removeAll(this.deps.occurrences, { received_at: { lt: before } }, signal);
    if (signal?.aborted === true) return;
    const { retention_days: days } = this.deps.config;
    if (days !== null) await this.repairs.retain(days, signal);
  }

  /**
   * Limits `last_seen_at` to now after the clock ran ahead, because this field never decreases
   * otherwise.
   */
  async #seenByNow(): Promise<void> {
    const { items, clock } = this.deps;
    const ahead = { last_seen_at: { gt: isoOf(clock.now() + AHEAD_MS) } };
    if ((await items.count(ahead)) === 0) return;
    const now = clock.iso();
    await items.changeMany(ahead, { set: { last_seen_at: now }, max: { updated_at: now } });
  }

  /** Finishes background work before the store closes. */
  async stop(): Promise<void> {
    await this.expiry.drain();
    await this.repairs.drain();
  }
}
