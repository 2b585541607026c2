import { extensionPoint } from '../token.js';

/**
 * Topic of live page updates. A view's context subscribes to up to 20, `live_topics: 'monitors
 * webhooks'`; `formatLiveTopic` adds a subject.
 */
export interface LiveTopic {
  /** Lower case. */
  name: string;
  /**
   * Returns a text that changes whenever pages of this topic would. Polled every few seconds per
   * process: use an index, and the store to see other processes' writes.
   */
  getRevision(subject: string): Promise<string>;
}

/**
 * Formats a topic with a subject: `monitor:queue%40warehouse`. Its `getRevision` receives the
 * subject, others `''`.
 */
export const formatLiveTopic = (name: string, subject: string): string => `${name}:${encodeURIComponent(subject)}`;

export const LIVE_TOPICS = extensionPoint<LiveTopic>('live.topics');
