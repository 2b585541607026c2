/**
 * /system/audit: every administrative action with filters, names instead of ids, and what was before and after
 * (contract 80).
 */
import joi from 'joi';
import { View, type HttpRequest, type PageSpec } from '../../kernel/contract.js';
import { DAY_MS, isoOf } from '../../lib/time.js';
import type { AuditEntry, AuditFields, AuditQuery, AuditReader } from '../../ports/domain/audit.js';

const PAGE = 50;

/** For programs: they find the request in the log by it. */
const HIDDEN = new Set(['request_id']);

type Value = AuditFields[string];
export interface AuditRow {
  at: string;
  actor: string;
  action: string;
  name: string;
  href: string | null;
  /** For the list of everything that was done to the same. */
  target: string;
  facts: { label: string; value: Value }[];
  changes: { label: string; before: Value; after: Value }[];
}

export async function auditRow(reader: AuditReader, entry: AuditEntry): Promise<AuditRow> {
  const { at, actor, action, target, details, before = {}, after = {} } = entry;
  const { name, href } = await reader.named(entry);
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  // Of what is new every field would come from nothing.
  const isNew = Object.keys(before).length === 0;
  return {
    at,
    actor,
    action,
    target,
    name,
    href,
    facts: Object.entries(isNew ? { ...after, ...details } : details)
      .filter(([label, value]) => value !== null && !HIDDEN.has(label) && !(label === 'name' && value === name))
      .map(([label, value]) => ({ label, value })),
    changes: (isNew ? [] : fields)
      .map((label) => ({ label, before: before[label] ?? null, after: after[label] ?? null }))
      .filter((change) => change.before !== null || change.after !== null),
  };
}

const text = (most: number) => joi.string().max(most).empty('');
const day = joi
  .string()
  .pattern(/^\d{4}-\d\d-\d\d$/)
  .empty('');
const query = joi.object({
  actor: text(200),
  action: text(100),
  target: text(300),
  from: day,
  to: day,
  cursor: text(4096),
});

/** Days are of UTC, the last one whole. */
function queryOf({ actor, action, target, from, to }: Partial<Record<string, string>>): AuditQuery {
  const at = (date: string, days = 0): string => isoOf((Date.parse(date) || 0) + days * DAY_MS);
  return {
    ...(actor !== undefined && { actor }),
    ...(action !== undefined && { action }),
    ...(target !== undefined && { target }),
    ...(from !== undefined && { since: at(from) }),
    ...(to !== undefined && { until: at(to, 1) }),
  };
}

/** What is done here, by noun; the filter takes every other action too, from its field. */
const NOUNS = [
  'access_files',
  'bug',
  'channel',
  'credential',
  'grouping_rule',
  'ignore_rule',
  'license',
  'login',
  'migrations',
  'monitor',
  'project',
  'release',
  'token',
  'user',
  'webhook',
].map((noun) => ({ value: `${noun}.`, label: noun.replaceAll('_', ' ') }));

export const auditPage = (reader: AuditReader): PageSpec => ({
  path: '/system/audit',
  title: 'Audit log',
  access: { session: 'member' },
  input: { query },
  handle: async (request: HttpRequest) => {
    const { cursor = null, ...filters } = request.query as Partial<Record<string, string>>;
    const page = await reader.search(queryOf(filters), PAGE, cursor);
    return new View('audit', {
      items: await Promise.all(page.items.map((entry) => auditRow(reader, entry))),
      next_cursor: page.next,
      nouns: NOUNS,
      filtered: Object.keys(filters).length > 0,
      crumbs: [{ label: 'System', href: '/system' }, { label: 'Audit log' }],
    });
  },
});
