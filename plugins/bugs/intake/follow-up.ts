/**
 * The last step of the intake, before the answer: the consequences of a count. They are history and events, an
 * undecided payload, a rule's hit, a fault of a version, a higher severity, an alarm, a publish that came first.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { ServiceError } from '../../../kernel/errors.js';
import { isoOf } from '../../../lib/time.js';
import { Closing } from '../builds/closing.js';
import { Faults } from '../builds/version-faults.js';
import { Alarms } from '../muting/alarms.js';
import { ReportFilters } from '../muting/report-filters.js';
import { ItemOutbox } from '../store/item-outbox.js';
import { Escalation } from './escalation.js';
import type { Counted } from './incoming-report.js';
import { ItemUpkeep } from './item-upkeep.js';
import { PayloadSampler } from './payload-sampler.js';

/** A report after its last step. */
export interface FollowedUp extends Counted {
  sampled: boolean;
}

@injectable()
export class FollowUp {
  constructor(
    @inject(ItemOutbox) private readonly outbox: ItemOutbox,
    @inject(PayloadSampler) private readonly sampler: PayloadSampler,
    @inject(ReportFilters) private readonly filters: ReportFilters,
    @inject(ItemUpkeep) private readonly upkeep: ItemUpkeep,
    @inject(Faults) private readonly faults: Faults,
    @inject(Escalation) private readonly escalation: Escalation,
    @inject(Alarms) private readonly alarms: Alarms,
    @inject(Closing) private readonly closing: Closing,
  ) {}

  /**
   * Carries out the consequences and answers the item as it is then. A repeat has none, nor has a count whose item was
   * deleted meanwhile: it is answered as it was counted.
   */
  async of(counted: Counted): Promise<FollowedUp> {
    if (counted.outcome === 'repeated') return { ...counted, sampled: false };
    try {
      return await this.#consequences(counted);
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === 'not_found')) throw error;
      return { ...counted, sampled: false };
    }
  }

  async #consequences(counted: Counted): Promise<FollowedUp> {
    const { doc, outcome, regression, entries, incoming } = counted;
    const { report } = incoming;
    const { muted_by: mute = null } = report;
    // Each consequence is checked before its call: most counts have none, and a promise costs more than the check.
    const work: Promise<unknown>[] = [];
    if (entries.length > 0) work.push(this.outbox.flush(doc, entries));
    if (this.upkeep.isDue(doc, incoming)) work.push(this.upkeep.tidy(doc, incoming));
    // The hit comes after the item has counted: a failed report is no hit.
    if (mute !== null) work.push(this.filters.hit(mute.rule_id, isoOf(incoming.now)));
    const sampling = counted.sampled ?? this.sampler.sample(doc, incoming);
    if (sampling instanceof Promise) work.push(sampling);
    if (work.length > 0) await Promise.all(work);

    const begun = outcome === 'created' || regression;
    let item = doc;
    if (begun || item.public_fault !== undefined) item = await this.faults.look(item, report, begun);
    if (this.escalation.isDue(item, incoming)) item = await this.escalation.escalate(item, incoming);
    if (mute !== null) item = await this.alarms.look(item, mute);
    if (outcome === 'created' && item.build_key !== null) item = await this.closing.closeIfPublished(item);
    return { ...counted, doc: item, sampled: sampling instanceof Promise ? await sampling : sampling };
  }
}
