import { Redirect, type MountedPage, type Role } from '../../../ports/http/index.js';
import { SETTINGS_PATH } from './navigation-tree.js';

/** Redirects to the first settings page that the role may open. */
export const createSettingsPage = (first: (role: Role) => string): MountedPage => ({
  plugin: 'hapi',
  views: '',
  ready: () => true,
  spec: {
    path: SETTINGS_PATH,
    title: 'Settings',
    access: { session: 'member' },
    handle: ({ principal }) => new Redirect(first(principal.kind === 'session' ? principal.role : 'member')),
  },
});
