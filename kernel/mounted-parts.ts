import { AUTHENTICATOR, FORM_RESULT_STORE } from '../ports/domain/access.js';
import { STORAGE_SPACE } from '../ports/domain/health.js';
import { LIVE_TOKENS } from '../ports/domain/live-tokens.js';
import { PROJECT_CHOICES } from '../ports/domain/projects.js';
import type { HttpServer } from '../ports/http-server.js';
import type { Token } from '../ports/token.js';
import { createNullAuthenticator } from './mounts.js';
import type { KernelParts } from './kernel-parts.js';
import type { RunningPlugins } from './running-plugins.js';

export function collectMounted(
  plugins: RunningPlugins,
  service: <T>(token: Token<T>) => T | undefined,
  parts: Pick<KernelParts, 'log' | 'ids'>,
): Parameters<HttpServer['mount']>[0] {
  return {
    unavailable: () => plugins.listUnavailablePaths(),
    failed: (id, error) => plugins.failById(id, error),
    routes: plugins.listRoutes(),
    pages: plugins.listPages(),
    panels: plugins.listPanels(),
    hosts: plugins.listHosts(),
    codes: plugins.getErrorCodes(),
    authenticator: service(AUTHENTICATOR) ?? createNullAuthenticator(parts),
    forms: service(FORM_RESULT_STORE) ?? null,
    projects: service(PROJECT_CHOICES) ?? null,
    space: service(STORAGE_SPACE) ?? null,
    liveTokens: service(LIVE_TOKENS) ?? null,
  };
}
