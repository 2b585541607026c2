/**
 * Merge and split (contract 20, endpoints). A merge makes an item a `duplicate` and moves its
 * grouping keys to the other; a split reverts both. Each item keeps its own counts.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { invalid, ServiceError } from '../../../kernel/errors.js';
import type { Item } from '../../../ports/domain/bugs.js';
import type { BugCaller } from '../caller.js';
import { EditService } from './edits.js';
import { ItemService } from '../store/item-service.js';
import type { ItemDoc } from '../item/model.js';
import { RekeyingService } from '../merging/rekeying.js';

export interface MergeOptions {
  claim_token?: string;
  force?: boolean;
  reason?: string;
  if_match?: string | undefined;
}

@injectable()
export class MergeService {
  constructor(
    @inject(ItemService) private readonly items: ItemService,
    @inject(EditService) private readonly edits: EditService,
    @inject(RekeyingService) private readonly rekeying: RekeyingService,
  ) {}

  /**
   * @param id id or ref of the item that becomes a duplicate
   * @param into id or ref of the item that counts from now on
   * @returns the merged item
   * @throws ServiceError not_found, insufficient_scope, invalid_transition, already_claimed,
   *   lease_lost, reason_required, precondition_failed; validation_failed for an `into` that does
   *   not exist, belongs to another project, is the item itself or closes a cycle
   */
  async merge(id: string, into: string, caller: BugCaller, options: MergeOptions = {}): Promise<Item> {
    const { if_match, ...lease } = options;
    try {
      return await this.edits.edit(id, caller, { ...lease, status: 'duplicate', duplicate_of: into }, if_match);
    } catch (error) {
      const what = error instanceof ServiceError ? error.fields?.['duplicate_of'] : undefined;
      throw what === undefined ? error : invalid({ into: what });
    }
  }

  /**
   * @param id id or ref of a duplicate
   * @throws ServiceError not_found, insufficient_scope, precondition_failed; invalid_transition if
   *   the item is no duplicate
   */
  async split(id: string, caller: BugCaller, options: Pick<MergeOptions, 'if_match'> = {}): Promise<Item> {
    const item = await this.items.get(id, caller);
    const unfinished = item.status === 'open' ? await this.rekeying.listUnfinished(item.id) : [];
    if (unfinished.length > 0) {
      await this.rekeying.completeMoves(unfinished);
      return this.items.toView(item);
    }
    return this.edits.edit(item.id, caller, { status: 'open' }, options.if_match, checkIsDuplicate);
  }
}

function checkIsDuplicate(item: ItemDoc): void {
  if (item.status !== 'duplicate')
    throw new ServiceError('invalid_transition', `An item with status ${item.status} cannot be merged.`);
}
