/**
 * Feedback of users as SDKs send it: `feedback`, an event with a context of that name, and the older `user_report`
 * (contract 21, Sentry SDK intake). Pure.
 */
import type { FeedbackReport } from '../../ports/domain/errors.js';
import { eventIdOf, versionOf } from './event.js';
import { line, record, text, type Loose } from './values.js';

/** Item types that hold feedback. */
export const isFeedback = (type: string): boolean => type === 'feedback' || type === 'user_report';

/** Null when the feedback has no message. @param newId makes the id of feedback without one */
export function feedbackOf(type: string, payload: Loose, project: string, newId: () => string): FeedbackReport | null {
  const said = type === 'feedback' ? (record(record(payload['contexts'])?.['feedback']) ?? {}) : payload;
  const message = text(said[type === 'feedback' ? 'message' : 'comments']);
  if (message === null) return null;
  const own = eventIdOf(payload['event_id']);
  return {
    project,
    // A user report has its event's id and no other.
    id: type === 'feedback' ? (own ?? newId()) : `user_report:${own ?? newId()}`,
    event_id: type === 'feedback' ? eventIdOf(said['associated_event_id']) : own,
    message,
    name: line(said['name']),
    email: line(said[type === 'feedback' ? 'contact_email' : 'email']),
    url: line(said['url']),
    environment: line(payload['environment']),
    app_version: versionOf(payload['release']),
  };
}
