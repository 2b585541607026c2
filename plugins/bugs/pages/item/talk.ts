import { part, type About } from './about.js';
import { lineOf, type Entry } from './activity.js';

export async function talk(about: About): Promise<object> {
  const [comments, activity] = await Promise.all([part(about, 'comments'), part(about, 'activity')]);
  const description = about.item.description?.length ?? 0;
  const isPlain = description > MAX_RENDERED_LENGTH;
  return {
    plain_description: isPlain,
    comments: {
      ...comments,
      items: readable(comments.items as { body: string }[], isPlain ? 0 : description).toReversed(),
    },
    activity: { ...activity, items: (activity.items as Entry[]).map(lineOf) },
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
function readable<T extends { body: string }>(comments: readonly T[], taken: number): (T & { plain: boolean })[] {
  let room = MAX_RENDERED_TOTAL - taken;
  return comments.map((comment) => {
    const plain = comment.body.length > Math.min(MAX_RENDERED_LENGTH, room);
    if (!plain) room -= comment.body.length;
    return { ...comment, plain };
  });
}
