/**
 * A comment on the error's item, or a separate bug (contract 21, Beyond the specification: what
 * JavaScript and releases need).
 */
import { createHash } from 'node:crypto';
import { getUrgency } from '../../lib/urgency.js';
import type { ReportDetails, Report } from '../../ports/domain/bugs.js';
import type { ErrorSender, FeedbackReport } from '../../ports/domain/errors.js';
import { truncateObject } from './truncate.js';
import { cutText } from '../../lib/text/cut-text.js';
import { REPORT_LIMITS } from './report-converter.js';
import { toErrorTitle } from '../../lib/text/error-title.js';
import { getVersionName } from '../../lib/versions.js';

const MAX_TEXT_LENGTH = 16_384;
/** Separate, so a public key can never reach a bug that a user filed. */
const FEEDBACK_GROUP = 'user feedback';

/** Sender and page make a reply possible. */
export function formatFeedback({ name, email, url, message }: FeedbackReport): string {
  const who = [name, email && `<${email}>`].filter(Boolean).join(' ');
  return cutText([who, url, message].filter(Boolean).join('\n'), MAX_TEXT_LENGTH);
}

/** Repeats, or bugs beyond a key's budget, have no description. */
export function buildFeedbackReport(
  given: FeedbackReport,
  sender: ErrorSender,
): { report: Report; details: () => ReportDetails } {
  const { project, id, event_id, message, name, email, url } = given;
  const description = formatFeedback(given);
  const environment = truncateText(given.environment);
  const report: Report = {
    type: 'bug',
    project,
    title: toErrorTitle(null, message),
    severity: getUrgency('warning', environment),
    source: 'app',
    reported_by: sender.id,
    reporter: sender.name,
    intake_key: sender.intake === true ? sender.id : null,
    address: sender.address,
    description,
    environment,
    app_version: truncateText(given.app_version === null ? null : getVersionName(given.app_version)),
    client_ref: id,
    // Identical feedback is one bug; the event is included, because its item gets the feedback
    // later.
    fingerprint: [FEEDBACK_GROUP, event_id ?? '', createHash('sha256').update(description).digest('hex')],
  };
  return {
    report,
    details: () => ({
      context: truncateObject({ name, email, url, event_id, message }, REPORT_LIMITS.context),
      breadcrumbs: null,
    }),
  };
}

const truncateText = (text: string | null): string | null =>
  text === null ? null : cutText(text, REPORT_LIMITS.short);
