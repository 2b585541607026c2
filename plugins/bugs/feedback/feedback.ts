/**
 * Feedback of an application's users about an error becomes a comment on the item that counted the event; the event's
 * `client_ref` finds the item. Tokens and intake keys have separate spaces of references, so a public key reaches only
 * items of events that an intake key sent.
 *
 * Order of the writes: the feedback's own reference is bound with the marker `open_at`, then the comment is written
 * with the item, then the reference is finished, so a repeat adds nothing. After a crash `ClientRefs.reconcile` frees
 * an open reference.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { conflict } from '../../../kernel/errors.js';
import type { Report, UserFeedback } from '../../../ports/domain/bugs.js';
import { DEPS, type BugDeps } from '../deps.js';
import { cleanText } from '../../../lib/text/clean-text.js';
import { ClientRefs } from '../store/client-refs.js';
import { scrubText } from '../text/scrub-text.js';
import { Items } from '../store/items.js';
import { MAX_COMMENT_LENGTH } from '../item/model.js';
import { AUTHOR, MAX_COMMENTS, WaitingFeedback } from './waiting-feedback.js';

@injectable()
export class Feedback {
  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Items) private readonly items: Items,
    @inject(ClientRefs) private readonly refs: ClientRefs,
    @inject(WaitingFeedback) private readonly waiting: WaitingFeedback,
  ) {}

  /**
   * Adds the comment. Answers false when no item has counted the event yet, or when its item has its most comments of
   * users. In the first case the caller keeps the feedback until the event comes. Resolves after the commit.
   */
  async add({ project, event_ref, client_ref, intake_key, text }: UserFeedback): Promise<boolean> {
    const isPublic = intake_key !== null;
    const event = this.refs.idOf(project, event_ref, isPublic);
    const known = await this.refs.find(event);
    const item = known === null ? null : await this.deps.items.get(known.item_id);
    const id = this.refs.idOf(project, client_ref, isPublic);
    const body = scrubText(cleanText(text)).slice(0, MAX_COMMENT_LENGTH);
    if (item === null) await this.waiting.wait({ id, project, event, body });
    if (item === null || (await this.deps.comments.count({ item_id: item.id, author: AUTHOR })) >= MAX_COMMENTS)
      return false;
    const { ref, mine } = await this.refs.bind(id, project, item.id);
    if (!mine && ref.open_at === null) return true;
    if (!mine) throw conflict('This feedback is being stored; send it again.');
    await this.items.change(item.id, AUTHOR, (_, change) => void change.comment(body));
    this.refs.finish({ id, project, item_id: item.id, own: false, helped: false });
    return true;
  }

  /** Links feedback that arrived before the report that was just counted. Null, at once: there is none. */
  counted({
    project,
    client_ref,
    intake_key,
  }: Pick<Report, 'project' | 'client_ref' | 'intake_key'>): Promise<void> | null {
    if (!this.waiting.isAny || !client_ref) return null;
    const event = this.refs.idOf(project, client_ref, typeof intake_key === 'string');
    return this.waiting.isAwaited(event) ? this.waiting.came(event) : null;
  }
}
