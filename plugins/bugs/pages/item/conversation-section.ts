import { loadPart, type ItemSectionInput } from './section.js';
import { toHistoryLine, type HistoryEntry } from './history-lines.js';

export async function buildConversationSection(about: ItemSectionInput): Promise<object> {
  const [comments, activity] = await Promise.all([loadPart(about, 'comments'), loadPart(about, 'activity')]);
  const description = about.item.description?.length ?? 0;
  const isPlain = description > MAX_RENDERED_LENGTH;
  return {
    plain_description: isPlain,
    comments: {
      ...comments,
      items: markPlainComments(comments.items as { body: string }[], isPlain ? 0 : description).toReversed(),
    },
    activity: { ...activity, items: (activity.items as HistoryEntry[]).map(toHistoryLine) },
  };
}

/**
 * Maximum characters rendered as Markdown, per text and per page; longer texts are shown as is.
 * Rendering is synchronous, so these limits bound the blocking time.
 */
const MAX_RENDERED_LENGTH = 4096;
const MAX_RENDERED_TOTAL = 12_288;

/**
 * @param comments newest first
 * @param taken characters used by the description
 */
function markPlainComments<T extends { body: string }>(
  comments: readonly T[],
  taken: number,
): (T & { plain: boolean })[] {
  let room = MAX_RENDERED_TOTAL - taken;
  return comments.map((comment) => {
    const plain = comment.body.length > Math.min(MAX_RENDERED_LENGTH, room);
    if (!plain) room -= comment.body.length;
    return { ...comment, plain };
  });
}
