/** Comments of the item, and its history. */
import { part, type About } from './about.js';
import { lineOf, type Entry } from './activity.js';

export async function talk(about: About): Promise<object> {
  const [comments, activity] = await Promise.all([part(about, 'comments'), part(about, 'activity')]);
  return {
    // Newest last, as a conversation is read.
    comments: { ...comments, items: comments.items.toReversed() },
    activity: { ...activity, items: (activity.items as Entry[]).map(lineOf) },
  };
}
