/** Access files and self-test together: for the tick, the minute's job, the commands, the page and health. */
import { inject, injectable, type HealthResult } from '../../../kernel/contract.js';
import type { Protection, ReleaseStoreCare, ReleaseStoreState } from '../../../ports/domain/releases.js';
import { AccessFiles } from './generator.js';
import type { SelfTestResult } from './self-test-result.js';
import { SelfTest } from './self-test.js';

const WELL: ReadonlySet<Protection> = new Set(['protected', 'no_packages', 'not_tested']);

@injectable()
export class StoreCare implements ReleaseStoreCare {
  constructor(
    @inject(AccessFiles) private readonly files: AccessFiles,
    @inject(SelfTest) private readonly selfTest: SelfTest,
  ) {}

  /** @param force writes all, also what was cut */
  async care(force = false): Promise<ReleaseStoreState> {
    const regenerated = force ? await this.files.regenerateAll() : await this.files.regenerate();
    const state = await this.files.state();
    const tested = state?.self_test?.at ?? '';
    // Files that another trigger has written are tested here too.
    if (force || regenerated.length > 0 || tested < (state?.written_at ?? ''))
      return stateOf(await this.selfTest.run(), regenerated);
    return stateOf({ ...state?.self_test, changed: false }, []);
  }

  async test(): Promise<ReleaseStoreState> {
    return stateOf(await this.selfTest.run(), []);
  }

  /** Without a request: the last result, and whether the files are there now. */
  async health(): Promise<HealthResult & { protection: Protection; last_selftest_at: string | null }> {
    const last = (await this.files.state())?.self_test;
    const unprotected = (await this.files.unprotected()).slice(0, 20);
    const protection = unprotected.length > 0 ? 'open' : (last?.protection ?? 'not_tested');
    const ok = WELL.has(protection);
    return { ok, protection, last_selftest_at: last?.at ?? null, ...(unprotected.length > 0 && { unprotected }) };
  }
}

function stateOf(
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
