import { inject, injectable } from '../../../kernel/contract/index.js';
import { conflict, notFound } from '../../../kernel/errors.js';
import { DEPS } from '../deps.js';
import type { BugCaller } from '../caller.js';
import { findActingAgent } from '../item/acting-agent.js';
import { ChangeSet } from '../item/change-set.js';
import type { ItemDoc } from '../item/model.js';
import { DeltaWatermark } from './delta-watermark.js';
import { ItemOutbox } from './item-outbox.js';
import { LeaseClockAdjuster } from './lease-clock-adjuster.js';
import type { Ids } from '../../../ports/ids.js';
import type { Collection } from '../../../ports/store/index.js';

const MAX_ATTEMPTS = 50;
/**
 * From this attempt retries wait randomly. Otherwise two processes that link items in opposite
 * directions (duplicate-validator.ts) could block each other indefinitely.
 */
const FIRST_DELAYED_ATTEMPT = 3;
const MAX_WAIT_MS = 32;

export type ItemPlan = (item: ItemDoc, change: ChangeSet) => void | Promise<void>;

@injectable()
export class ItemRevisionWriter {
  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.random) private readonly random: () => number,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(ItemOutbox) private readonly outbox: ItemOutbox,
    @inject(LeaseClockAdjuster) private readonly times: LeaseClockAdjuster,
  ) {}

  /**
   * Writes by compare-and-set; after a conflict the plan runs again. A plan that throws or makes no
   * change writes nothing.
   * @throws ServiceError not_found, conflict, and what the plan throws
   */
  async change(id: string, actor: string | BugCaller, plan: ItemPlan): Promise<ItemDoc> {
    const { items, ids } = this;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      await this.times.adjustAfterStep();
      const item = await items.get(id);
      if (item === null) throw notFound('issue with this id');
      const written = await this.watermark.write(id, async (stamp) => {
        const name = typeof actor === 'string' ? actor : actor.name;
        const change = new ChangeSet(item, name, stamp, ids, findActingAgent(item, actor));
        await plan(item, change);
        if (change.isEmpty) return { doc: item, entries: [] };
        // Concurrent links: duplicate-validator.ts and blocking.ts.
        return this.outbox.write({ id, rev: item.rev, links: item.links ?? null }, change);
      });
      if (written === null) {
        await this.#wait(attempt);
        continue;
      }
      await this.outbox.flush(written.doc, written.entries);
      return written.doc;
    }
    throw conflict('Too many concurrent changes of the item; try again.');
  }

  async #wait(attempt: number): Promise<void> {
    if (attempt < FIRST_DELAYED_ATTEMPT) return;
    const ms = this.random() * Math.min(MAX_WAIT_MS, 2 ** (attempt - FIRST_DELAYED_ATTEMPT));
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}
