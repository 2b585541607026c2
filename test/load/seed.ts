/**
 * Fills the embedded store of a stopped service with items, fast: one transaction of plain inserts per 10,000, and the
 * indexes made afterwards, as SQLite is quickest to do it. The documents are those that the plugin itself would have
 * written, with every combination of status, severity and project, so that each list has something to find.
 */
import { join } from 'node:path';
import { Connection } from '../../adapters/sqlite/connection/connection.js';
import { takeIn } from '../../adapters/sqlite/lookups/lookups.js';
import { put } from './put.js';
import { hashOf } from '../../plugins/bugs/item/document-ids.js';
import { derived } from '../../plugins/bugs/item/derived.js';
import { groupingOf } from '../../plugins/bugs/grouping/key.js';
import type { ItemDoc } from '../../plugins/bugs/item/model.js';
import { firstDocument, textsOf } from '../../plugins/bugs/item/first-document.js';
import { severityOf, SEVERITIES } from '../../plugins/bugs/item/severity.js';
import type { ItemStatus, Report } from '../../ports/domain/bugs.js';

const BATCH = 10_000;
const SLICES = 50;
const DAY_MS = 86_400_000;
const TABLES = ['bugs_items', 'bugs_texts', 'bugs_keys'];

/** Of a thousand items: most are done, and few are in the states that people look for. */
const STATUSES: readonly (readonly [ItemStatus, number])[] = [
  ['needs_info', 2],
  ['in_progress', 3],
  ['open', 250],
  ['resolved', 100],
  ['wont_fix', 45],
  ['closed', 600],
];

interface SeedOptions {
  now: number;
  /** All of them; else most are done. */
  open: boolean;
}

/** The report whose group the `i`th item is. */
export const seededReport = (i: number, project: string): Report => ({
  type: i % 10 === 9 ? 'bug' : 'error',
  project,
  title: `Failure${i}: order could not be loaded`,
  severity: severityOf(i % 97 === 0 ? 3 : i % 3),
  source: 'app',
  reported_by: 'seed',
  error_level: 'error',
  error_message: `order could not be loaded by module ${i}`,
  exception_class: `Shop.Orders.Failure${i}`,
  file_path: `src/orders/module${i}.ts`,
  line_no: 10,
  stack_trace: `Failure: order could not be loaded\n    at load (/srv/app/src/orders/module${i}.ts:10:13)`,
  environment: i % 4 === 0 ? 'staging' : 'production',
  app_version: `1.${i % 20}.0`,
  tags: ['shop'],
});

function statusOf(i: number): ItemStatus {
  // A prime step, so that statuses are spread evenly over time and projects.
  let place = (i * 379) % 1000;
  for (const [status, share] of STATUSES) {
    if (place < share) return status;
    place -= share;
  }
  return 'closed';
}

function itemOf(i: number, number: number, report: Report, { now, open }: SeedOptions): ItemDoc {
  const id = `01900000-0000-7000-8000-${i.toString(16).padStart(12, '0')}`;
  const created = now - 90 * DAY_MS + (i % 7_776_000) * 1000;
  const key = groupingOf(report).dedup_key;
  const first = firstDocument(report, id, number, key, { now: created, occurred: created });
  const status = open ? 'open' : statusOf(i);
  const seen = new Date(created + ((i * 7919) % (now - created))).toISOString();
  const item: ItemDoc = {
    ...first,
    status,
    severity: SEVERITIES[first.severity_rank] ?? 'low',
    hit_count: 1 + ((i * 31) % 500),
    last_seen_at: seen,
    updated_at: seen,
    muted: i % 11 === 0,
    resolved_at: status === 'resolved' || status === 'closed' ? seen : null,
    closed_at: status === 'closed' ? seen : null,
    sent: { created: true, critical: false, resolved: status === 'closed' },
  };
  // Somebody has it for as long as the bench runs.
  if (status === 'in_progress') {
    item.claim = {
      agent: 'seed',
      credential: 'seed',
      token_hash: '',
      claimed_at: new Date(now).toISOString(),
      expires_at: new Date(now + DAY_MS).toISOString(),
      renewals: 0,
      lease_seconds: 14_400,
    };
  }
  return { ...item, ...derived(item) };
}

/**
 * @param dataDir of a service that has made its tables and is stopped
 * @param projects slugs; the items go to them in turn
 */
export function seedItems(
  dataDir: string,
  projects: readonly string[],
  items: number,
  { now = Date.now(), open = false }: Partial<SeedOptions> = {},
): void {
  const connection = new Connection({ path: join(dataDir, 'aos.db'), durability: 'normal' });
  const { driver } = connection;
  try {
    driver.exec('PRAGMA synchronous = OFF');
    const indexes = connection
      .prepare(`SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN (?, ?, ?)`)
      .all(TABLES) as [name: string, sql: string][];
    for (const [name] of indexes) driver.exec(`DROP INDEX "${name}"`);
    for (let from = 0; from < items; from += BATCH) {
      connection.transaction(() => {
        for (let i = from; i < Math.min(items, from + BATCH); i++) insert(connection, i, projects, { now, open });
      });
    }
    for (const [, sql] of indexes) driver.exec(sql);
    while (connection.transaction(() => takeInMany(connection)));
    const n = Math.ceil(items / projects.length);
    connection.transaction(() => {
      for (const id of projects) {
        const counter = { id, n };
        put(connection, 'bugs_counters', counter);
      }
    });
    driver.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    connection.close();
  }
}

/** Many slices in one transaction. True while more is left. */
function takeInMany(connection: Connection): boolean {
  for (let slice = 0; slice < SLICES; slice++) if (takeIn(connection, 'bugs_items') === null) return false;
  return true;
}

function insert(connection: Connection, i: number, projects: readonly string[], options: SeedOptions): void {
  const project = projects[i % projects.length] as string;
  const report = seededReport(i, project);
  const item = itemOf(i, Math.floor(i / projects.length) + 1, report, options);
  const key = { id: hashOf(project, item.dedup_key), project, key: item.dedup_key, item_id: item.id };
  put(connection, 'bugs_items', item);
  put(connection, 'bugs_texts', textsOf(report, item.id));
  put(connection, 'bugs_keys', key);
}
