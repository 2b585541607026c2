/** RFC 4180 with masked keys; cells cannot run as spreadsheet formulas. */
import type { Principal } from '../../../kernel/contract/index.js';
import { escapeFormula } from '../../../lib/text/csv.js';
import { iteratePages } from '../../../lib/paging.js';
import type { LicenseQuery } from '../model/fields.js';
import type { LicenseService } from '../licenses/license-service.js';
import type { LicenseView } from '../model/view.js';

const COLUMNS = [
  'id',
  'key',
  'product',
  'client_ref',
  'licensee',
  'email',
  'status',
  'expires_at',
  'max_activations',
  'require_approval',
  'features',
  'notes',
  'created_at',
  'created_by',
  'last_validated_at',
  'last_validated_version',
  'floating',
  'lease_seconds',
  'overdraft',
  'grace_days',
  'entitlements',
] as const satisfies readonly (keyof LicenseView)[];

const PAGE_SIZE = 1_000;

/** A leading `'` disarms a formula. */
export function formatCsvCell(value: LicenseView[keyof LicenseView]): string {
  if (value === null) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const safe = typeof value === 'number' || typeof value === 'boolean' ? text : escapeFormula(text);
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const formatCsvRow = (license: LicenseView): string => COLUMNS.map((name) => formatCsvCell(license[name])).join(',');

export async function buildLicenseCsv(
  licenses: LicenseService,
  principal: Principal,
  query: Partial<LicenseQuery>,
): Promise<string> {
  const lines: string[] = [COLUMNS.join(',')];
  const list = {
    find: ({ after = null }: { after?: string | null } = {}) =>
      licenses.listPage(principal, { ...query, limit: PAGE_SIZE, ...(after !== null && { cursor: after }) }),
  };
  for await (const items of iteratePages(list, {})) lines.push(...items.map(formatCsvRow));
  return `${lines.join('\r\n')}\r\n`;
}
