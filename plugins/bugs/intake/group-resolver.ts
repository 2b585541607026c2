import { inject, injectable } from '../../../kernel/contract/index.js';
import { conflict } from '../../../kernel/errors.js';
import type { Report } from '../../../ports/domain/bugs.js';
import { matchesDifference } from '../grouping/report-difference.js';
import { computeGrouping } from '../grouping/grouping-key.js';
import {
  type GroupDecision,
  createExistingDecision,
  type KeyedReport,
  GroupingKeyResolver,
  type KeyMatch,
} from '../groups/grouping-keys.js';
import type { AcceptedReport, Placement } from './incoming-report.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { MINUTE_MS } from '../../../lib/time.js';
import { DEPS } from '../deps.js';
import type { Clock } from '../../../ports/clock.js';

const WINDOW_MINUTES = 60;
const MAX_COUNTED_KEYS = 10_000;

/**
 * New groups per public intake key (contract 00, limits), counted per process; processes share the
 * limit (contract 95, several processes). A stored counter would cost a write per group.
 */
@injectable()
export class NewGroupBudget {
  readonly #made = new BoundedMap<Map<number, number>>({ most: MAX_COUNTED_KEYS });

  constructor(
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.new_groups_per_hour) private readonly new_groups_per_hour: number,
    @inject(DEPS.peers) private readonly peers: () => number,
  ) {}

  take(key: string): boolean {
    const { clock, new_groups_per_hour: perHour, peers } = this;
    if (perHour === 0) return true;
    const minute = Math.floor(clock.monotonic() / MINUTE_MS);
    const minutes = this.#made.get(key) ?? new Map<number, number>();
    let made = 0;
    for (const [at, n] of minutes) {
      if (at <= minute - WINDOW_MINUTES) minutes.delete(at);
      else made += n;
    }
    // Otherwise a small limit would allow nothing.
    if (made >= Math.max(1, Math.floor(perHour / peers()))) return false;
    minutes.set(minute, (minutes.get(minute) ?? 0) + 1);
    this.#made.set(key, minutes);
    return true;
  }
}

@injectable()
export class GroupResolver {
  constructor(
    @inject(GroupingKeyResolver) private readonly keys: GroupingKeyResolver,
    @inject(NewGroupBudget) private readonly newGroups: NewGroupBudget,
  ) {}

  findPlacement(accepted: AcceptedReport): Placement | null | Promise<Placement | null> {
    const { report, keyed } = accepted;
    const recent = this.keys.getCachedMatch(report.project, keyed.dedup_key);
    if (recent !== null) return this.#resolveMatch(recent, accepted);
    return this.keys
      .findMatch(report.project, keyed.dedup_key)
      .then((lead) => (lead === null ? null : this.#resolveMatch(lead, accepted)));
  }

  /** A split-off part's report gets the part's key, and keeps it on retry. */
  #resolveMatch({ item, divided }: KeyMatch, accepted: AcceptedReport): Placement | null | Promise<Placement | null> {
    const { report, keyed } = accepted;
    const part = divided?.find(({ by }) => matchesDifference(by, report));
    if (part === undefined) return createPlacement(createExistingDecision(item), keyed, report);
    accepted.keyed = { ...keyed, dedup_key: part.key, bare_key: part.key, origin: '' };
    return this.findPlacement(accepted);
  }

  /** Bound by reference, whatever its key is. */
  toPlacement(item_id: string, { report, keyed }: AcceptedReport): Placement {
    return createPlacement(createExistingDecision(item_id), keyed, report);
  }

  /** Without budget, the project's overflow item is used. */
  async decide({ report, keyed }: AcceptedReport): Promise<Placement> {
    const { project, intake_key: key = null } = report;
    const decision = await this.keys.decide(keyed, () => key === null || this.newGroups.take(key));
    if (decision !== null) return createPlacement(decision, keyed, report);
    const overflow = buildOverflowKeys(project);
    const known = await this.keys.findItem(project, overflow.dedup_key);
    const made = known === null ? await this.keys.decide(overflow) : createExistingDecision(known);
    if (made === null) throw conflict('The report could not be grouped; send it again.');
    return createPlacement(made, overflow, buildOverflowReport(report));
  }

  async removeKeys({ keyed }: Placement, itemId: string): Promise<void> {
    await this.keys.removeKeys(keyed, itemId);
  }
}

/** Adding fields to a spread object is slow on this frequent path. */
const createPlacement = (
  { item_id, adopted, flooded, writes }: GroupDecision,
  keyed: Placement['keyed'],
  report: Placement['report'],
): Placement => ({ item_id, adopted, flooded, writes, keyed, report });

/**
 * Counts reports beyond the budget of their public key (contract 00, limits); its occurrences store
 * the real reports.
 */
const buildOverflowReport = (sent: Report): Report => ({
  type: 'error',
  project: sent.project,
  title: 'More new errors than an intake key may create',
  severity: 'high',
  source: sent.source,
  reported_by: sent.reported_by,
  error_level: 'error',
  error_message:
    'An intake key sent more new errors within an hour than limits.new_groups_per_hour allows. They are counted here, and ' +
    'their occurrences contain the reports. Existing errors are counted in their own items.',
  muted_by: null,
});

/** No type has this name. */
function buildOverflowKeys(project: string): KeyedReport {
  const report = { type: 'overflow', project, title: 'overflow' };
  return { project, report, ...computeGrouping(report) };
}
