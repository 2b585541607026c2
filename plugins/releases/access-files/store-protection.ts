import { inject, injectable, type HealthResult, type Clock } from '../../../kernel/contract/index.js';
import type { ProtectionState, ReleaseStoreMaintenance, ReleaseStoreState } from '../../../ports/domain/releases.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import { DiskFull, DiskUnwritable, type ReleaseLocation, type ReleaseStore } from '../../../ports/release-store.js';
import { MIN_FREE_BYTES } from '../config.js';
import { ACCESS_FILES_DEPS } from './deps.js';
import { AccessFileGenerator } from './access-file-generator.js';
import type { ProductResult, SelfTestResult } from './self-test-result.js';
import { StoreSelfTest } from './self-test.js';

const HEALTHY_STATES: ReadonlySet<ProtectionState> = new Set(['protected', 'no_packages', 'not_tested']);

const PROBE_CACHE_MS = 30_000;
/** Of a failed write probe; short, so that a repair shows soon. */
const FAULT_CACHE_MS = 1_000;

export interface StoreHealth extends HealthResult {
  protection: ProtectionState;
  last_selftest_at: string | null;
  write_fault: string | null;
}

export interface StoreProduct extends ProductResult {
  untested: boolean;
  /** Exposed and emptied; an administrator must write it again. */
  cut: boolean;
}

@injectable()
export class StoreProtectionService implements ReleaseStoreMaintenance {
  readonly #probing = new SingleFlight<string | null>();
  #probed: { at: number; fault: string | null } | null = null;

  constructor(
    @inject(ACCESS_FILES_DEPS.newest) private readonly newest: (product: string) => Promise<ReleaseLocation | null>,
    @inject(ACCESS_FILES_DEPS.store) private readonly store: ReleaseStore,
    @inject(ACCESS_FILES_DEPS.clock) private readonly clock: Clock,
    @inject(AccessFileGenerator) private readonly files: AccessFileGenerator,
    @inject(StoreSelfTest) private readonly selfTest: StoreSelfTest,
  ) {}

  /** @param force writes all files, including emptied ones */
  async run(force = false): Promise<ReleaseStoreState> {
    const regenerated = force ? await this.files.regenerateAll() : await this.files.regenerate();
    const state = await this.files.getState();
    const tested = state?.self_test?.at ?? '';
    const due = force || regenerated.length > 0 || tested < (state?.written_at ?? '');
    if (due || (await this.listProducts()).some(({ untested }) => untested))
      return toStoreState(await this.selfTest.run(), regenerated);
    return toStoreState({ ...state?.self_test, changed: false }, []);
  }

  async runSelfTest(): Promise<ReleaseStoreState> {
    return toStoreState(await this.selfTest.run(), []);
  }

  async listProducts(): Promise<StoreProduct[]> {
    const state = await this.files.getState();
    const seen = new Map(state?.self_test?.products.map((result) => [result.product, result]));
    const cut = new Set(state?.cut);
    const missing = new Set(await this.files.listUnprotected());
    const one = async (product: string): Promise<StoreProduct> => {
      const { protection = 'not_tested', statuses = {} } = seen.get(product) ?? {};
      const tested = seen.has(product) && protection !== 'no_packages';
      const untested = !tested && (await this.newest(product)) !== null;
      const now = missing.has(product)
        ? 'open'
        : untested
          ? 'not_tested'
          : seen.has(product)
            ? protection
            : 'no_packages';
      return { product, protection: now, statuses, untested, cut: cut.has(product) };
    };
    return Promise.all((await this.files.listProducts()).map(one));
  }

  async getHealth(): Promise<StoreHealth> {
    const last = (await this.files.getState())?.self_test;
    const unprotected = (await this.files.listUnprotected()).slice(0, 20);
    const seen = last?.protection ?? 'not_tested';
    // A test before the first publish does not cover packages.
    const before = seen === 'no_packages' && (await this.listProducts()).some(({ untested }) => untested);
    const protection = unprotected.length > 0 ? 'open' : before ? 'not_tested' : seen;
    const write_fault = await this.#getWriteFault();
    const ok = HEALTHY_STATES.has(protection) && write_fault === null;
    const last_selftest_at = last?.at ?? null;
    return { ok, protection, last_selftest_at, write_fault, ...(unprotected.length > 0 && { unprotected }) };
  }

  /**
   * Probes at most twice a minute, and once a second while it fails.
   * @returns null when writable
   */
  async #getWriteFault(): Promise<string | null> {
    const clock = this.clock;
    const probed = this.#probed;
    const keptMs = probed?.fault === null ? PROBE_CACHE_MS : FAULT_CACHE_MS;
    if (probed !== null && clock.monotonic() - probed.at < keptMs) return probed.fault;
    const fault = await this.#probing.share('probe', () => this.#probe());
    this.#probed = { at: clock.monotonic(), fault };
    return fault;
  }

  async #probe(): Promise<string | null> {
    try {
      await this.store.probe(MIN_FREE_BYTES);
      return null;
    } catch (error) {
      if (error instanceof DiskFull || error instanceof DiskUnwritable) return error.message;
      throw error;
    }
  }
}

function toStoreState(
  { protection, at, products, changed }: Partial<SelfTestResult> & { changed: boolean },
  regenerated: readonly string[],
): ReleaseStoreState {
  return {
    protection: protection ?? 'not_tested',
    regenerated,
    last_selftest_at: at ?? null,
    products: products ?? [],
    changed,
  };
}
