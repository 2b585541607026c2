/** License counts by state and the newest licenses, for a project's page (contract 80). */
import { ReadCache } from '../../../lib/caching/read-cache.js';
import { DAY_MS, toIsoString } from '../../../lib/time.js';
import type { ProjectFigure, ProjectLine, ProjectPartProvider } from '../../../ports/domain/projects.js';
import type { LicenseState } from '../model/states.js';
import { toShownLicense, type LicensePageServices } from './page-context.js';

const MAX_SHOWN_LICENSES = 3;
const EXPIRING_DAYS = 90;
const MAX_AGE_MS = 10_000;
const MAX_WAIT_MS = 20;
const STATE_TONES: readonly [LicenseState, ProjectFigure['tone']][] = [
  ['active', 'success'],
  ['pending', 'warning'],
  ['expired', 'warning'],
  ['inactive', null],
  ['revoked', null],
];

const toLine = (license: Parameters<typeof toShownLicense>[0]): ProjectLine => {
  const { name, href, status, tone, created_at } = toShownLicense(license);
  // Active is the normal case.
  const badge = status === 'active' ? null : { text: status, tone: tone as 'success' };
  return { title: name, href, detail: 'created', badge, at: created_at };
};

export function buildLicensePart({ licenses, deps }: LicensePageServices): ProjectPartProvider {
  const counts = new ReadCache<number>({ max: 500, ttlMs: MAX_AGE_MS, now: () => deps.clock.monotonic() });
  const count = (product: string, status: LicenseState): Promise<number | null> =>
    counts.getWithin(MAX_WAIT_MS, `${product} ${status}`, () =>
      deps.licenses.count(licenses.buildFilter({ kind: 'public' }, { product, status })),
    );
  return {
    id: 'licenses',
    order: 60,
    loadPart: async ({ slug }) => {
      const everybody = { kind: 'public' } as const;
      const address = `/licenses?product=${encodeURIComponent(slug)}`;
      const until = toIsoString(deps.clock.now() + EXPIRING_DAYS * DAY_MS);
      const [expiring, page, ...counted] = await Promise.all([
        licenses.listExpiring(slug, until, MAX_SHOWN_LICENSES),
        licenses.listPage(everybody, { product: slug, limit: MAX_SHOWN_LICENSES }),
        ...STATE_TONES.map(([status]) => count(slug, status)),
      ]);
      const figures = STATE_TONES.flatMap(([status, tone], i): ProjectFigure[] => {
        const value = counted[i] ?? null;
        return value === 0 ? [] : [{ label: status, value, href: `${address}&status=${status}`, tone }];
      });
      return {
        heading: expiring.length > 0 ? 'Expiring licenses' : 'Licenses',
        figures_heading: 'Licenses',
        all: { label: 'View all licenses', href: address },
        customers: { label: 'Customer page', href: `/license?product=${encodeURIComponent(slug)}` },
        figures,
        lines: [
          ...expiring.map((license): ProjectLine => {
            const { name, href, expires_at } = toShownLicense(license);
            return { title: name, href, detail: null, badge: null, at: expires_at };
          }),
          ...page.items
            .filter(({ id }) => expiring.every((one) => one.id !== id))
            .slice(0, MAX_SHOWN_LICENSES - expiring.length)
            .map(toLine),
        ],
        empty:
          page.items.length === 0
            ? { text: 'No licenses', label: 'New license', href: `/licenses/new?product=${encodeURIComponent(slug)}` }
            : null,
      };
    },
  };
}
