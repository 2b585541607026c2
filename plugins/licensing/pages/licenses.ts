import joi from 'joi';
import { Redirect, text, View, type HttpRequest, type PageSpec } from '../../../kernel/contract/index.js';
import { normalizeLicenseKey, isKey, hashKey } from '../model/key.js';
import { capitalize } from '../../../lib/sentence.js';
import type { LicenseQuery } from '../model/fields.js';
import type { LicenseView } from '../model/view.js';
import { LICENSE_STATES, type LicenseState } from '../model/states.js';
import { buildLicenseCsv } from '../http/csv.js';
import { getFormText } from './form.js';
import {
  isAdmin,
  LICENSE_PAGE_SIZE,
  listProducts,
  LICENSE_MEMBER_AUTH,
  toShownLicense,
  LICENSES_TITLE,
  type LicensePageServices,
} from './page-context.js';

type ListQuery = Partial<Record<'q' | 'status' | 'product' | 'key_sha256' | 'cursor', string>>;

function parseListQuery(request: HttpRequest): LicenseQuery {
  const { q, status, product, key_sha256, cursor } = request.query as ListQuery;
  return {
    limit: LICENSE_PAGE_SIZE,
    ...(q && { q }),
    ...(status && { status: status as LicenseState }),
    ...(product && { product }),
    ...(key_sha256 && { key_sha256 }),
    ...(cursor && { cursor }),
  };
}

const listQuery = joi.object({
  q: joi.string().max(200).allow(''),
  status: joi.string().valid(...LICENSE_STATES, ''),
  product: joi.string().max(64).allow(''),
  key_sha256: joi
    .string()
    .pattern(/^[0-9a-f]{64}$/)
    .allow(''),
  cursor: joi.string().max(4096),
});

/** A whole key, also as search text, is replaced by its hash in the URL. */
function redirectToHash(typed: string): Redirect | null {
  const key = normalizeLicenseKey(typed);
  return isKey(key) ? new Redirect(`/licenses?key_sha256=${hashKey(key)}`) : null;
}

async function renderList(parts: LicensePageServices, request: HttpRequest): Promise<View> {
  const query = parseListQuery(request);
  const page = await parts.licenses.listPage(request.principal, query);
  const [used, seats] = await Promise.all([
    parts.activations.countActiveByLicense(page.items.filter(({ floating }) => !floating).map(({ id }) => id)),
    countSeats(parts, page.items),
  ]);
  const { limit: _limit, cursor: _cursor, ...filters } = query;
  return new View('licenses', {
    items: page.items.map((license) => ({
      ...toShownLicense(license),
      tail: `…${license.key.slice(-5)}`,
      used: (license.floating ? seats : used).get(license.id) ?? 0,
    })),
    next_cursor: page.next,
    admin: isAdmin(request),
    states: LICENSE_STATES.map((value) => ({ value, label: capitalize(value) })),
    products: await listProducts(parts, true),
    filtered: Object.keys(filters).length > 0,
    csv: `/licenses.csv?${new URLSearchParams(filters as Record<string, string>).toString()}`,
  });
}

async function countSeats(
  { seats }: LicensePageServices,
  licenses: readonly LicenseView[],
): Promise<Map<string, number>> {
  const floating = licenses.filter((license) => license.floating);
  return new Map(await Promise.all(floating.map(async ({ id }) => [id, await seats.countUsed({ id })] as const)));
}

export function listPages(parts: LicensePageServices): PageSpec[] {
  return [
    {
      path: '/licenses',
      title: LICENSES_TITLE,
      nav: {
        section: 'delivery',
        label: LICENSES_TITLE,
        icon: 'license',
        order: 30,
        tab: 'All',
        also: ['keys', 'machines', 'activations', 'customers', 'seats', 'subscriptions'],
      },
      access: LICENSE_MEMBER_AUTH,
      projectQuery: 'product',
      input: { query: listQuery },
      handle: (request) => redirectToHash(parseListQuery(request).q ?? '') ?? renderList(parts, request),
    },
    {
      path: '/licenses.csv',
      title: LICENSES_TITLE,
      access: LICENSE_MEMBER_AUTH,
      input: { query: listQuery },
      handle: async (request) =>
        text(
          await buildLicenseCsv(parts.licenses, request.principal, parseListQuery(request)),
          'text/csv; charset=utf-8',
        )
          .header('cache-control', 'no-store')
          .header('content-disposition', 'attachment; filename="licenses.csv"'),
    },
    {
      // A whole key never appears in a URL.
      method: 'POST',
      path: '/licenses/find',
      title: LICENSES_TITLE,
      access: LICENSE_MEMBER_AUTH,
      handle: (request) => {
        const none = { tone: 'warning', message: 'This is not a valid license key.' } as const;
        return redirectToHash(getFormText(request, 'license_key')) ?? new Redirect('/licenses', none);
      },
    },
  ];
}
