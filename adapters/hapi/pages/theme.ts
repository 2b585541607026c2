import { Redirect, type MountedPage } from '../../../ports/http/index.js';

const YEAR_SECONDS = 31_536_000;

export const createThemePage = (): MountedPage => ({
  plugin: 'hapi',
  views: '',
  ready: () => true,
  spec: {
    method: 'POST',
    path: '/theme',
    title: 'Colours',
    access: 'public',
    handle: ({ body }) => {
      const { theme, back } = body as Record<string, unknown>;
      const to = typeof back === 'string' && /^\/(?![/\\])/.test(back) ? back : '/';
      const chosen = theme === 'light' || theme === 'dark' ? theme : null;
      return new Redirect(to).cookie({
        name: 'svc_theme',
        value: chosen,
        ...(chosen && { maxAgeSeconds: YEAR_SECONDS }),
      });
    },
  },
});
