/**
 * Feedback of an application's users about an error: a comment on the item that counted it, found by the event's
 * `client_ref`. Tokens and intake keys have separate spaces of references, so a public key reaches only items of events that
 * an intake key sent.
 *
 * Order: the feedback's own reference is bound (marker `open_at`) → the comment, in the item's write → the reference is
 * finished, so that a repeat adds nothing. `ClientRefs.reconcile` takes back what a crash leaves open.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { conflict } from '../../../kernel/errors.js';
import type { UserFeedback } from '../../../ports/domain/bugs.js';
import { DEPS, type Deps } from '../deps.js';
import { cleanText } from '../intake/clean.js';
import { ClientRefs } from '../intake/client-refs.js';
import { scrubText } from '../intake/scrub-text.js';
import { Items } from './items.js';
import { LONGEST_COMMENT } from './model.js';

/** The author of every such comment. The user's name is part of the text, because any name could be sent. */
const AUTHOR = 'user feedback';
/** Comments of users on one item; further feedback becomes new items. */
const MOST = 100;

@injectable()
export class Feedback {
  constructor(
    @inject(DEPS) private readonly deps: Deps,
    @inject(Items) private readonly items: Items,
    @inject(ClientRefs) private readonly refs: ClientRefs,
  ) {}

  /** False when no item has counted the event, or it has enough of them. Resolves after the commit. */
  async add({ project, event_ref, client_ref, intake_key, text }: UserFeedback): Promise<boolean> {
    const isPublic = intake_key !== null;
    const event = await this.refs.find(this.refs.idOf(project, event_ref, isPublic));
    const item = event === null ? null : await this.deps.items.get(event.item_id);
    if (item === null || (await this.deps.comments.count({ item_id: item.id, author: AUTHOR })) >= MOST) return false;
    const id = this.refs.idOf(project, client_ref, isPublic);
    const { ref, mine } = await this.refs.bind(id, project, item.id);
    if (!mine && ref.open_at === null) return true;
    if (!mine) throw conflict('This feedback is being stored; send it again.');
    const body = scrubText(cleanText(text)).slice(0, LONGEST_COMMENT);
    await this.items.change(item.id, AUTHOR, (_, change) => void change.comment(body));
    this.refs.finish({ id, project, item_id: item.id, own: false, helped: false });
    return true;
  }
}
