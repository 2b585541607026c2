/** Arranges pages as sidebar entries, tabs, settings groups and the help menu (contract 80). */
import type { NavGroup, PageNav } from '../../../ports/http/index.js';

const SIDEBAR_SECTIONS: readonly PageNav['section'][] = ['overview', 'work', 'operations', 'delivery'];
export const SETTINGS_GROUPS: readonly { group: NavGroup; label: string }[] = [
  { group: 'workspace', label: 'Workspace' },
  { group: 'project', label: 'Project' },
  { group: 'alerts', label: 'Alerts & integrations' },
  { group: 'system', label: 'System' },
];

/** A page with a place in the navigation, and its badge count. */
export interface NavPage {
  href: string;
  nav: PageNav;
  badge: number | null;
}

export interface NavLink {
  href: string;
  label: string;
  icon: string;
  badge: number | null;
  current: boolean;
}

export interface NavGroupLinks {
  group: NavGroup;
  label: string;
  items: NavLink[];
}

/** What the layout shows: `settings` and `tabs` only on pages that belong to them. */
export interface NavView {
  entries: NavLink[];
  settings: NavLink | null;
  help: NavLink[];
  tabs: { label: string; items: NavLink[] } | null;
  groups: NavGroupLinks[] | null;
  /** Label of the current page, for the settings menu of small screens. */
  here: string | null;
}

export const NO_NAVIGATION: NavView = {
  entries: [],
  settings: null,
  help: [],
  tabs: null,
  groups: null,
  here: null,
};

export const compareNav = (a: PageNav, b: PageNav): number => a.order - b.order || (a.label < b.label ? -1 : 1);

/** Returns the page that a path belongs to: itself, or the nearest one above it. */
export function findNavPage<T extends { href: string }>(pages: readonly T[], path: string): T | null {
  const above = pages.filter(({ href }) => path === href || (href !== '/' && path.startsWith(`${href}/`)));
  return above.reduce<T | null>(
    (best, one) => (best === null || one.href.length > best.href.length ? one : best),
    null,
  );
}

/** @param path the page's path, or that of the entry that it belongs to; `null` for none */
export function buildNavView(pages: readonly NavPage[], path: string | null): NavView {
  const sorted = pages.toSorted((a, b) => compareNav(a.nav, b.nav));
  const current = path === null ? null : findNavPage(sorted, path);
  const root = current && findRoot(sorted, current);
  const toLink = (page: NavPage, isCurrent: boolean, label = page.nav.label): NavLink => ({
    href: page.href,
    label,
    icon: page.nav.icon,
    badge: page.badge,
    current: isCurrent,
  });
  const listTabs = (entry: NavPage): NavPage[] => sorted.filter((page) => findRoot(sorted, page) === entry);
  const toEntry = (entry: NavPage): NavLink => ({
    ...toLink(entry, entry === root),
    badge: sumBadges(listTabs(entry)),
  });
  const roots = sorted.filter((page) => findRoot(sorted, page) === page);
  const entries = SIDEBAR_SECTIONS.flatMap((section) => roots.filter(({ nav }) => nav.section === section));
  const settings = sorted.filter(({ nav }) => nav.section === 'administration');
  const isSettings = current?.nav.section === 'administration' || path === SETTINGS_PATH;
  const tabs = root === null || isSettings ? [] : listTabs(root);
  return {
    entries: entries.map(toEntry),
    settings:
      settings.length === 0
        ? null
        : {
            href: SETTINGS_PATH,
            label: 'Settings',
            icon: 'settings',
            badge: sumBadges(settings),
            current: isSettings,
          },
    help: sorted.filter(({ nav }) => nav.section === 'help').map((page) => toLink(page, page === current)),
    tabs:
      root !== null && tabs.length > 1
        ? {
            label: root.nav.label,
            items: [root, ...tabs.filter((page) => page !== root)].map((page) =>
              toLink(page, page === current, page.nav.tab),
            ),
          }
        : null,
    groups: isSettings
      ? groupSettings(settings).map(({ group, label, items }) => ({
          group,
          label,
          items: items.map((page) => toLink(page, page === current)),
        }))
      : null,
    here: current?.nav.label ?? null,
  };
}

export const SETTINGS_PATH = '/settings';

/** Returns the settings pages by group, without empty groups. */
export function groupSettings<T extends { nav: PageNav }>(
  settings: readonly T[],
): { group: NavGroup; label: string; items: T[] }[] {
  return SETTINGS_GROUPS.map(({ group, label }) => ({
    group,
    label,
    items: settings.filter(({ nav }) => (nav.group ?? 'workspace') === group),
  })).filter(({ items }) => items.length > 0);
}

/**
 * An entry whose parent is missing, or not for this role, stands for itself; settings always do.
 */
function findRoot(pages: readonly NavPage[], page: NavPage): NavPage {
  const seen = new Set<NavPage>();
  let root = page;
  while (!seen.has(root)) {
    seen.add(root);
    const { within, section } = root.nav;
    const parent = section === 'administration' ? undefined : pages.find(({ href }) => href === within);
    if (parent === undefined || parent.nav.section === 'administration') return root;
    root = parent;
  }
  return page;
}

const sumBadges = (pages: readonly NavPage[]): number | null =>
  pages.reduce((sum, { badge }) => sum + (badge ?? 0), 0) || null;
