import { loadPart, type ItemSectionInput } from './section.js';
import { formatActor, listClaimingAgents, toHistoryLine, type HistoryEntry } from './history-lines.js';

interface StoredComment {
  body: string;
  author: string;
}

export async function buildConversationSection(about: ItemSectionInput): Promise<object> {
  const [comments, activity] = await Promise.all([loadPart(about, 'comments'), loadPart(about, 'activity')]);
  const entries = activity.items as HistoryEntry[];
  const agents = listClaimingAgents(entries);
  const description = about.item.description?.length ?? 0;
  const isPlain = description > MAX_RENDERED_LENGTH;
  return {
    plain_description: isPlain,
    comments: {
      ...comments,
      items: markPlainComments(comments.items as StoredComment[], isPlain ? 0 : description)
        .map((comment) => Object.assign(comment, { author: formatActor(comment.author, agents) }))
        .toReversed(),
    },
    activity: {
      ...activity,
      items: entries.map((entry) => toHistoryLine({ ...entry, actor: formatActor(entry.actor, agents) })),
    },
  };
}

/**
 * Characters per text and per page; longer texts are shown as is. Markdown rendering is
 * synchronous.
 */
const MAX_RENDERED_LENGTH = 4096;
const MAX_RENDERED_TOTAL = 12_288;

/**
 * @param comments newest first
 * @param usedLength characters of the description
 */
function markPlainComments<T extends { body: string }>(
  comments: readonly T[],
  usedLength: number,
): (T & { plain: boolean })[] {
  let remainingLength = MAX_RENDERED_TOTAL - usedLength;
  return comments.map((comment) => {
    const plain = comment.body.length > Math.min(MAX_RENDERED_LENGTH, remainingLength);
    if (!plain) remainingLength -= comment.body.length;
    return { ...comment, plain };
  });
}
