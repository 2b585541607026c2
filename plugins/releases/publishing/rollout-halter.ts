/**
 * Too many new faults (contract 40, staged rollout), or more crashed sessions than the previous
 * version (contract 21, release health).
 */
import { inject, injectable, type Collection, type Clock, type Logger } from '../../../kernel/contract/index.js';
import { iteratePages } from '../../../lib/paging.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import { toIsoString, SECOND_MS } from '../../../lib/time.js';
import type { VersionFaults } from '../../../ports/domain/bugs.js';
import { DEPS } from '../deps.js';
import type { ReleaseDoc } from '../model.js';
import { ReleaseChangeService } from './release-change-service.js';
import { findHaltEvidence } from './halt-evidence.js';
import { CrashRateEvaluator } from './crash-check.js';
import type { ReleaseHealth } from '../../../ports/domain/release-health.js';
import type { ReleasesConfig } from '../config.js';

const PAGE_SIZE = 200;

@injectable()
export class RolloutHalter {
  readonly #flight = new SingleFlight<number>();
  #looking: Promise<void> = Promise.resolve();

  constructor(
    @inject(DEPS.releases) private readonly releases: Collection<ReleaseDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.config) private readonly config: ReleasesConfig,
    @inject(DEPS.faults) private readonly faults: () => VersionFaults | undefined,
    @inject(DEPS.health) private readonly health: () => ReleaseHealth | undefined,
    @inject(ReleaseChangeService) private readonly changes: ReleaseChangeService,
    @inject(CrashRateEvaluator) private readonly crashes: CrashRateEvaluator,
  ) {}

  /** The error report does not wait for it. */
  scheduleCheck(): void {
    this.#looking = this.#flight
      .fresh('halt', () => this.checkAll())
      .then(
        () => undefined,
        (err: unknown) => this.log.error({ err }, 'rollouts could not be checked; a job will retry'),
      );
  }

  async drain(): Promise<void> {
    await this.#looking;
  }

  async checkAll(signal?: AbortSignal): Promise<number> {
    const faults = this.faults();
    let halted = 0;
    const rolling = { filter: { rolling: { gt: '' } }, limit: PAGE_SIZE };
    for await (const docs of iteratePages(this.releases, rolling)) {
      for (const doc of docs) {
        if (signal?.aborted === true) return halted;
        if (await this.#check(doc, faults)) halted++;
      }
    }
    return halted;
  }

  async #check(doc: ReleaseDoc, faults: VersionFaults | undefined): Promise<boolean> {
    const { config, clock } = this;
    const windowAt = toIsoString(clock.now() - config.halt_window_seconds * SECOND_MS);
    const since = windowAt > doc.rollout_at ? windowAt : doc.rollout_at;
    const reason = (await this.#getFaultReason(doc, since, faults)) ?? (await this.crashes.getHaltReason(doc, since));
    return reason !== null && (await this.changes.haltAutomatically(doc, reason)) !== null;
  }

  async #getFaultReason(doc: ReleaseDoc, since: string, faults?: VersionFaults): Promise<string | null> {
    const { product, version } = doc;
    const { halt_after: allowed } = this.config;
    const some = { networks: this.config.halt_addresses, reports: 0 };
    if (faults === undefined || (await faults.count(product, version, since, some)) <= allowed) return null;
    const n = await faults.count(
      product,
      version,
      since,
      await findHaltEvidence({ config: this.config, health: this.health }, doc, since),
    );
    if (n <= allowed) return null;
    return `${n} new error groups or regressions of ${version} since ${since}; ${allowed} are allowed`;
  }
}
