import { Redirect, type MountedPage, type Role } from '../../../ports/http/index.js';

export const createHomePage = (first: (role: Role) => string): MountedPage => ({
  plugin: 'hapi',
  views: '',
  ready: () => true,
  spec: {
    path: '/',
    title: 'AOS',
    access: { session: 'member' },
    handle: ({ principal }) => new Redirect(first(principal.kind === 'session' ? principal.role : 'member')),
  },
});
