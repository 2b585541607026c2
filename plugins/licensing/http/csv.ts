/** Licenses with masked keys. */
import type { Principal } from '../../../kernel/contract/index.js';
import { formatCsvPages } from '../../../lib/text/csv.js';
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

export async function buildLicenseCsv(
  licenses: LicenseService,
  principal: Principal,
  query: Partial<LicenseQuery>,
): Promise<string> {
  return formatCsvPages(
    COLUMNS,
    (after) => licenses.listPage(principal, { ...query, limit: PAGE_SIZE, ...(after !== null && { cursor: after }) }),
    (license) => COLUMNS.map((name) => license[name]),
  );
}
