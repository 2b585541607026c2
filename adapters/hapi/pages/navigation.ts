import type { Clock } from '../../../ports/clock.js';
import type { Logger } from '../../../ports/logger.js';
import type { MountedPage, Role } from '../../../ports/http/index.js';
import { withTimeout } from './panels.js';
import { getErrorText } from '../wire/failure.js';
import { buildNavView, compareNav, groupSettings, type NavPage, type NavView } from './navigation-tree.js';

const SECTION_NAMES = ['overview', 'work', 'operations', 'delivery'] as const;

/**
 * Age in ms after which a badge is refreshed in the background. Pages wait only for a count older
 * than the maximum age.
 */
const BADGE_REFRESH_MS = 1_000;
const MAX_BADGE_AGE_MS = 2_000;
const MAX_CACHED_BADGES = 1_000;

type NavigationEntry = Required<Pick<MountedPage['spec'], 'nav'>> & { page: MountedPage };

interface BadgeCount {
  at: number;
  badge: Promise<number | null>;
  renewing: boolean;
}

export class Navigation {
  readonly #entries: readonly NavigationEntry[];
  readonly #counted = new Map<string, BadgeCount>();

  constructor(
    pages: readonly MountedPage[],
    private readonly log: Logger,
    private readonly clock: Pick<Clock, 'monotonic'>,
    private readonly timeoutMs: number,
  ) {
    this.#entries = pages
      .flatMap((page) => (page.spec.nav ? [{ page, nav: page.spec.nav }] : []))
      .sort((a, b) => compareNav(a.nav, b.nav));
  }

  invalidateBadges(): void {
    this.#counted.clear();
  }

  /**
   * A badge that fails or is slow is omitted.
   * @param path the page shown, or the entry that it belongs to; `null` for none
   */
  async getView(role: Role, path: string | null, project: string | null = null): Promise<NavView> {
    return buildNavView(await this.listPages(role, project), path);
  }

  async listPages(role: Role, project: string | null = null): Promise<NavPage[]> {
    const shown = this.#listEntries(role).filter(({ page }) => page.ready());
    const badges = await Promise.all(shown.map((entry) => this.#getBadge(entry, project)));
    return shown.map(({ page, nav }, i) => ({ href: page.spec.path, nav, badge: badges[i] ?? null }));
  }

  /** Returns the first page that this role may open, by default the account's own page. */
  getFirstPath(role: Role): string {
    const shown = this.#listEntries(role);
    const bySection = SECTION_NAMES.flatMap((section) => shown.filter(({ nav }) => nav.section === section));
    return bySection[0]?.page.spec.path ?? '/account';
  }

  /** Returns the first settings page that this role may open, by default the account's own page. */
  getFirstSettingsPath(role: Role): string {
    const settings = this.#listEntries(role).filter(({ nav }) => nav.section === 'administration');
    return groupSettings(settings)[0]?.items[0]?.page.spec.path ?? '/account';
  }

  #listEntries(role: Role): NavigationEntry[] {
    return this.#entries.filter(({ page }) => canOpen(page.spec.access, role));
  }

  #getBadge(entry: NavigationEntry, project: string | null): Promise<number | null> {
    const key = `${entry.page.spec.path} ${project ?? ''}`;
    const known = this.#counted.get(key);
    const age = known === undefined ? Infinity : this.clock.monotonic() - known.at;
    if (known === undefined || age >= MAX_BADGE_AGE_MS) {
      const counted = this.#startCount(entry, project);
      if (known === undefined && this.#counted.size >= MAX_CACHED_BADGES) this.#counted.clear();
      this.#counted.set(key, counted);
      return counted.badge;
    }
    if (age >= BADGE_REFRESH_MS && !known.renewing) void this.#renewBadge({ key, entry, project }, known);
    return known.badge;
  }

  async #renewBadge(
    { key, entry, project }: { key: string; entry: NavigationEntry; project: string | null },
    known: BadgeCount,
  ): Promise<void> {
    known.renewing = true;
    const next = this.#startCount(entry, project);
    await next.badge;
    // Discarded if it was invalidated in the meantime.
    if (this.#counted.get(key) === known) this.#counted.set(key, next);
  }

  #startCount(entry: NavigationEntry, project: string | null): BadgeCount {
    return { at: this.clock.monotonic(), badge: this.#loadBadge(entry, project), renewing: false };
  }

  async #loadBadge({ page, nav }: NavigationEntry, project: string | null): Promise<number | null> {
    if (!nav.badge) return null;
    try {
      return await withTimeout(this.timeoutMs, Promise.resolve(nav.badge(project)));
    } catch (thrown) {
      this.log.warn(
        { plugin: page.plugin, page: page.spec.path, err: thrown },
        `a badge failed: ${getErrorText(thrown)}`,
      );
      return null;
    }
  }
}

export const canOpen = (access: MountedPage['spec']['access'], role: Role): boolean =>
  access === 'public' || role === 'admin' || (role === 'member' && access.session === 'member');
