/**
 * What users of an application say (contract 21, Beyond the specification: what JavaScript and releases need): a text
 * for the item of their error, or a bug of its own. Pure.
 */
import { createHash } from 'node:crypto';
import { getUrgency } from '../../lib/urgency.js';
import type { Details, Report } from '../../ports/domain/bugs.js';
import type { ErrorSender, FeedbackReport } from '../../ports/domain/errors.js';
import { cutObject } from './limits/cut.js';
import { cutText } from '../../lib/text/cut-text.js';
import { LIMITS } from './report.js';
import { titleOf } from '../../lib/text/error-title.js';
import { versionName } from '../../lib/versions.js';

/** Characters, as many as a comment has. */
const MAX_TEXT_LENGTH = 16_384;
/** Feedback meets feedback alone: no public key reaches a bug that somebody filed, whatever words it sends. */
const GROUPED_AS = 'user feedback';

/** With who says it and where, so that somebody can answer. */
export function formatFeedback({ name, email, url, message }: FeedbackReport): string {
  const who = [name, email && `<${email}>`].filter(Boolean).join(' ');
  return cutText([who, url, message].filter(Boolean).join('\n'), MAX_TEXT_LENGTH);
}

/** The bug, and what its occurrence keeps: a repeated one, or one beyond a key's budget, has no description. */
export function buildFeedbackReport(
  given: FeedbackReport,
  sender: ErrorSender,
): { report: Report; details: () => Details } {
  const { project, id, event_id, message, name, email, url } = given;
  const description = formatFeedback(given);
  const environment = short(given.environment);
  const report: Report = {
    type: 'bug',
    project,
    title: titleOf(null, message),
    severity: getUrgency('warning', environment),
    source: 'app',
    reported_by: sender.id,
    reporter: sender.name,
    intake_key: sender.intake === true ? sender.id : null,
    address: sender.address,
    description,
    environment,
    app_version: short(given.app_version === null ? null : versionName(given.app_version)),
    client_ref: id,
    // The same words of the same person are one bug. When its event comes, it is led to that one's item, so feedback
    // about another event is never counted in it.
    fingerprint: [GROUPED_AS, event_id ?? '', createHash('sha256').update(description).digest('hex')],
  };
  return {
    report,
    details: () => ({
      context: cutObject({ name, email, url, event_id, message }, LIMITS.context),
      breadcrumbs: null,
    }),
  };
}

const short = (text: string | null): string | null => (text === null ? null : cutText(text, LIMITS.short));
