/**
 * Small repairs of an item behind a count: stale counters, references of dead processes, an origin that was unknown so
 * far, the items that it blocks again, a place where it was not seen before.
 */
import { placeOf } from '../item/first-document.js';
import { inject, injectable } from '../../../kernel/contract.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { ItemDoc } from '../item/model.js';
import { retold } from '../text/search-text.js';
import { rollUp, staleDays, stalePaths } from '../item/rate.js';
import { Blocking } from '../store/blocking.js';
import { ClientRefs } from '../store/client-refs.js';
import type { IncomingReport } from './incoming-report.js';
import { SeenPlaces } from './seen-places.js';

@injectable()
export class ItemUpkeep {
  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(ClientRefs) private readonly refs: ClientRefs,
    @inject(Blocking) private readonly blocking: Blocking,
    @inject(SeenPlaces) private readonly places: SeenPlaces,
  ) {}

  isDue(doc: ItemDoc, incoming: IncomingReport): boolean {
    const { now, adopted } = incoming;
    return (
      doc.relink_at !== undefined ||
      adopted ||
      this.places.isDue(doc, incoming) ||
      this.refs.isCrowded(doc) ||
      stalePaths(doc.minutes, doc.hours, now).length > 0
    );
  }

  /** Keeps the hot document small, and adds an origin that has only now become known. */
  async tidy(doc: ItemDoc, incoming: IncomingReport): Promise<void> {
    const { now, report, adopted } = incoming;
    await this.places.note(doc, incoming);
    const stale = stalePaths(doc.minutes, doc.hours, now);
    if (stale.length > 0) {
      const update = { unset: [...stale, ...staleDays(doc.days, now)], max: rollUp(doc.hours, doc.days, stale) };
      await this.deps.items.change({ id: doc.id }, update);
    }
    await this.blocking.spread(doc);
    await this.refs.tidyItem(doc);
    if (!adopted) return;
    const { stack_trace = null } = report;
    const { file_path, line_no } = placeOf(report);
    if (file_path !== null) {
      const search_text = retold(doc.search_text, { title: doc.title, file_path });
      // A title that somebody changes meanwhile is found by its words, the file then is not.
      const known = await this.deps.items.change({ id: doc.id, file_path: null }, { set: { file_path, line_no } });
      if (known !== null)
        await this.deps.items.change({ id: doc.id, search_text: doc.search_text }, { set: { search_text } });
    }
    if (stack_trace !== null) await this.deps.texts.change({ id: doc.id, stack_trace: null }, { set: { stack_trace } });
  }
}
