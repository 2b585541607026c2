/** Comments of the item, and its history. */
import { part, type About } from './about.js';
import { lineOf, type Entry } from './activity.js';

export async function talk(about: About): Promise<object> {
  const [comments, activity] = await Promise.all([part(about, 'comments'), part(about, 'activity')]);
  const description = about.item.description?.length ?? 0;
  const isPlain = description > LONGEST_READ;
  return {
    plain_description: isPlain,
    // Newest last, as a conversation is read.
    comments: {
      ...comments,
      items: readable(comments.items as { body: string }[], isPlain ? 0 : description).toReversed(),
    },
    activity: { ...activity, items: (activity.items as Entry[]).map(lineOf) },
  };
}

/**
 * Characters that are read as markdown: of one text, and of the description and all comments on the page. Longer ones
 * are shown as they are. Rendered in one piece, so the worst of texts may take a few milliseconds.
 */
const LONGEST_READ = 4096;
const MOST_READ = 12_288;

/** @param comments newest first. @param taken characters of the description */
function readable<T extends { body: string }>(comments: readonly T[], taken: number): (T & { plain: boolean })[] {
  let room = MOST_READ - taken;
  return comments.map((comment) => {
    const plain = comment.body.length > Math.min(LONGEST_READ, room);
    if (!plain) room -= comment.body.length;
    return { ...comment, plain };
  });
}
