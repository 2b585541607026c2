/** License counts by state and the newest licenses, for a project's page (contract 80). */
import { ReadCache } from '../../../lib/caching/read-cache.js';
import type { ProjectFigure, ProjectPartProvider } from '../../../ports/domain/projects.js';
import type { LicenseState } from '../model/states.js';
import { toShownLicense, type LicensePageServices } from './page-context.js';

const MAX_SHOWN_LICENSES = 4;
const MAX_AGE_MS = 10_000;
const MAX_WAIT_MS = 20;
const STATE_TONES: readonly [LicenseState, ProjectFigure['tone']][] = [
  ['active', 'success'],
  ['pending', 'warning'],
  ['expired', 'warning'],
  ['inactive', null],
  ['revoked', null],
];

export function buildLicensePart({ licenses, deps }: LicensePageServices): ProjectPartProvider {
  const counts = new ReadCache<number>({ max: 500, ttlMs: MAX_AGE_MS, now: () => deps.clock.monotonic() });
  const count = (product: string, status: LicenseState): Promise<number | null> =>
    counts.getWithin(MAX_WAIT_MS, `${product} ${status}`, () =>
      deps.licenses.count(licenses.buildFilter({ kind: 'public' }, { product, status })),
    );
  return {
    id: 'licenses',
    order: 50,
    loadPart: async ({ slug }) => {
      const everybody = { kind: 'public' } as const;
      const address = `/licenses?product=${encodeURIComponent(slug)}`;
      const [page, ...counted] = await Promise.all([
        licenses.listPage(everybody, { product: slug, limit: MAX_SHOWN_LICENSES }),
        ...STATE_TONES.map(([status]) => count(slug, status)),
      ]);
      const figures = STATE_TONES.flatMap(([status, tone], i): ProjectFigure[] => {
        const value = counted[i] ?? null;
        return value === 0 ? [] : [{ label: status, value, href: `${address}&status=${status}`, tone }];
      });
      return {
        heading: 'Licenses',
        all: { label: 'View all licenses', href: address },
        customers: { label: 'Customer page', href: `/license?product=${encodeURIComponent(slug)}` },
        figures,
        lines: page.items.map((license) => {
          const { name, href, status, tone, created_at } = toShownLicense(license);
          return { title: name, href, detail: null, badge: { text: status, tone: tone as 'success' }, at: created_at };
        }),
        empty:
          page.items.length === 0
            ? { text: 'No licenses', label: 'New license', href: `/licenses/new?product=${encodeURIComponent(slug)}` }
            : null,
      };
    },
  };
}
