/**
 * Forges (contract 20, forges): webhooks of GitHub, GitLab and Gitea link commits and pull requests
 * to items, and resolve what they fix.
 */
import { definePlugin, extend } from '../../kernel/contract/index.js';
import { AUDIT } from '../../ports/domain/audit.js';
import { ITEMS } from '../../ports/domain/bugs.js';
import { INTEGRATIONS } from '../../ports/domain/alarms/integrations.js';
import { PULL_REQUESTS } from '../../ports/domain/forge-changes.js';
import { PROJECT_CLEANUPS, PROJECT_SECTIONS, PROJECTS } from '../../ports/domain/projects.js';
import { ChangeLinker } from './linking.js';
import { buildForgePages, buildProjectSection, createForgeIntegration } from './pages.js';
import { PullRequestStore } from './pull-requests.js';
import { buildForgeRoutes } from './routes.js';
import { ForgeSecretService } from './secrets.js';

export default definePlugin({
  id: 'forges',
  version: '1.0.0',
  api: 1,
  title: 'Webhooks of forges',
  needs: [ITEMS.name, PROJECTS.name, AUDIT.name],
  extends: [INTEGRATIONS.point, PULL_REQUESTS.point, PROJECT_SECTIONS.point, PROJECT_CLEANUPS.point],
  collections: [
    { name: 'secrets', indexes: [] },
    { name: 'pull_requests', indexes: [{ fields: ['heard_at'] }] },
  ],
  from: import.meta.url,
  setup(ctx) {
    const services = ctx.services({ secrets: ForgeSecretService, linking: ChangeLinker, pulls: PullRequestStore });
    const baseUrl = (): string => ctx.app.base_url;
    return {
      routes: buildForgeRoutes({ ...services, clock: ctx.clock, baseUrl }),
      pages: buildForgePages(services.secrets, baseUrl),
      extensions: [
        extend(PULL_REQUESTS, services.pulls),
        extend(PROJECT_SECTIONS, buildProjectSection(services.secrets, baseUrl)),
        extend(INTEGRATIONS, createForgeIntegration(services.secrets)),
        extend(PROJECT_CLEANUPS, services.pulls),
        extend(PROJECT_CLEANUPS, services.secrets),
      ],
      jobs: [
        {
          name: 'forget',
          everyMs: 24 * 3_600_000,
          timeoutMs: 600_000,
          removesByAge: true,
          run: () => services.pulls.removeOld(),
        },
      ],
    };
  },
});
