/** Comments of the item, and its history. */
import { part, type About } from './about.js';
import { lineOf, type Entry } from './activity.js';

export async function talk(about: About): Promise<object> {
  const [comments, activity] = await Promise.all([part(about, 'comments'), part(about, 'activity')]);
  return {
    plain_description: (about.item.description ?? '').length > LONGEST_READ,
    // Newest last, as a conversation is read.
    comments: { ...comments, items: readable(comments.items as { body: string }[]).toReversed() },
    activity: { ...activity, items: (activity.items as Entry[]).map(lineOf) },
  };
}

/** Characters that are read as markdown: of one comment, and of all on the page. Longer ones are shown as they are. */
const LONGEST_READ = 4096;
const MOST_READ = 12_288;

/** @param comments newest first */
function readable<T extends { body: string }>(comments: readonly T[]): (T & { plain: boolean })[] {
  let room = MOST_READ;
  return comments.map((comment) => {
    const plain = comment.body.length > Math.min(LONGEST_READ, room);
    if (!plain) room -= comment.body.length;
    return { ...comment, plain };
  });
}
