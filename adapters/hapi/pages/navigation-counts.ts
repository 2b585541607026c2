import joi from 'joi';
import { Reply, type MountedPage, type Role } from '../../../ports/http/index.js';
import type { NavView } from './navigation-tree.js';

export const createCountsPage = (
  getView: (role: Role, path: string | null, project: string | null) => Promise<NavView>,
): MountedPage => ({
  plugin: 'hapi',
  views: '',
  ready: () => true,
  spec: {
    path: '/navigation',
    title: 'Navigation counts',
    access: { session: 'member' },
    projectQuery: 'project',
    input: { query: joi.object({ project: joi.string().max(64), at: joi.string().max(2048) }) },
    handle: async ({ principal, query, chosenProject }) => {
      if (principal.kind !== 'session') return new Reply(200, { badges: {}, tabs: {} });
      const at = (query['at'] as string | undefined) ?? null;
      const { entries, settings, tabs, groups } = await getView(principal.role, at, chosenProject ?? null);
      const inner = [...(tabs?.items ?? []), ...(groups ?? []).flatMap(({ items }) => items)];
      return new Reply(200, {
        badges: listBadges(settings === null ? entries : [...entries, settings]),
        tabs: listBadges(inner),
      });
    },
  },
});

const listBadges = (links: readonly { href: string; badge: number | null }[]): Record<string, number | null> =>
  Object.fromEntries(links.map(({ href, badge }) => [href, badge]));
