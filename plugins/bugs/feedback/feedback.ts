/**
 * Adds user feedback as a comment on the item that counted its event, found by `client_ref`. Tokens
 * and intake keys have separate reference spaces, so a public key reaches only events sent with an
 * intake key.
 *
 * Order of writes: the feedback's own reference with the marker `open_at` → the comment with the
 * item → the reference is finished. After a crash, `ClientRefService.reconcile` releases an open
 * reference.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { conflict } from '../../../kernel/errors.js';
import type { Report, UserFeedback } from '../../../ports/domain/bugs.js';
import { DEPS } from '../deps.js';
import { cleanText } from '../../../lib/text/clean-text.js';
import { ClientRefService } from '../store/client-refs.js';
import { scrubText } from '../text/scrub-text.js';
import { ItemService } from '../store/item-service.js';
import { MAX_COMMENT_LENGTH, type ItemDoc, type CommentDoc } from '../item/model.js';
import { FEEDBACK_AUTHOR, MAX_COMMENTS, PendingFeedbackService } from './pending-feedback.js';
import type { Collection } from '../../../ports/store/index.js';

@injectable()
export class FeedbackService {
  constructor(
    @inject(DEPS.items) private readonly itemRows: Collection<ItemDoc>,
    @inject(DEPS.comments) private readonly comments: Collection<CommentDoc>,
    @inject(ItemService) private readonly items: ItemService,
    @inject(ClientRefService) private readonly refs: ClientRefService,
    @inject(PendingFeedbackService) private readonly waiting: PendingFeedbackService,
  ) {}

  /**
   * Resolves after the commit. Returns false if no item has counted the event yet and the caller
   * must keep the feedback, or if the item has its maximum of user comments.
   */
  async add({ project, event_ref, client_ref, intake_key, text }: UserFeedback): Promise<boolean> {
    const isPublic = intake_key !== null;
    const event = this.refs.toRefId(project, event_ref, isPublic);
    const known = await this.refs.find(event);
    const item = known === null ? null : await this.itemRows.get(known.item_id);
    const id = this.refs.toRefId(project, client_ref, isPublic);
    const body = scrubText(cleanText(text)).slice(0, MAX_COMMENT_LENGTH);
    if (item === null) await this.waiting.addPending({ id, project, event, body });
    if (item === null || (await this.comments.count({ item_id: item.id, author: FEEDBACK_AUTHOR })) >= MAX_COMMENTS)
      return false;
    const { ref, mine } = await this.refs.bind(id, project, item.id);
    if (!mine && ref.open_at === null) return true;
    if (!mine) throw conflict('This feedback is being stored; try again.');
    await this.items.change(item.id, FEEDBACK_AUTHOR, (_, change) => void change.addComment(body));
    this.refs.scheduleClose({ id, project, item_id: item.id, own: false, helped: false });
    return true;
  }

  /** Returns null synchronously if nothing was pending. */
  linkPending({
    project,
    client_ref,
    intake_key,
  }: Pick<Report, 'project' | 'client_ref' | 'intake_key'>): Promise<void> | null {
    if (!this.waiting.hasPending || !client_ref) return null;
    const event = this.refs.toRefId(project, client_ref, typeof intake_key === 'string');
    return this.waiting.isAwaited(event) ? this.waiting.linkToEvent(event) : null;
  }
}
