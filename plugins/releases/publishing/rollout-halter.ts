/**
 * Too many new faults (contract 40, staged rollout), or more crashed sessions than the previous
 * version (contract 21, release health).
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { iteratePages } from '../../../lib/paging.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import { toIsoString, SECOND_MS } from '../../../lib/time.js';
import type { VersionFaults } from '../../../ports/domain/bugs.js';
import { DEPS, type ReleaseDeps } from '../deps.js';
import type { ReleaseDoc } from '../model.js';
import { ReleaseChangeService } from './release-change-service.js';
import { findHaltEvidence } from './halt-evidence.js';
import { CrashRateEvaluator } from './crash-check.js';

const PAGE_SIZE = 200;

@injectable()
export class RolloutHalter {
  readonly #flight = new SingleFlight<number>();
  #looking: Promise<void> = Promise.resolve();

  constructor(
    @inject(DEPS) private readonly deps: ReleaseDeps,
    @inject(ReleaseChangeService) private readonly changes: ReleaseChangeService,
    @inject(CrashRateEvaluator) private readonly crashes: CrashRateEvaluator,
  ) {}

  /** The error report does not wait for it. */
  scheduleCheck(): void {
    this.#looking = this.#flight
      .fresh('halt', () => this.checkAll())
      .then(
        () => undefined,
        (err: unknown) => this.deps.log.error({ err }, 'rollouts could not be checked; a job will retry'),
      );
  }

  async drain(): Promise<void> {
    await this.#looking;
  }

  async checkAll(signal?: AbortSignal): Promise<number> {
    const faults = this.deps.faults();
    let halted = 0;
    const rolling = { filter: { rolling: { gt: '' } }, limit: PAGE_SIZE };
    for await (const docs of iteratePages(this.deps.releases, rolling)) {
      for (const doc of docs) {
        if (signal?.aborted === true) return halted;
        if (await this.#check(doc, faults)) halted++;
      }
    }
    return halted;
  }

  async #check(doc: ReleaseDoc, faults: VersionFaults | undefined): Promise<boolean> {
    const { config, clock } = this.deps;
    const windowAt = toIsoString(clock.now() - config.halt_window_seconds * SECOND_MS);
    const since = windowAt > doc.rollout_at ? windowAt : doc.rollout_at;
    const reason = (await this.#getFaultReason(doc, since, faults)) ?? (await this.crashes.getHaltReason(doc, since));
    return reason !== null && (await this.changes.haltAutomatically(doc, reason)) !== null;
  }

  async #getFaultReason(doc: ReleaseDoc, since: string, faults?: VersionFaults): Promise<string | null> {
    const { product, version } = doc;
    const { halt_after: allowed } = this.deps.config;
    const some = { networks: this.deps.config.halt_addresses, reports: 0 };
    if (faults === undefined || (await faults.count(product, version, since, some)) <= allowed) return null;
    const n = await faults.count(product, version, since, await findHaltEvidence(this.deps, doc, since));
    if (n <= allowed) return null;
    return `${n} new error groups or regressions of ${version} since ${since}; ${allowed} are allowed`;
  }
}
