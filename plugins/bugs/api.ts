/** What the plugin offers the others (ports/domain/bugs.ts), and the runs of its jobs. */
import { inject, injectable } from '../../kernel/contract.js';
import type { BugsApi, Recorded, Report } from '../../ports/domain/bugs.js';
import type { ReleasePublished } from '../../ports/domain/releases.js';
import type { DomainEvent } from '../../ports/events.js';
import type { Alarms } from './muting/alarms.js';
import type { Builds } from './releases/closing.js';
import {
  ALARMS,
  BUILDS,
  DEPS,
  INTAKE,
  isoOf,
  ITEMS,
  LEASES,
  OUTBOX,
  CLIENT_REFS,
  REKEYING,
  type Deps,
} from './deps.js';
import type { Intake } from './intake/intake.js';
import type { Items } from './items/items.js';
import type { Leases } from './claims/leases.js';
import { planUnmute } from './muting/muting.js';
import type { Outbox } from './items/outbox.js';
import type { ClientRefs } from './intake/client-refs.js';
import type { Rekeying } from './merging/rekeying.js';
import { WINDOW_MS } from './intake/sampling.js';

const BATCH = 200;

@injectable()
export class Bugs implements BugsApi {
  constructor(
    @inject(DEPS) private readonly deps: Deps,
    @inject(INTAKE) private readonly intake: Intake,
    @inject(ITEMS) private readonly items: Items,
    @inject(LEASES) private readonly leases: Leases,
    @inject(BUILDS) private readonly builds: Builds,
    @inject(OUTBOX) private readonly outbox: Outbox,
    @inject(CLIENT_REFS) private readonly refs: ClientRefs,
    @inject(ALARMS) private readonly alarms: Alarms,
    @inject(REKEYING) private readonly rekeying: Rekeying,
  ) {}

  record(report: Report, options?: { texts?: boolean }): Promise<Recorded> {
    return this.intake.record(report, options);
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

  /** A release was published: what it fixes is closed. */
  released(event: DomainEvent<ReleasePublished>): Promise<void> {
    return this.builds.onPublished(event);
  }

  /** Every 10 s: what a crash or a failed listener left untold, references left open, merges and splits cut off. */
  async reconcile(signal?: AbortSignal): Promise<void> {
    await this.outbox.reconcile(signal);
    await this.refs.tidy();
    await this.refs.reconcile();
    await this.rekeying.reconcile(signal);
  }

  /** Every 30 s: leases that ran out, items whose release is there, alarms that a crash left untold. */
  async sweep(): Promise<void> {
    await this.leases.settle();
    await this.builds.reconcile();
    await this.alarms.reconcile();
  }

  /** Hourly: payloads older than 30 days go, in batches. */
  async forget(signal?: AbortSignal): Promise<void> {
    const before = isoOf(this.deps.clock.now() - WINDOW_MS);
    while ((await this.deps.occurrences.remove({ received_at: { lt: before } }, 1000)) > 0) {
      if (signal?.aborted === true) return;
    }
  }

  /** Before the store closes: nothing that was answered is left half told. */
  async stop(): Promise<void> {
    await this.refs.drain();
    await this.outbox.drain();
  }
}
