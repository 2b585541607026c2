import { expect } from 'chai';
import { buildNavView, type NavLink, type NavPage } from '../../../../adapters/hapi/pages/navigation-tree.js';
import type { PageNav } from '../../../../ports/http/index.js';

const page = (href: string, nav: Partial<PageNav> = {}, badge: number | null = null): NavPage => ({
  href,
  badge,
  nav: { section: 'work', label: href.slice(1), icon: 'bug', order: 10, ...nav },
});

const PAGES: NavPage[] = [
  page('/users', { section: 'administration', order: 1 }),
  page('/hooks', { section: 'administration', group: 'alerts', order: 1 }, 2),
  page('/system', { section: 'administration', group: 'system', order: 1 }),
  page('/docs', { section: 'help' }),
  page('/releases', { section: 'delivery' }),
  page('/', { section: 'overview', label: 'Home', order: 0 }),
  page('/monitors', { section: 'operations', tab: 'List' }, 3),
  page('/incidents', { section: 'operations', order: 30, within: '/monitors' }, 1),
  page('/hierarchy', { section: 'operations', order: 20, within: '/monitors' }),
  // Plugins from outside add themselves by the same names.
  page('/oncall', { section: 'operations', order: 90 }, 4),
  page('/shifts', { section: 'operations', order: 40, within: '/incidents' }, 5),
  page('/paging', { section: 'administration', group: 'alerts', order: 9 }),
  page('/lost', { section: 'work', within: '/missing' }),
];

const hrefs = (links: readonly NavLink[] = []): string[] => links.map(({ href }) => href);
const current = (links: readonly NavLink[] = []): string[] => hrefs(links.filter((link) => link.current));

describe('hapi: navigation tree', () => {
  it('lists entries by section and order, without the tabs, settings and help pages', () => {
    const { entries, help } = buildNavView(PAGES, '/');
    expect(hrefs(entries)).to.deep.equal(['/', '/lost', '/monitors', '/oncall', '/releases']);
    expect(hrefs(help)).to.deep.equal(['/docs']);
  });

  it('counts the badges of all tabs at their entry, and of all settings at Settings', () => {
    const { entries, settings } = buildNavView(PAGES, '/');
    expect(entries.find(({ href }) => href === '/monitors')?.badge).to.equal(9);
    expect(entries.find(({ href }) => href === '/releases')?.badge).to.equal(null);
    expect(settings).to.include({ href: '/settings', badge: 2, current: false });
  });

  for (const [path, entry, tab] of [
    ['/monitors', '/monitors', '/monitors'],
    ['/monitors/web-1', '/monitors', '/monitors'],
    ['/hierarchy', '/monitors', '/hierarchy'],
    ['/shifts/7', '/monitors', '/shifts'],
  ] as const)
    it(`shows the tabs of ${entry} on ${path}`, () => {
      const { entries, tabs } = buildNavView(PAGES, path);
      expect(current(entries)).to.deep.equal([entry]);
      expect(hrefs(tabs?.items)).to.deep.equal(['/monitors', '/hierarchy', '/incidents', '/shifts']);
      expect(tabs?.items.map(({ label }) => label)).to.deep.equal(['List', 'hierarchy', 'incidents', 'shifts']);
      expect(tabs?.items.map(({ badge }) => badge)).to.deep.equal([3, null, 1, 5]);
      expect(current(tabs?.items)).to.deep.equal([tab]);
    });

  for (const path of ['/', '/releases', '/elsewhere', '/monitorsx', null])
    it(`shows no tabs and no settings on ${path ?? 'a page without an entry'}`, () => {
      const { tabs, groups, settings, entries } = buildNavView(PAGES, path);
      expect([tabs, groups, settings?.current]).to.deep.equal([null, null, false]);
      expect(current(entries)).to.deep.equal(path === '/' || path === '/releases' ? [path] : []);
    });

  it('groups the settings on each of their pages', () => {
    for (const path of ['/users', '/users/eve', '/paging', '/settings']) {
      const { groups, settings, tabs, entries } = buildNavView(PAGES, path);
      expect(groups?.map(({ group, items }) => [group, hrefs(items)])).to.deep.equal([
        ['workspace', ['/users']],
        ['alerts', ['/hooks', '/paging']],
        ['system', ['/system']],
      ]);
      expect([settings?.current, tabs, current(entries)]).to.deep.equal([true, null, []]);
      const here = PAGES.find(({ href }) => path.startsWith(href) && href !== '/');
      expect(current(groups?.flatMap(({ items }) => items))).to.deep.equal(here ? [here.href] : []);
    }
  });

  it('omits Settings without any page in it', () => {
    const view = buildNavView(
      PAGES.filter(({ nav }) => nav.section !== 'administration'),
      '/',
    );
    expect(view.settings).to.equal(null);
  });

  it('lists pages that name each other as entries', () => {
    const pages = [page('/a', { within: '/b' }), page('/b', { within: '/a' })];
    expect(hrefs(buildNavView(pages, '/a').entries)).to.deep.equal(['/a', '/b']);
  });
});
