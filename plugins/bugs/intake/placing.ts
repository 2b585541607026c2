/** The second step of the intake: finds the item of a report (contract 21, many keys per item). */
import { inject, injectable } from '../../../kernel/contract.js';
import { conflict } from '../../../kernel/errors.js';
import type { Report } from '../../../ports/domain/bugs.js';
import { isOfPart } from '../grouping/difference.js';
import { computeGrouping } from '../grouping/key.js';
import { type Decision, createExistingDecision, type Keyed, Keys, type Lead } from '../groups/keys.js';
import type { AcceptedReport, Placement } from './incoming-report.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { MINUTE_MS } from '../../../lib/time.js';
import { type BugDeps, DEPS } from '../deps.js';

const MINUTES = 60;
/** Keys that are counted at a time. */
const KEYS = 10_000;

/**
 * Budget of new groups that a public intake key may make within an hour (contract 00, limits). The count is kept in
 * this process; processes that share a store each have a part of the limit, as with rate limits (contract 95, several
 * processes). A restart begins anew. Rejected: a counter in the store, one more write for every new group.
 */
@injectable()
export class NewGroups {
  readonly #made = new BoundedMap<Map<number, number>>({ most: KEYS });

  constructor(@inject(DEPS) private readonly deps: Pick<BugDeps, 'clock' | 'new_groups_per_hour' | 'peers'>) {}

  /** Takes one from the key's budget; false when there is none left. */
  take(key: string): boolean {
    const { clock, new_groups_per_hour: perHour, peers } = this.deps;
    if (perHour === 0) return true;
    const minute = Math.floor(clock.monotonic() / MINUTE_MS);
    const minutes = this.#made.get(key) ?? new Map<number, number>();
    let made = 0;
    for (const [at, n] of minutes) {
      if (at <= minute - MINUTES) minutes.delete(at);
      else made += n;
    }
    // At least one, or a small limit would let nothing through.
    if (made >= Math.max(1, Math.floor(perHour / peers()))) return false;
    minutes.set(minute, (minutes.get(minute) ?? 0) + 1);
    this.#made.set(key, minutes);
    return true;
  }
}

@injectable()
export class Placing {
  constructor(
    @inject(Keys) private readonly keys: Keys,
    @inject(NewGroups) private readonly newGroups: NewGroups,
  ) {}

  /** The place where the report's key leads, or null. No promise when this process has used the key lately. */
  known(accepted: AcceptedReport): Placement | null | Promise<Placement | null> {
    const { report, keyed } = accepted;
    const recent = this.keys.recent(report.project, keyed.dedup_key);
    if (recent !== null) return this.#led(recent, accepted);
    return this.keys
      .lead(report.project, keyed.dedup_key)
      .then((lead) => (lead === null ? null : this.#led(lead, accepted)));
  }

  /**
   * The place that a key leads to. A report of a part that was split off gets the part's own key, and goes on with it,
   * also when it begins anew.
   */
  #led({ item, divided }: Lead, accepted: AcceptedReport): Placement | null | Promise<Placement | null> {
    const { report, keyed } = accepted;
    const part = divided?.find(({ by }) => isOfPart(by, report));
    if (part === undefined) return placed(createExistingDecision(item), keyed, report);
    accepted.keyed = { ...keyed, dedup_key: part.key, bare_key: part.key, origin: '' };
    return this.known(accepted);
  }

  /** The place at this item, whatever the report's key says: the report's reference is bound to it. */
  at(item_id: string, { report, keyed }: AcceptedReport): Placement {
    return placed(createExistingDecision(item_id), keyed, report);
  }

  /**
   * The place of a report with an unknown key; the project's overflow item when the report's intake key may make no
   * more.
   */
  async decide({ report, keyed }: AcceptedReport): Promise<Placement> {
    const { project, intake_key: key = null } = report;
    const decision = await this.keys.decide(keyed, () => key === null || this.newGroups.take(key));
    if (decision !== null) return placed(decision, keyed, report);
    const overflow = overflowKeyed(project);
    const known = await this.keys.known(project, overflow.dedup_key);
    const made = known === null ? await this.keys.decide(overflow) : createExistingDecision(known);
    if (made === null) throw conflict('The report could not be placed; send it again.');
    return placed(made, overflow, overflowReport(report));
  }

  /** Removes the leads to a deleted item. */
  async release({ keyed }: Placement, itemId: string): Promise<void> {
    await this.keys.release(keyed, itemId);
  }
}

/** Field by field: to add fields behind a spread takes thirty times as long, and each report passes here. */
const placed = (
  { item_id, adopted, flooded, writes }: Decision,
  keyed: Placement['keyed'],
  report: Placement['report'],
): Placement => ({ item_id, adopted, flooded, writes, keyed, report });

/**
 * The report that the overflow item shows. It counts reports that would have made more new groups than their public key
 * may make (contract 00, limits); its occurrences keep the real reports.
 */
const overflowReport = (sent: Report): Report => ({
  type: 'error',
  project: sent.project,
  title: 'More new errors than an intake key may make',
  severity: 'high',
  source: sent.source,
  reported_by: sent.reported_by,
  error_level: 'error',
  error_message:
    'An intake key sent more new errors within an hour than limits.new_groups_per_hour allows. They are counted here, and ' +
    'their occurrences hold what was sent. Errors that are known already are counted in their own items.',
  muted_by: null,
});

/** No report can have this key, because no type has this name. */
function overflowKeyed(project: string): Keyed {
  const report = { type: 'overflow', project, title: 'overflow' };
  return { project, report, ...computeGrouping(report) };
}
