import type { FeedbackReport } from '../../ports/domain/errors.js';
import { eventIdOf, versionOf } from './event.js';
import { line, record, text, type Loose } from './values.js';

export const isFeedback = (type: string): boolean => type === 'feedback' || type === 'user_report';

export function feedbackOf(type: string, payload: Loose, project: string, newId: () => string): FeedbackReport | null {
  const said = type === 'feedback' ? (record(record(payload['contexts'])?.['feedback']) ?? {}) : payload;
  const message = text(said[type === 'feedback' ? 'message' : 'comments']);
  if (message === null) return null;
  const own = eventIdOf(payload['event_id']);
  return {
    project,
    // A user report only has its event's id.
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
