import type { FeedbackReport } from '../../ports/domain/errors.js';
import { parseEventId, parseReleaseVersion } from './event-converter.js';
import { toLine, toRecord, toText, type UntypedRecord } from './untyped-values.js';

export const isFeedback = (type: string): boolean => type === 'feedback' || type === 'user_report';

export function parseFeedback(
  type: string,
  payload: UntypedRecord,
  project: string,
  newId: () => string,
): FeedbackReport | null {
  const fields = type === 'feedback' ? (toRecord(toRecord(payload['contexts'])?.['feedback']) ?? {}) : payload;
  const message = toText(fields[type === 'feedback' ? 'message' : 'comments']);
  if (message === null) return null;
  const own = parseEventId(payload['event_id']);
  return {
    project,
    // User reports only have their event's id.
    id: type === 'feedback' ? (own ?? newId()) : `user_report:${own ?? newId()}`,
    event_id: type === 'feedback' ? parseEventId(fields['associated_event_id']) : own,
    message,
    name: toLine(fields['name']),
    email: toLine(fields[type === 'feedback' ? 'contact_email' : 'email']),
    url: toLine(fields['url']),
    environment: toLine(payload['environment']),
    app_version: parseReleaseVersion(payload['release']),
  };
}
