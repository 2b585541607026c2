import joi from 'joi';
import { Reply, type MountedPage, type Role } from '../../../ports/http/index.js';
import type { NavSection } from './navigation.js';

export const createCountsPage = (
  sections: (role: Role, project: string | null) => Promise<NavSection[]>,
): MountedPage => ({
  plugin: 'hapi',
  views: '',
  ready: () => true,
  spec: {
    path: '/navigation',
    title: 'Navigation counts',
    access: { session: 'member' },
    projectQuery: 'project',
    input: { query: joi.object({ project: joi.string().max(64) }) },
    handle: async ({ principal, chosenProject }) => {
      const shown = principal.kind === 'session' ? await sections(principal.role, chosenProject ?? null) : [];
      const items = shown.flatMap((section) => section.items);
      return new Reply(200, { badges: Object.fromEntries(items.map(({ href, badge }) => [href, badge])) });
    },
  },
});
