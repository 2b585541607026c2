/** POST /theme: light, dark or system, stored in a cookie so that it works without scripts. */
import joi from 'joi';
import { Redirect, type PageSpec } from '../../kernel/contract/index.js';
import { invalid } from '../../kernel/errors.js';

const COOKIE_MAX_AGE_SECONDS = 365 * 24 * 3600;

const themeForm = joi
  .object({ theme: joi.string().valid('light', 'dark', 'auto').required(), back: joi.string().allow('').default('/') })
  .unknown();

/** Returns a path of this service, else the dashboard, to prevent open redirects (`//x`, `/\x`). */
export function toLocalPath(back: string): string {
  return /^\/(?![/\\])[^\s\\]*$/.test(back) && back.length <= 2000 ? back : '/';
}

export const themePage: PageSpec = {
  method: 'POST',
  path: '/theme',
  title: 'Theme',
  access: { session: 'member' },
  handle: ({ body }) => {
    const { error, value } = themeForm.validate(body ?? {});
    if (error) throw invalid({ theme: 'must be light, dark or auto' });
    const { theme, back } = value as { theme: string; back: string };
    return Redirect.toUntrusted(toLocalPath(back)).cookie({
      name: 'svc_theme',
      value: theme,
      maxAgeSeconds: COOKIE_MAX_AGE_SECONDS,
    });
  },
};
