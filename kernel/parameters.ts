import { normalizeTime } from '../lib/time.js';
import { invalidQuery } from './errors.js';

/**
 * The store compares text.
 * @throws ServiceError invalid_request for an invalid time
 */
export function timeParameter(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const time = normalizeTime(text);
  if (time === null) throw invalidQuery({ [name]: 'must be an RFC 3339 timestamp' });
  return time;
}
