import { formatAuditSentence } from '../../../lib/audit-sentence.js';
import type { AuditLog } from '../../../ports/domain/audit.js';
import type { ReleaseDoc } from '../model.js';
import { formatReleaseName } from '../release-place.js';

const MAX_EVENTS = 50;

/** What people and the service did to a release, newest first. */
export async function listReleaseEvents(
  audit: Pick<AuditLog, 'listByTarget'>,
  doc: Pick<ReleaseDoc, 'product' | 'version' | 'channel' | 'platform'>,
): Promise<object[]> {
  const { items } = await audit.listByTarget(formatReleaseName(doc), MAX_EVENTS);
  return items.map((entry) => ({
    at: entry.at,
    action: entry.action,
    text: formatAuditSentence(entry, `${doc.product} ${doc.version}`),
    reason: entry.details['reason'] ?? null,
  }));
}
