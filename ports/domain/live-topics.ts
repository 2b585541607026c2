import { extensionPoint } from '../token.js';

/**
 * Topic of live page updates; a view subscribes to up to 20 by `live_topics: 'monitors webhooks'`.
 */
export interface LiveTopic {
  /** Lower case. */
  name: string;
  /**
   * Changes whenever pages of this topic would. Polled every few seconds per process: use an index,
   * and the store to see other processes' writes.
   */
  getRevision(subject: string): Promise<string>;
}

/** Formats a topic with a subject: `monitor:queue%40warehouse`. */
export const formatLiveTopic = (name: string, subject: string): string => `${name}:${encodeURIComponent(subject)}`;

export const LIVE_TOPICS = extensionPoint<LiveTopic>('live.topics');
