/**
 * Halts rollouts with too many new faults (contract 40, staged rollout), or with more crashed
 * sessions than the previous version (contract 21, release health).
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { iteratePages } from '../../../lib/paging.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import { isoOf, SECOND_MS } from '../../../lib/time.js';
import type { VersionFaults } from '../../../ports/domain/bugs.js';
import { DEPS, type ReleaseDeps } from '../deps.js';
import type { ReleaseDoc } from '../model.js';
import { ReleaseChanges } from './changes.js';
import { findHaltEvidence } from './halt-evidence.js';
import { CrashCheck } from './crash-check.js';

const PAGE = 200;

@injectable()
export class RolloutHalter {
  readonly #flight = new SingleFlight<number>();
  #looking: Promise<void> = Promise.resolve();

  constructor(
    @inject(DEPS) private readonly deps: ReleaseDeps,
    @inject(ReleaseChanges) private readonly changes: ReleaseChanges,
    @inject(CrashCheck) private readonly crashes: CrashCheck,
  ) {}

  /** Schedules a check when a fault begins to count; the error report does not wait for it. */
  soon(): void {
    this.#looking = this.#flight
      .fresh('halt', () => this.run())
      .then(
        () => undefined,
        (err: unknown) => this.deps.log.error({ err }, 'rollouts could not be looked at; a job repeats it'),
      );
  }

  async settled(): Promise<void> {
    await this.#looking;
  }

  async run(signal?: AbortSignal): Promise<number> {
    const faults = this.deps.faults();
    let halted = 0;
    const rolling = { filter: { rolling: { gt: '' } }, limit: PAGE };
    for await (const docs of iteratePages(this.deps.releases, rolling)) {
      for (const doc of docs) {
        if (signal?.aborted === true) return halted;
        if (await this.#look(doc, faults)) halted++;
      }
    }
    return halted;
  }

  async #look(doc: ReleaseDoc, faults: VersionFaults | undefined): Promise<boolean> {
    const { config, clock } = this.deps;
    const windowAt = isoOf(clock.now() - config.halt_window_seconds * SECOND_MS);
    const since = windowAt > doc.rollout_at ? windowAt : doc.rollout_at;
    const reason = (await this.#faulty(doc, since, faults)) ?? (await this.crashes.reason(doc, since));
    return reason !== null && (await this.changes.halt(doc, reason)) !== null;
  }

  async #faulty(doc: ReleaseDoc, since: string, faults?: VersionFaults): Promise<string | null> {
    const { product, version } = doc;
    const { halt_after: allowed } = this.deps.config;
    const some = { networks: this.deps.config.halt_addresses, reports: 0 };
    if (faults === undefined || (await faults.count(product, version, since, some)) <= allowed) return null;
    const n = await faults.count(product, version, since, await findHaltEvidence(this.deps, doc, since));
    if (n <= allowed) return null;
    return `${n} new error groups or regressions of ${version} since ${since}; ${allowed} are allowed`;
  }
}
