import { Reply, type MountedPage, type Role } from '../../../ports/http.js';
import type { NavSection } from './navigation.js';

export const createCountsPage = (sections: (role: Role) => Promise<NavSection[]>): MountedPage => ({
  plugin: 'hapi',
  views: '',
  ready: () => true,
  spec: {
    path: '/navigation',
    title: 'Navigation counts',
    access: { session: 'member' },
    handle: async ({ principal }) => {
      const shown = principal.kind === 'session' ? await sections(principal.role) : [];
      const items = shown.flatMap((section) => section.items);
      return new Reply(200, { badges: Object.fromEntries(items.map(({ href, badge }) => [href, badge])) });
    },
  },
});
