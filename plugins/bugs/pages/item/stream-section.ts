/** Comments and changes in one stream: the entry of a comment stands for the comment itself. */
import { loadPart, type ItemSectionInput } from './section.js';
import {
  formatActor,
  listClaimingAgents,
  toHistoryLine,
  type ClaimingAgents,
  type HistoryEntry,
  type HistoryLine,
} from './history-lines.js';

interface StoredComment {
  id: string;
  body: string;
  author: string;
  agent?: string;
  created_at: string;
}

type StreamEntry = HistoryLine | (StoredComment & { is_comment: true; plain: boolean });

export async function buildStreamSection(about: ItemSectionInput): Promise<object> {
  const page = await loadPart(about, 'activity');
  const entries = page.items as HistoryEntry[];
  const comments = await about.page.services.parts.findComments(about.item.id, entries.flatMap(getCommentId));
  const agents = listClaimingAgents(entries);
  const description = about.item.description?.length ?? 0;
  const isPlain = description > MAX_RENDERED_LENGTH;
  const bodies = new RenderBudget(isPlain ? 0 : description);
  const byId = new Map((comments as StoredComment[]).map((comment) => [comment.id, comment]));
  const items = entries.map((entry): StreamEntry => {
    const comment = getCommentId(entry).flatMap((id) => byId.get(id) ?? [])[0];
    return comment === undefined ? toHistoryLine(entry, agents) : toCommentEntry(comment, agents, bodies);
  });
  return {
    plain_description: isPlain,
    stream: { ...page, items: items.toReversed() },
  };
}

const getCommentId = ({ action, data }: HistoryEntry): string[] =>
  action === 'commented' && typeof data['comment_id'] === 'string' ? [data['comment_id']] : [];

const toCommentEntry = (comment: StoredComment, agents: ClaimingAgents, bodies: RenderBudget): StreamEntry => ({
  ...comment,
  is_comment: true,
  author: comment.agent ?? formatActor(comment.author, agents),
  plain: !bodies.take(comment.body.length),
});

/**
 * Characters per text and per page; longer texts are shown as is. Markdown rendering is
 * synchronous.
 */
const MAX_RENDERED_LENGTH = 4096;
const MAX_RENDERED_TOTAL = 12_288;

class RenderBudget {
  #left: number;

  /** @param used characters of the description */
  constructor(used: number) {
    this.#left = MAX_RENDERED_TOTAL - used;
  }

  take(length: number): boolean {
    const fits = length <= Math.min(MAX_RENDERED_LENGTH, this.#left);
    if (fits) this.#left -= length;
    return fits;
  }
}
