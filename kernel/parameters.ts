/** Parameters of a query that a schema alone cannot bring into the form that the store compares. */
import { normalizeTime } from '../lib/time.js';
import { invalidQuery } from './errors.js';

/**
 * Any offset becomes UTC with milliseconds: the store compares text.
 * @param name of the parameter, for the error
 * @throws ServiceError invalid_request for what is no time
 */
export function timeParameter(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const time = normalizeTime(text);
  if (time === null) throw invalidQuery({ [name]: 'must be an RFC 3339 timestamp' });
  return time;
}
