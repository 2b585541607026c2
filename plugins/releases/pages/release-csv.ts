import { text, type Reply } from '../../../kernel/contract/index.js';
import { iteratePages } from '../../../lib/paging.js';
import { formatCsvTable, type CsvValue } from '../../../lib/text/csv.js';
import type { ReleaseRepository } from '../publishing/release-repository.js';

const COLUMNS = [
  'product',
  'version',
  'channel',
  'platform',
  'rollout_percent',
  'halted_at',
  'withdrawn_at',
  'mandatory',
  'build',
  'package_size',
  'package_sha256',
  'downloads',
  'published_at',
  'published_by',
] as const;
const PAGE_SIZE = 500;

type ReleaseFilter = Parameters<ReleaseRepository['listPage']>[0];

export async function buildReleaseCsv(
  docs: Pick<ReleaseRepository, 'listPage'>,
  filter: ReleaseFilter,
): Promise<Reply> {
  const rows: CsvValue[][] = [];
  const list = {
    find: ({ after = null }: { after?: string | null } = {}) => docs.listPage(filter, PAGE_SIZE, after),
  };
  for await (const items of iteratePages(list, {}))
    rows.push(...items.map((release) => COLUMNS.map((name) => release[name])));
  return text(formatCsvTable(COLUMNS, rows), 'text/csv; charset=utf-8').header(
    'content-disposition',
    'attachment; filename="releases.csv"',
  );
}

export function buildCsvUrl(filters: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams({ format: 'csv' });
  for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, value);
  return `/releases?${query.toString()}`;
}
