/** `GET /` where no plugin has a page of that address: leads to the first page of the navigation. */
import { Redirect, type MountedPage, type Role } from '../../../ports/http.js';

/** @param first the address of the first page that a role may open */
export const homePage = (first: (role: Role) => string): MountedPage => ({
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
