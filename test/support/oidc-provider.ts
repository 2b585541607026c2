/** A certified OpenID Connect provider on loopback, and a browser that signs in there. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateKeyPairSync } from 'node:crypto';
import { Provider, type Configuration } from 'oidc-provider';

export const OIDC_CLIENT = { client_id: 'aos', client_secret: 'secret-of-the-client-0123456789' };

export interface ProviderUser {
  [claim: string]: unknown;
  groups?: string[];
}

function buildConfiguration(users: Map<string, ProviderUser>, redirectUri: string, logoutUri: string): Configuration {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    clients: [
      {
        ...OIDC_CLIENT,
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [logoutUri],
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    scopes: ['openid', 'profile', 'email', 'groups'],
    claims: {
      openid: ['sub'],
      profile: ['name', 'preferred_username'],
      email: ['email', 'email_verified'],
      groups: ['groups'],
    },
    cookies: { keys: ['key of the tests'] },
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'key-1', use: 'sig', alg: 'RS256' }] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: true } },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, ...users.get(id) }),
    }),
    loadExistingGrant: async (context) => {
      const { client, session } = context.oidc;
      const grant = new context.oidc.provider.Grant({
        clientId: client?.clientId ?? '',
        accountId: session?.accountId ?? '',
      });
      grant.addOIDCScope('openid profile email groups');
      await grant.save();
      return grant;
    },
  };
}

export class TestOidcProvider {
  private constructor(
    readonly issuer: string,
    private readonly server: Server,
    /** Claims by subject. */
    readonly users: Map<string, ProviderUser>,
  ) {}

  /** @param baseUrl of the service */
  static async start(baseUrl: string): Promise<TestOidcProvider> {
    const users = new Map<string, ProviderUser>();
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const configuration = buildConfiguration(users, `${baseUrl}/auth/oidc/callback`, `${baseUrl}/login`);
    const answer = new Provider(issuer, configuration).callback();
    server.on('request', (request, response) => void answer(request, response));
    return new TestOidcProvider(issuer, server, users);
  }

  /**
   * Signs in at the provider, by its own forms and cookies.
   * @param url authorization request
   * @returns the callback's address
   */
  async authorize(url: string, subject: string): Promise<string> {
    const cookies = new Map<string, string>();
    const send = async (to: string, form?: Record<string, string>): Promise<Response> => {
      const response = await fetch(to, {
        redirect: 'manual',
        headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
        ...(form !== undefined && { method: 'POST', body: new URLSearchParams(form) }),
      });
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        cookies.set(name, value);
      }
      return response;
    };
    let at = url;
    for (let steps = 0; steps < 10; steps++) {
      if (!at.startsWith(this.issuer)) return at;
      const isPrompt = at.startsWith(`${this.issuer}/interaction/`);
      const response = await send(at, isPrompt ? { prompt: 'login', login: subject, password: 'any' } : undefined);
      const location = response.headers.get('location');
      if (location === null) throw new Error(`${at} → ${response.status}: ${await response.text()}`);
      at = new URL(location, at).href;
    }
    throw new Error('the provider redirects without end');
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
