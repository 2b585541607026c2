import { getFormFields, fromForm, type HttpRequest } from '../../../kernel/contract/index.js';
import type { MonitorFields } from '../../../ports/domain/watchdog.js';
import { editBody, monitorBody } from '../http/monitor-bodies.js';

/** The source may contain slashes. */
export const getMonitorPageHref = (source: string): string => `/monitors/${encodeURIComponent(source)}`;

export const formatTags = (tags: readonly string[]): string => tags.join(', ');

const parseTags = (text: string): string[] =>
  text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');

/**
 * An empty field is null, an unticked box false.
 * @param before tags of the monitor
 * @throws ServiceError validation_failed
 */
export function readMonitorForm(
  request: Pick<HttpRequest, 'body'>,
  creating: boolean,
  before: readonly string[] = [],
): MonitorFields {
  const form = getFormFields(request);
  const given: Record<string, unknown> = {};
  for (const name of ['name', 'parent_source', 'description', 'os', 'project', 'schedule', 'timezone']) {
    const value = form[name];
    if (typeof value === 'string') given[name] = value.trim() === '' ? null : value.trim();
  }
  for (const name of ['interval_seconds', 'period_seconds', 'grace_seconds', 'max_run_seconds']) {
    const value = form[name];
    if (typeof value === 'string') given[name] = value.trim() === '' ? null : Number(value);
  }
  const { tags } = form;
  // A tag with a comma stays one.
  if (typeof tags === 'string' && tags.trim() !== formatTags(before)) given['tags'] = parseTags(tags);
  if ('name' in form) given['public'] = form['public'] === 'true';
  if (creating) given['source'] = typeof form['source'] === 'string' ? form['source'].trim() : '';
  const schema = creating ? monitorBody : editBody;
  return fromForm(schema, given, { convert: false }) as MonitorFields;
}
