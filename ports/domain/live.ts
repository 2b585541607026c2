/** What pages that follow by themselves are told of: topics, which plugins add. */
import { extensionPoint } from '../token.js';

/**
 * A page names its topics in its view's context, `live_topics: 'monitors webhooks'`, and follows them by itself: at
 * most 20. A topic about one thing is named with its subject (`liveSubject`).
 */
export interface LiveTopic {
  /** Lower case. */
  name: string;
  /**
   * A text that is another one as soon as the pages of this topic would show something else. Asked of the store every
   * few seconds while somebody looks at such a page, in each process; so it goes by an index, and sees what other
   * processes write.
   */
  mark(subject: string): Promise<string>;
}

/**
 * `monitor:queue%40warehouse`: the topic `monitor`, of this one alone; `mark` is asked with the subject. Others get
 * `''`.
 */
export const liveSubject = (name: string, subject: string): string => `${name}:${encodeURIComponent(subject)}`;

export const LIVE_TOPICS = extensionPoint<LiveTopic>('live.topics');
