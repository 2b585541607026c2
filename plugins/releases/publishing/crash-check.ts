/**
 * Checks whether a version crashes so much more than the previous one that its rollout halts
 * (contract 21, release health).
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { DAY_MS, isoOf, MINUTE_MS } from '../../../lib/time.js';
import type { ReleaseHealth, SessionWindow } from '../../../ports/domain/release-health.js';
import { DEPS, type ReleaseDeps } from '../deps.js';
import type { ReleaseDoc } from '../model.js';
import { findVersionsBefore } from '../version-before.js';
import { getHaltThreshold } from './halt-evidence.js';
import { ReleaseDocs } from './release-docs.js';

/** A version being replaced has few sessions of the last hour, so its share covers this time. */
const BEFORE_MS = 7 * DAY_MS;
const MOST_BEFORE = 5;
/** Shares are quotients: 0.98 − 0.96 is slightly less than 0.02. */
const ROUNDING = 1e-9;

interface Base extends SessionWindow {
  version: string;
}

@injectable()
export class CrashCheck {
  constructor(
    @inject(DEPS) private readonly deps: Pick<ReleaseDeps, 'config' | 'clock' | 'health'>,
    @inject(ReleaseDocs) private readonly docs: ReleaseDocs,
  ) {}

  /**
   * Returns why the rollout halts; null to continue.
   * @param since RFC 3339: earlier sessions are not attributed to it
   */
  async reason(doc: ReleaseDoc, since: string): Promise<string | null> {
    const health = this.deps.health();
    if (health === undefined) return null;
    const { halt_sessions: least, halt_crash_free_points: points, halt_addresses } = this.deps.config;
    const own = await health.since(doc.product, doc.version, firstMinute(doc, since));
    // Even against a perfect previous version, this one cannot be that many points below.
    if (own.started < least || percentOf(own) > 100 - points + ROUNDING) return null;
    // A single untrusted client with a public key must not halt a release, even when no one else
    // reports sessions.
    const few = own.crash_addresses < halt_addresses || own.crashed < getHaltThreshold(own.started);
    if (!own.crashes_by_token && few) return null;
    const base = await this.#base(health, doc, least);
    if (base === null || percentOf(base) - percentOf(own) < points - ROUNDING) return null;
    return (
      `${shown(own)} % of ${own.started} sessions of ${doc.version} since ${since} were free of crashes, ` +
      `of ${base.version} ${shown(base)} %; ${points} points below stop a rollout`
    );
  }

  async #base(health: ReleaseHealth, doc: ReleaseDoc, least: number): Promise<Base | null> {
    const published = await this.docs.list({ product: doc.product, channel: doc.channel });
    const since = isoOf(this.deps.clock.now() - BEFORE_MS);
    let some: Base | null = null;
    for (const version of findVersionsBefore(doc, published).slice(0, MOST_BEFORE)) {
      const base = { version, ...(await health.since(doc.product, version, since)) };
      if (base.started >= least) return base;
      if (some === null && base.started > 0) some = base;
    }
    return some;
  }
}

/**
 * Sessions are counted by the minute. A publish's minute belongs to the release; the minute of a
 * resumed rollout may contain the sessions that halted it.
 */
function firstMinute({ rollout_at, published_at }: ReleaseDoc, since: string): string {
  const setAgain = since === rollout_at && rollout_at > published_at;
  const ms = Date.parse(since) / MINUTE_MS;
  return isoOf((setAgain ? Math.ceil(ms) : Math.floor(ms)) * MINUTE_MS);
}

const percentOf = ({ started, crashed }: SessionWindow): number =>
  started === 0 ? 100 : Math.max(0, 100 * (1 - crashed / started));

const shown = (window: SessionWindow): string => percentOf(window).toFixed(2);
