/**
 * Checks whether a version crashes so much more than the previous one that its rollout halts
 * (contract 21, release health).
 */
import { inject, injectable, type Clock } from '../../../kernel/contract/index.js';
import { DAY_MS, toIsoString, MINUTE_MS } from '../../../lib/time.js';
import type { ReleaseHealth, SessionWindow } from '../../../ports/domain/release-health.js';
import { DEPS } from '../deps.js';
import type { ReleaseDoc } from '../model.js';
import { listPreviousVersions } from '../previous-versions.js';
import { getHaltThreshold } from './halt-evidence.js';
import { ReleaseRepository } from './release-repository.js';
import type { ReleasesConfig } from '../config.js';

/** A version being replaced has few sessions of the last hour. */
const BASELINE_WINDOW_MS = 7 * DAY_MS;
const MAX_BASELINE_VERSIONS = 5;
/** Shares are quotients: 0.98 − 0.96 is slightly less than 0.02. */
const ROUNDING_TOLERANCE = 1e-9;

interface BaselineVersion extends SessionWindow {
  version: string;
}

@injectable()
export class CrashRateEvaluator {
  constructor(
    @inject(DEPS.config) private readonly config: ReleasesConfig,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.health) private readonly health: () => ReleaseHealth | undefined,
    @inject(ReleaseRepository) private readonly docs: ReleaseRepository,
  ) {}

  /**
   * Null to continue.
   * @param since RFC 3339: earlier sessions are not attributed to it
   */
  async getHaltReason(doc: ReleaseDoc, since: string): Promise<string | null> {
    const health = this.health();
    if (health === undefined) return null;
    const { halt_sessions: least, halt_crash_free_points: points, halt_addresses } = this.config;
    const own = await health.getSessionsSince(doc.product, doc.version, getFirstMinute(doc, since));
    // Even a perfect previous version is not that many points better.
    if (own.started < least || toCrashFreePercent(own) > 100 - points + ROUNDING_TOLERANCE) return null;
    // A single client with a public key must not halt a release.
    const few = own.crash_addresses < halt_addresses || own.crashed < getHaltThreshold(own.started);
    if (!own.crashes_by_token && few) return null;
    const base = await this.#findBaseline(health, doc, least);
    if (base === null || toCrashFreePercent(base) - toCrashFreePercent(own) < points - ROUNDING_TOLERANCE) return null;
    return (
      `${formatWindow(own)} % of ${own.started} sessions of ${doc.version} since ${since} were crash-free, ` +
      `of ${base.version} ${formatWindow(base)} %; ${points} points below stop a rollout`
    );
  }

  async #findBaseline(health: ReleaseHealth, doc: ReleaseDoc, least: number): Promise<BaselineVersion | null> {
    const published = await this.docs.list({ product: doc.product, channel: doc.channel });
    const since = toIsoString(this.clock.now() - BASELINE_WINDOW_MS);
    let some: BaselineVersion | null = null;
    for (const version of listPreviousVersions(doc, published).slice(0, MAX_BASELINE_VERSIONS)) {
      const base = { version, ...(await health.getSessionsSince(doc.product, version, since)) };
      if (base.started >= least) return base;
      if (some === null && base.started > 0) some = base;
    }
    return some;
  }
}

/**
 * Sessions are counted by the minute: a publish's minute belongs to the release; a resumed
 * rollout's may contain the sessions that halted it.
 */
function getFirstMinute({ rollout_at, published_at }: ReleaseDoc, since: string): string {
  const setAgain = since === rollout_at && rollout_at > published_at;
  const ms = Date.parse(since) / MINUTE_MS;
  return toIsoString((setAgain ? Math.ceil(ms) : Math.floor(ms)) * MINUTE_MS);
}

const toCrashFreePercent = ({ started, crashed }: SessionWindow): number =>
  started === 0 ? 100 : Math.max(0, 100 * (1 - crashed / started));

const formatWindow = (window: SessionWindow): string => toCrashFreePercent(window).toFixed(2);
