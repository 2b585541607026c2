/** Rows of issue lists: their trend, and all of them as CSV. */
import { formatCsvPages, type CsvValue } from '../text/csv.js';

const COLUMN_NAMES = [
  'ref',
  'type',
  'project',
  'title',
  'exception_class',
  'error_level',
  'severity',
  'status',
  'muted',
  'environment',
  'hit_count',
  'people',
  'first_seen_at',
  'last_seen_at',
  'first_build',
  'last_build',
  'resolved_in_build',
  'assignee',
  'target_agent',
] as const;

type IssueRow = Readonly<Record<(typeof COLUMN_NAMES)[number], CsvValue>> & { tags: readonly string[] };

interface IssuePage {
  items: readonly IssueRow[];
  next: string | null;
}

/** One export reads no more, however many issues there are. */
const MAX_EXPORTED_ROWS = 10_000;

/** @param readPage of the list, with at most 200 rows */
export async function buildIssueCsv(readPage: (cursor: string | null) => Promise<IssuePage>): Promise<string> {
  const toCells = (issue: IssueRow): CsvValue[] => [...COLUMN_NAMES.map((name) => issue[name]), issue.tags.join(' ')];
  return formatCsvPages([...COLUMN_NAMES, 'tags'], readPage, toCells, MAX_EXPORTED_ROWS);
}

export const CSV_PAGE_SIZE = 200;
/** Whether counts per hour say more than their sum does. */
export const hasTrend = (counts: readonly number[]): boolean => counts.filter((count) => count > 0).length > 1;
