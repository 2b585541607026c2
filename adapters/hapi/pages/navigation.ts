import type { Clock } from '../../../ports/clock.js';
import type { Logger } from '../../../ports/logger.js';
import type { MountedPage, Role } from '../../../ports/http.js';
import { withTimeout } from './panels.js';
import { textOf } from '../wire/failure.js';

const SECTIONS = ['overview', 'work', 'operations', 'delivery', 'administration'] as const;

export interface NavItem {
  href: string;
  label: string;
  icon: string;
  badge: number | null;
  at: string[];
}
export interface NavSection {
  section: (typeof SECTIONS)[number];
  items: NavItem[];
}

/**
 * Age in ms after which a badge is refreshed in the background. Pages wait only for a count older
 * than the maximum age. A submitted form invalidates all badges.
 */
const FRESH_MS = 1_000;
const KEPT_MS = 2_000;

type Entry = Required<Pick<MountedPage['spec'], 'nav'>> & { page: MountedPage };

interface Counted {
  at: number;
  badge: Promise<number | null>;
  renewing: boolean;
}

export class Navigation {
  readonly #entries: readonly Entry[];
  readonly #counted = new Map<Entry, Counted>();

  constructor(
    pages: readonly MountedPage[],
    private readonly log: Logger,
    private readonly clock: Pick<Clock, 'monotonic'>,
    private readonly timeoutMs: number,
  ) {
    this.#entries = pages
      .flatMap((page) => (page.spec.nav ? [{ page, nav: page.spec.nav }] : []))
      .sort((a, b) => a.nav.order - b.nav.order || (a.nav.label < b.nav.label ? -1 : 1));
  }

  changed(): void {
    this.#counted.clear();
  }

  /** Returns the sections that this role may open. A badge that fails or is slow is omitted. */
  async for(role: Role): Promise<NavSection[]> {
    const shown = this.#entries.filter(({ page }) => page.ready() && mayOpen(page.spec.access, role));
    const badges = await Promise.all(shown.map((entry) => this.#fresh(entry)));
    const listed = shown.map(({ page, nav }, i) => ({ href: page.spec.path, nav, badge: badges[i] ?? null }));
    const own = (href: string): typeof listed => listed.filter(({ nav }) => nav.within === href);
    const top = listed.filter(({ nav }) => !listed.some(({ href }) => href === nav.within));
    const items = top.map(({ href, nav, badge }) => ({
      section: nav.section,
      item: {
        href,
        label: nav.label,
        icon: nav.icon,
        badge: own(href).reduce((sum, one) => (sum ?? 0) + (one.badge ?? 0), badge) || null,
        at: [href, ...own(href).map((one) => one.href)],
      },
    }));
    return SECTIONS.map((section) => ({
      section,
      items: items.filter((entry) => entry.section === section).map((entry) => entry.item),
    })).filter(({ items: some }) => some.length > 0);
  }

  /** Returns the first page that this role may open, by default the account's own page. */
  first(role: Role): string {
    const shown = this.#entries.filter(({ page }) => mayOpen(page.spec.access, role));
    const bySection = SECTIONS.flatMap((section) => shown.filter(({ nav }) => nav.section === section));
    return bySection[0]?.page.spec.path ?? '/account';
  }

  #fresh(entry: Entry): Promise<number | null> {
    const known = this.#counted.get(entry);
    const age = known === undefined ? Infinity : this.clock.monotonic() - known.at;
    if (known === undefined || age >= KEPT_MS) {
      const counted = this.#count(entry);
      this.#counted.set(entry, counted);
      return counted.badge;
    }
    if (age >= FRESH_MS && !known.renewing) void this.#renew(entry, known);
    return known.badge;
  }

  async #renew(entry: Entry, known: Counted): Promise<void> {
    known.renewing = true;
    const next = this.#count(entry);
    await next.badge;
    // Discarded if it was invalidated in the meantime.
    if (this.#counted.get(entry) === known) this.#counted.set(entry, next);
  }

  #count(entry: Entry): Counted {
    return { at: this.clock.monotonic(), badge: this.#badge(entry), renewing: false };
  }

  async #badge({ page, nav }: Entry): Promise<number | null> {
    if (!nav.badge) return null;
    try {
      return await withTimeout(this.timeoutMs, Promise.resolve(nav.badge()));
    } catch (thrown) {
      this.log.warn({ plugin: page.plugin, page: page.spec.path, err: thrown }, `a badge failed: ${textOf(thrown)}`);
      return null;
    }
  }
}

export const mayOpen = (access: MountedPage['spec']['access'], role: Role): boolean =>
  access === 'public' || role === 'admin' || (role === 'member' && access.session === 'member');
