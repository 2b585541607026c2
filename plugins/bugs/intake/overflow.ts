/**
 * The item in which a project's reports are counted that would have made more new groups than their public key may make
 * (contract 00, limits). Pure.
 */
import type { Report } from '../../../ports/domain/bugs.js';
import { groupingOf } from '../grouping/key.js';
import type { Keyed } from '../groups/keys.js';

/** The report that the overflow item shows; its occurrences keep the real reports. */
export const overflowReport = (sent: Report): Report => ({
  type: 'error',
  project: sent.project,
  title: 'More new errors than an intake key may make',
  severity: 'high',
  source: sent.source,
  reported_by: sent.reported_by,
  error_level: 'error',
  error_message:
    'An intake key sent more new errors within an hour than limits.new_groups_per_hour allows. They are counted here, and ' +
    'their occurrences hold what was sent. Errors that are known already are counted in their own items.',
  muted_by: null,
});

/** No report can have this key, because no type has this name. */
export function overflowKeyed(project: string): Keyed {
  const report = { type: 'overflow', project, title: 'overflow' };
  return { project, report, ...groupingOf(report) };
}
