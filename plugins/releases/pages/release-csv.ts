import { text, type Reply } from '../../../kernel/contract/index.js';
import { formatCsvPages } from '../../../lib/text/csv.js';
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
  const csv = await formatCsvPages(
    COLUMNS,
    (after) => docs.listPage(filter, PAGE_SIZE, after),
    (release) => COLUMNS.map((name) => release[name]),
  );
  return text(csv, 'text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="releases.csv"');
}

export function buildCsvUrl(filters: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams({ format: 'csv' });
  for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, value);
  return `/releases?${query.toString()}`;
}
