/**
 * Counts an occurrence on the read state of its item, with all that follows: reopen, mute, unmute, merge forward. It
 * serves the few occurrences that the one blind write (count-batcher.ts) refuses.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { KnownBuilds } from '../builds/known-builds.js';
import { Faults } from '../builds/version-faults.js';
import { DEPS, type BugDeps } from '../deps.js';
import { ChangeSet, together } from '../item/change-set.js';
import type { ItemDoc } from '../item/model.js';
import { sketchesOf } from '../store/people.js';
import { ClientRefs } from '../store/client-refs.js';
import { DeltaWatermark } from '../store/delta-watermark.js';
import { withoutNote } from './count-batcher.js';
import { countUpdate, dropping } from './count-update.js';
import type { Counted, IncomingReport } from './incoming-report.js';
import { joinedBy, joiningOf } from './people.js';
import { planOccurrence } from './occurrence.js';

@injectable()
export class CountingSeen {
  constructor(
    @inject(DEPS) private readonly deps: Pick<BugDeps, 'items' | 'ids'>,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(ClientRefs) private readonly refs: ClientRefs,
    @inject(KnownBuilds) private readonly known: KnownBuilds,
    @inject(Faults) private readonly faults: Faults,
  ) {}

  /** Null when the item changed meanwhile. */
  async count(item: ItemDoc, incoming: IncomingReport): Promise<Counted | null> {
    const { app_version = null } = incoming.report;
    const builds = item.resolved_in_build === null ? [] : [item.resolved_in_build, app_version];
    const published = await this.known.matching(item.project, builds);
    return this.watermark.write(item.id, async (stamp) => {
      const change = new ChangeSet(item, 'system', stamp, this.deps.ids);
      const { late, regression } = planOccurrence(change, incoming, published);
      if (regression) change.assign(this.faults.begun(item, incoming.report));
      const joining = incoming.person === null ? null : joiningOf(sketchesOf(item), [incoming.person]);
      const counted = dropping(countUpdate(incoming, stamp, late), this.refs.takeNotes(item.id));
      const count = joinedBy(counted, joining);
      const update = change.empty ? count : together(count, change.update());
      // A helper may count only if no other call has counted since its look (client-refs.ts).
      const same = incoming.ref?.helper === true ? { hit_count: item.hit_count } : {};
      const changed = await this.deps.items.change(
        { id: item.id, rev: item.rev, ...same, ...withoutNote(incoming), ...joining?.filter },
        update,
      );
      if (changed === null) return null;
      return { doc: changed.doc, outcome: 'counted', regression, entries: change.written, sampled: null, incoming };
    });
  }
}
