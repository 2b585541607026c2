/**
 * Merge and split (contract 20, endpoints). A merge makes the item a `duplicate` of the other and leads its grouping
 * keys there; a split opens it and gives its keys back. Both are changes of status like any other, so the transition
 * table, leases and `If-Match` hold for them, and a PATCH to `duplicate` or back to `open` does the same. Counts are
 * not added up: each item keeps what it counted, so that a split leaves nothing behind.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { invalid, ServiceError } from '../../../kernel/errors.js';
import type { Item } from '../../../ports/domain/bugs.js';
import type { BugCaller } from '../caller.js';
import { Edits } from './edits.js';
import { Items } from '../store/items.js';
import type { ItemDoc } from '../item/model.js';
import { Rekeying } from '../merging/rekeying.js';

/** The right to change an item under a live lease: its token, or `force` with a `reason`. */
export interface MergeOptions {
  claim_token?: string;
  force?: boolean;
  reason?: string;
  /** The `If-Match` header. */
  if_match?: string | undefined;
}

@injectable()
export class Merging {
  constructor(
    @inject(Items) private readonly items: Items,
    @inject(Edits) private readonly edits: Edits,
    @inject(Rekeying) private readonly rekeying: Rekeying,
  ) {}

  /**
   * @param id of the item that becomes a duplicate, or its ref. @param into the item that counts from now on: id or ref
   * @returns the merged item
   * @throws ServiceError not_found, insufficient_scope, invalid_transition, already_claimed, lease_lost,
   * reason_required,
   *   precondition_failed; validation_failed for an `into` that is unknown, of another project, the item itself or a
   *   circle
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
   * @param id of a duplicate, or its ref. @returns the item, open again
   * @throws ServiceError not_found, insufficient_scope, precondition_failed; invalid_transition for what is no
   * duplicate
   */
  async split(id: string, caller: BugCaller, options: Pick<MergeOptions, 'if_match'> = {}): Promise<Item> {
    const item = await this.items.need(id, caller);
    const unfinished = item.status === 'open' ? await this.rekeying.unfinished(item.id) : [];
    if (unfinished.length > 0) {
      await this.rekeying.finish(unfinished);
      return this.items.view(item);
    }
    return this.edits.edit(item.id, caller, { status: 'open' }, options.if_match, onlyDuplicate);
  }
}

function onlyDuplicate(item: ItemDoc): void {
  if (item.status !== 'duplicate')
    throw new ServiceError('invalid_transition', `An item that is ${item.status} is merged into no other.`);
}
