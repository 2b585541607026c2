import { SEVERITIES, type Notification } from '../notes/note.js';
import { ALL_EVENTS, type ChannelFilter } from './channel.js';

/** `*` stands for any characters. Linear in both lengths. */
export function matchesSource(pattern: string, source: string): boolean {
  const parts = pattern.split('*');
  const [first = '', ...rest] = parts;
  if (rest.length === 0) return pattern === source;
  const last = rest.pop() ?? '';
  if (!source.startsWith(first) || source.length < first.length + last.length || !source.endsWith(last)) return false;
  const end = source.length - last.length;
  let from = first.length;
  for (const part of rest) {
    const at = source.indexOf(part, from);
    if (at === -1 || at + part.length > end) return false;
    from = at + part.length;
  }
  return from <= end;
}

/**
 * @param event an end (`monitor.recovered`) matches when listed; receivers of its start get it
 *   anyway
 * @param project or null
 */
export function shouldNotify(
  filter: ChannelFilter,
  note: Notification,
  event: string,
  project: string | null,
): boolean {
  const { events, min_severity, monitors, tags, projects } = filter;
  const name = note.topic ?? event;
  if (!events.includes(name) && (note.topic === null || !events.includes(ALL_EVENTS))) return false;
  if (note.topic !== null && SEVERITIES.indexOf(note.severity) > SEVERITIES.indexOf(min_severity)) return false;
  if (projects.length > 0 && (project === null || !projects.includes(project))) return false;
  const { monitor } = note;
  if (monitor !== null && monitors.length > 0 && !monitors.some((one) => matchesSource(one, monitor))) return false;
  return note.tags === null || tags.length === 0 || tags.some((tag) => note.tags?.includes(tag) === true);
}
