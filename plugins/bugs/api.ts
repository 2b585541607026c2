/** What the plugin offers the others (ports/domain/bugs.ts), and the runs of its jobs. */
import { inject, injectable } from '../../kernel/contract.js';
import { isoOf } from '../../lib/time.js';
import type { BugsApi, PublishedBuild, Recorded, Report, UserFeedback } from '../../ports/domain/bugs.js';
import type { ReleasePublished } from '../../ports/domain/releases.js';
import type { DomainEvent } from '../../ports/events.js';
import { Alarms } from './muting/alarms.js';
import { Closing } from './builds/closing.js';
import { KnownBuilds } from './builds/known-builds.js';
import { DEPS, type Deps } from './deps.js';
import { Intake } from './intake/intake.js';
import { Items } from './store/items.js';
import { Expiry } from './claims/expiry.js';
import { planUnmute } from './muting/muting.js';
import { ItemOutbox } from './store/item-outbox.js';
import { ClientRefs } from './store/client-refs.js';
import { Removal } from './work/removal.js';
import { Feedback } from './feedback/feedback.js';
import { WaitingFeedback } from './feedback/waiting-feedback.js';
import { Rekeying } from './merging/rekeying.js';
import { WINDOW_MS } from './item/sampling.js';

const BATCH = 200;

@injectable()
export class Bugs implements BugsApi {
  constructor(
    @inject(DEPS) private readonly deps: Deps,
    @inject(Intake) private readonly intake: Intake,
    @inject(Items) private readonly items: Items,
    @inject(Expiry) private readonly expiry: Expiry,
    @inject(Closing) private readonly builds: Closing,
    @inject(KnownBuilds) private readonly known: KnownBuilds,
    @inject(ItemOutbox) private readonly outbox: ItemOutbox,
    @inject(ClientRefs) private readonly refs: ClientRefs,
    @inject(Alarms) private readonly alarms: Alarms,
    @inject(Rekeying) private readonly rekeying: Rekeying,
    @inject(Removal) private readonly removal: Removal,
    @inject(Feedback) private readonly comments: Feedback,
    @inject(WaitingFeedback) private readonly waiting: WaitingFeedback,
  ) {}

  async record(report: Report, options?: { texts?: boolean }): Promise<Recorded> {
    const done = await this.intake.record(report, options);
    this.deps.reports.recorded(report, done);
    await this.comments.counted(report);
    return done;
  }

  refused(source: Report['source']): void {
    this.deps.reports.refused(source);
  }

  feedback(given: UserFeedback): Promise<boolean> {
    return this.comments.add(given);
  }

  async unmuteRule(ruleId: string, signal?: AbortSignal): Promise<number> {
    let n = 0;
    for (;;) {
      signal?.throwIfAborted();
      const page = await this.deps.items.find({ filter: { muted_by_rule_id: ruleId }, limit: BATCH });
      await Promise.all(page.items.map(({ id }) => this.#unmute(id, ruleId)));
      n += page.items.length;
      if (page.items.length < BATCH) return n;
    }
  }

  async #unmute(id: string, ruleId: string): Promise<void> {
    await this.items.change(id, 'system', (item, change) => void planUnmute(item, change, ruleId));
  }

  releasePublished(project: string, release: PublishedBuild): Promise<string[]> {
    return this.builds.published(project, release);
  }

  async refsOf(ids: readonly string[]): Promise<string[]> {
    const refs = new Map<string, string>();
    for (let at = 0; at < ids.length; at += BATCH) {
      const filter = { id: { in: ids.slice(at, at + BATCH) } };
      for (const { id, ref } of (await this.deps.items.find({ filter, limit: BATCH })).items) refs.set(id, ref);
    }
    return ids.flatMap((id) => refs.get(id) ?? []);
  }

  releaseWithdrawn(project: string, version: string): Promise<void> {
    return this.known.remove(project, version);
  }

  /** The event of a publish. It closes the fixed items if the publishing call was cut off. */
  released(event: DomainEvent<ReleasePublished>): Promise<void> {
    return this.builds.onPublished(event);
  }

  /** At the start: all that a crash left half done. */
  async reconcile(signal?: AbortSignal): Promise<void> {
    await this.tell(signal);
    await this.finish(signal);
  }

  /** Every 10 s: tells events that a crash or a failed listener left behind. */
  async tell(signal?: AbortSignal): Promise<void> {
    await this.outbox.reconcile(signal);
  }

  /** Every 10 s: finishes references, merges, splits and deletions after a crash, and links feedback to events that came since. */
  async finish(signal?: AbortSignal): Promise<void> {
    await this.refs.tidy();
    await this.refs.reconcile();
    await this.rekeying.reconcile(signal);
    await this.removal.reconcile();
    await this.waiting.reconcile(signal);
  }

  /** Every 30 s: ends expired leases, closes items whose release is published, emits alarms that a crash prevented. */
  async sweep(): Promise<void> {
    await this.expiry.settleAll();
    await this.builds.reconcile();
    await this.alarms.reconcile();
  }

  /** Hourly: payloads older than 30 days go, and items whose time is over, in batches. */
  async forget(signal?: AbortSignal): Promise<void> {
    const before = isoOf(this.deps.clock.now() - WINDOW_MS);
    while ((await this.deps.occurrences.remove({ received_at: { lt: before } }, 1000)) > 0) {
      if (signal?.aborted === true) return;
    }
    const { retention_days: days } = this.deps.config;
    if (days !== null) await this.removal.retain(days, signal);
  }

  /** Before the store closes: finishes the background work of answered calls. */
  async stop(): Promise<void> {
    await this.expiry.drain();
    await this.refs.drain();
    await this.outbox.drain();
  }
}
