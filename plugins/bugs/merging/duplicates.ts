/**
 * Checks the target of a duplicate (contract 20, transitions): another item of the same project, and no circle. Two
 * PATCHes at the same time could each see a straight chain and close a circle together. So one process makes its links
 * one after the other, and the item at the end of the chain counts them (`links`): a PATCH of that item in another
 * process then plans again and finds the circle. The item's revision stays, because nothing visible has changed.
 *
 * Rejected: checking after the write, because a PATCH that is answered with 422 must change nothing.
 */
import { invalid, type ServiceError } from '../../../kernel/errors.js';
import type { BugDeps } from '../deps.js';
import type { Items } from '../store/items.js';
import type { ItemDoc } from '../item/model.js';

/** Most links that are followed. */
const CHAIN = 100;

const wrong = (what: string): ServiceError => invalid({ duplicate_of: what });

export class Duplicates {
  #linking: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly deps: Pick<BugDeps, 'items'>,
    private readonly items: Pick<Items, 'find'>,
  ) {}

  /** Runs a change that may link an item after the running ones of this process. */
  inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#linking.then(run);
    this.#linking = result.catch(() => null);
    return result;
  }

  /**
   * @param name id or ref. @throws ServiceError validation_failed: an unknown target, another project, itself or a
   * circle
   */
  async target(item: ItemDoc, name: string): Promise<ItemDoc> {
    const target = await this.items.find(name);
    // One message for both: callers must not learn what lies in another project.
    if (target === null || target.project !== item.project) throw wrong('there is no such item in this project');
    await this.#end(item, target);
    return target;
  }

  /**
   * Keeps the target's chain unchanged until the item is written. @throws ServiceError validation_failed for a circle
   */
  async hold(item: ItemDoc, targetId: string): Promise<void> {
    for (;;) {
      const target = await this.deps.items.get(targetId);
      if (target === null) throw wrong('there is no such item');
      const { id, rev, links } = await this.#end(item, target);
      if ((await this.deps.items.change({ id, rev, links: links ?? null }, { inc: { links: 1 } })) !== null) return;
    }
  }

  /** The item at the end of the chain of duplicates. */
  async #end(item: ItemDoc, target: ItemDoc): Promise<ItemDoc> {
    let at = target;
    for (let i = 0; i < CHAIN; i++) {
      if (at.id === item.id) throw wrong('an item cannot be a duplicate of itself, also not in a circle');
      const next: ItemDoc | null =
        at.status === 'duplicate' && at.duplicate_of !== null ? await this.deps.items.get(at.duplicate_of) : null;
      if (next === null) return at;
      at = next;
    }
    throw wrong('too many duplicates in a row');
  }
}
