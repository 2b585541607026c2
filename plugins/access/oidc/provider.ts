/**
 * The provider, discovered at the first sign-in and not at the start, so that the service runs
 * while the provider does not. Each sign-in retries a failed discovery.
 */
import type { Configuration, IDToken } from 'openid-client';
import { OutboundError, type Clock, type Logger } from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import { HOUR_MS } from '../../../lib/time.js';
import type { Outbound } from '../../../ports/outbound.js';
import { hasClaim, type Claims } from './claims.js';
import { refuseSignIn } from './errors.js';
import { createProviderFetch, PROVIDER_TIMEOUT_MS } from './provider-fetch.js';
import { isLoopbackUrl, type OidcSettings } from './settings.js';

/** After it, keys and addresses of the provider are read again. */
const METADATA_LIFETIME_MS = HOUR_MS;

export interface AuthorizationSecrets {
  state: string;
  nonce: string;
  verifier: string;
}

export interface ProviderAnswer {
  issuer: string;
  subject: string;
  claims: Claims;
  idToken: string;
}

export class OidcProvider {
  readonly #flight = new SingleFlight<Configuration>();
  #known: { configuration: Configuration; at: number } | null = null;

  constructor(
    private readonly settings: OidcSettings & { issuer: string },
    private readonly redirectUri: string,
    private readonly ports: { outbound: Outbound; clock: Clock; log: Logger },
  ) {}

  /** @throws ServiceError provider_unavailable */
  async buildAuthorizationUrl(): Promise<{ url: string; secrets: AuthorizationSecrets }> {
    const client = await import('openid-client');
    const configuration = await this.#getConfiguration();
    const secrets = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
    };
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: this.redirectUri,
      scope: this.settings.scopes.join(' '),
      state: secrets.state,
      nonce: secrets.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(secrets.verifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, secrets };
  }

  /**
   * Exchanges the code and verifies the ID token: signature, issuer, audience, nonce, times.
   * @throws ServiceError sign_in_failed, provider_unavailable
   */
  async exchange(
    parameters: URLSearchParams,
    { state, nonce, verifier }: AuthorizationSecrets,
  ): Promise<ProviderAnswer> {
    const configuration = await this.#getConfiguration();
    const client = await import('openid-client');
    const callback = new URL(this.redirectUri);
    callback.search = parameters.toString();
    try {
      const tokens = await client.authorizationCodeGrant(configuration, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined || tokens.id_token === undefined) throw new Error('the answer has no ID token');
      const extra = await this.#fetchMissingClaims(configuration, tokens.access_token, claims);
      // Only the ID token is signed.
      return { issuer: claims.iss, subject: claims.sub, claims: { ...extra, ...claims }, idToken: tokens.id_token };
    } catch (error) {
      throw this.#toServiceError(error);
    }
  }

  /** Returns the provider's logout page; null where it has none, or cannot be asked. */
  async buildLogoutUrl(idToken: string, returnTo: string): Promise<string | null> {
    const client = await import('openid-client');
    let configuration: Configuration;
    try {
      configuration = await this.#getConfiguration();
    } catch (error) {
      if (error instanceof ServiceError) return null;
      throw error;
    }
    if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
    return client.buildEndSessionUrl(configuration, { id_token_hint: idToken, post_logout_redirect_uri: returnTo })
      .href;
  }

  async #fetchMissingClaims(configuration: Configuration, accessToken: string, claims: IDToken): Promise<Claims> {
    const isComplete = hasClaim(claims, this.settings.role_claim) && hasClaim(claims, 'email');
    if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) return {};
    const client = await import('openid-client');
    return client.fetchUserInfo(configuration, accessToken, claims.sub);
  }

  async #getConfiguration(): Promise<Configuration> {
    const known = this.#known;
    if (known !== null && this.ports.clock.monotonic() - known.at < METADATA_LIFETIME_MS) return known.configuration;
    try {
      return await this.#flight.share('discovery', () => this.#discover());
    } catch (error) {
      const failure = this.#toServiceError(error, 'provider_unavailable');
      if (known !== null) return known.configuration;
      throw failure;
    }
  }

  async #discover(): Promise<Configuration> {
    const client = await import('openid-client');
    const { issuer, client_id, client_secret } = this.settings;
    const fetch = createProviderFetch(this.ports.outbound);
    const isInsecure = issuer.startsWith('http:') && isLoopbackUrl(issuer);
    const options = {
      [client.customFetch]: fetch,
      timeout: PROVIDER_TIMEOUT_MS / 1000,
      ...(isInsecure && { execute: [client.allowInsecureRequests] }),
    };
    const found = await client.discovery(new URL(issuer), client_id, undefined, client.None(), options);
    const methods = found.serverMetadata().token_endpoint_auth_methods_supported;
    const authenticate =
      client_secret === ''
        ? client.None()
        : methods === undefined || methods.includes('client_secret_basic')
          ? client.ClientSecretBasic(client_secret)
          : client.ClientSecretPost(client_secret);
    const configuration = new client.Configuration(found.serverMetadata(), client_id, undefined, authenticate);
    configuration[client.customFetch] = fetch;
    configuration.timeout = options.timeout;
    if (isInsecure) client.allowInsecureRequests(configuration);
    // The library trusts the token endpoint's TLS; the signature is checked in addition.
    client.enableNonRepudiationChecks(configuration);
    this.#known = { configuration, at: this.ports.clock.monotonic() };
    return configuration;
  }

  /** Texts of the provider go to the log alone. */
  #toServiceError(
    error: unknown,
    fallback: 'sign_in_failed' | 'provider_unavailable' = 'sign_in_failed',
  ): ServiceError {
    const chain = listCauses(error);
    const detail = chain.map(describeCause).join(': ');
    this.ports.log.warn({ issuer: this.settings.issuer, detail }, 'a sign-in with the provider failed');
    const isUnreachable = chain.some((one) => one instanceof OutboundError || /^(Timeout|Abort)Error$/.test(one.name));
    if (isUnreachable || fallback === 'provider_unavailable')
      return refuseSignIn('provider_unavailable', 'The sign-in provider doesn’t respond. Try again later.', {
        headers: { 'retry-after': '30' },
      });
    const { error: code } = (chain[0] ?? {}) as { error?: unknown };
    if (code === 'access_denied') return refuseSignIn('sign_in_denied', 'The sign-in was canceled or denied.');
    return refuseSignIn('sign_in_failed', 'The sign-in provider’s answer couldn’t be verified. Start again.');
  }
}

const MAX_CAUSES = 5;
const MAX_DETAIL_LENGTH = 200;

function listCauses(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let at = error; at instanceof Error && chain.length < MAX_CAUSES; at = at.cause) chain.push(at);
  return chain;
}

/** Neither tokens nor the answer's body. */
function describeCause(cause: unknown): string {
  const { message = '', code, error } = cause as { message?: string; code?: unknown; error?: unknown };
  return [message, code, error]
    .filter((part) => typeof part === 'string' && part !== '')
    .map((part) => String(part).replace(/\p{C}/gu, ' ').slice(0, MAX_DETAIL_LENGTH))
    .join(' ');
}
