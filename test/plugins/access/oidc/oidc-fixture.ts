import { NodeOutbound } from '../../../../adapters/node/outbound.js';
import type { Role } from '../../../../ports/http/index.js';
import { OIDC_CLIENT } from '../../../support/oidc-provider.js';
import { PASSWORD } from '../fixture.js';
import { HttpFixture, type Answer, type Browser } from '../http-fixture.js';

export const BASE_URL = 'http://aos.test';
export const ROLE_MAP: Record<string, Role> = { admins: 'admin', staff: 'member', machines: 'installer' };

/** The service with a provider as its way in. */
export const openWith = (
  issuer: string,
  oidc: Record<string, unknown> = {},
  auth: Record<string, unknown> = {},
): Promise<HttpFixture> =>
  HttpFixture.open({
    sections: {
      auth: {
        admin_user: 'admin',
        admin_password: PASSWORD,
        ...auth,
        oidc: { issuer, ...OIDC_CLIENT, role_map: ROLE_MAP, ...oidc },
      },
    },
    parts: { outbound: new NodeOutbound() },
  });

/** @returns the authorization request to which the browser is sent */
export async function beginSignIn(browser: Browser, next?: string): Promise<string> {
  const query = next === undefined ? '' : `?next=${encodeURIComponent(next)}`;
  const { status, headers, text } = await browser.get(`/auth/oidc/start${query}`);
  if (status !== 303) throw new Error(`start → ${status} ${text}`);
  return String(headers['location']);
}

/** The path and query of a callback's address. */
export const toPath = (url: string): string => url.slice(BASE_URL.length);

export const readUsername = async (browser: Browser): Promise<string | null> => {
  const { status, text } = await browser.get('/account');
  return status === 200 ? (/<h1 class="page-title">([^<]+)</.exec(text)?.[1] ?? null) : null;
};

/** The sentence of an error page. */
export const readSentence = ({ text }: Answer): string => /<\/div>\s*<p>([^<]+)<\/p>/.exec(text)?.[1] ?? '';
