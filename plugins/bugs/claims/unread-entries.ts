/** What others wrote since the holder's last call (contract 20, leases: `news`). */
import { inject, injectable } from '../../../kernel/contract/index.js';
import type { Collection, Doc } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import type { ItemDoc, UnreadEntry, CommentDoc, ActivityDoc } from '../item/model.js';
import { toActivityView, toCommentView } from '../item/api-views.js';
import { toActivityDocument, toCommentDocument } from '../store/item-outbox.js';

@injectable()
export class UnreadEntryReader {
  constructor(
    @inject(DEPS.comments) private readonly comments: Collection<CommentDoc>,
    @inject(DEPS.activity) private readonly activity: Collection<ActivityDoc>,
  ) {}

  /**
   * Lists entries oldest first, each with its `kind`.
   * @param item after the change
   */
  async listUnread(item: ItemDoc, unread: readonly UnreadEntry[]): Promise<object[]> {
    if (unread.length === 0) return [];
    const ids = (kind: UnreadEntry['kind']): string[] => unread.flatMap((one) => (one.kind === kind ? [one.id] : []));
    const [comments, entries] = await Promise.all([
      listStored(this.comments, ids('comment')),
      listStored(this.activity, ids('activity')),
    ]);
    const viewsById = new Map<string, object>();
    for (const entry of item.outbox) {
      if (entry.kind === 'comment')
        viewsById.set(entry.id, { kind: 'comment', ...toCommentView(toCommentDocument(item, entry)) });
      if (entry.kind === 'activity')
        viewsById.set(entry.id, { kind: 'activity', ...toActivityView(toActivityDocument(item, entry)) });
    }
    for (const doc of comments) viewsById.set(doc.id, { kind: 'comment', ...toCommentView(doc) });
    for (const doc of entries) viewsById.set(doc.id, { kind: 'activity', ...toActivityView(doc) });
    return unread.flatMap(({ id }) => viewsById.get(id) ?? []);
  }
}

const listStored = async <T extends Doc>(from: Collection<T>, ids: readonly string[]): Promise<readonly T[]> =>
  ids.length === 0 ? [] : (await from.find({ filter: { id: { in: ids } }, limit: ids.length })).items;
