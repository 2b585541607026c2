import type { PluginContext } from '../../../kernel/contract/index.js';
import type { OneTimeStates } from '../sessions/one-time-states.js';
import type { SessionService } from '../sessions/sessions.js';
import type { ExternalSignIn } from './external-sign-in.js';
import { OidcProvider } from './provider.js';
import type { OidcSettings } from './settings.js';
import { OidcSignIn } from './sign-in.js';

/** What the pages of this plugin see of the module. */
export interface Oidc {
  label: string;
  signIn: OidcSignIn;
  /** Returns the provider's logout page for a session that it opened; null otherwise. */
  findLogoutUrl(sessionId: string): Promise<string | null>;
}

export function buildOidc(
  { config: { oidc: settings }, app, ports, clock, log }: PluginContext<{ oidc: OidcSettings }>,
  services: { states: OneTimeStates; sessions: SessionService; external: ExternalSignIn },
): Oidc | null {
  const { issuer } = settings;
  if (issuer === null) return null;
  const baseUrl = app.base_url.replace(/\/$/, '');
  const provider = new OidcProvider({ ...settings, issuer }, `${baseUrl}/auth/oidc/callback`, {
    outbound: ports.outbound,
    clock,
    log,
  });
  return {
    label: settings.label,
    signIn: new OidcSignIn(settings, provider, services.states, services.external),
    findLogoutUrl: async (sessionId) => {
      const sealed = await services.sessions.findProviderToken(sessionId);
      return sealed === null ? null : provider.buildLogoutUrl(services.external.openToken(sealed), `${baseUrl}/login`);
    },
  };
}
