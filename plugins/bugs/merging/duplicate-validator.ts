/**
 * Same project, no cycle (contract 20, transitions). Concurrent PATCHes could close a cycle
 * together, so a process links sequentially, and the end of the chain counts its links (`links`):
 * another process then plans again. A check after the write could not return 422 without a change.
 */
import { invalid, type ServiceError } from '../../../kernel/errors.js';
import type { BugDeps } from '../deps.js';
import type { ItemService } from '../store/item-service.js';
import type { ItemDoc } from '../item/model.js';

const MAX_CHAIN_LENGTH = 100;

const toDuplicateError = (what: string): ServiceError => invalid({ duplicate_of: what });

export class DuplicateValidator {
  #linking: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly deps: Pick<BugDeps, 'items'>,
    private readonly items: Pick<ItemService, 'find'>,
  ) {}

  runExclusive<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#linking.then(run);
    this.#linking = result.catch(() => null);
    return result;
  }

  /**
   * @param name id or ref
   * @throws ServiceError validation_failed for an unknown target, another project, the item itself
   *   or a cycle
   */
  async resolveTarget(item: ItemDoc, name: string): Promise<ItemDoc> {
    const target = await this.items.find(name);
    // Callers learn nothing about other projects.
    if (target === null || target.project !== item.project) throw toDuplicateError('item not found in this project');
    await this.#findChainEnd(item, target);
    return target;
  }

  /**
   * Protects the chain until the item is written.
   * @throws ServiceError validation_failed for a cycle
   */
  async lockTarget(item: ItemDoc, targetId: string): Promise<void> {
    for (;;) {
      const target = await this.deps.items.get(targetId);
      if (target === null) throw toDuplicateError('item not found');
      const { id, rev, links } = await this.#findChainEnd(item, target);
      if ((await this.deps.items.change({ id, rev, links: links ?? null }, { inc: { links: 1 } })) !== null) return;
    }
  }

  async #findChainEnd(item: ItemDoc, target: ItemDoc): Promise<ItemDoc> {
    let at = target;
    for (let i = 0; i < MAX_CHAIN_LENGTH; i++) {
      if (at.id === item.id) throw toDuplicateError('an item cannot be a duplicate of itself, directly or in a cycle');
      const next: ItemDoc | null =
        at.status === 'duplicate' && at.duplicate_of !== null ? await this.deps.items.get(at.duplicate_of) : null;
      if (next === null) return at;
      at = next;
    }
    throw toDuplicateError('too many duplicates in a row');
  }
}
