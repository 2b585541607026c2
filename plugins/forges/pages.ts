import joi from 'joi';
import { View, type PageSpec } from '../../kernel/contract/index.js';
import type { IntegrationProvider } from '../../ports/domain/alarms/integrations.js';
import type { ProjectSectionProvider } from '../../ports/domain/projects.js';
import { listForgeAddresses } from './addresses.js';
import type { ForgeSecretService } from './secrets.js';

const getSecretPath = (slug: string): string => `/projects/${slug}/forge-secret`;

export const buildForgePages = (secrets: ForgeSecretService, baseUrl: () => string): PageSpec[] => [
  {
    method: 'POST',
    path: '/projects/{slug}/forge-secret',
    title: 'Repository webhook secret',
    access: { session: 'admin' },
    input: { params: joi.object({ slug: joi.string().max(64).required() }) },
    handle: async ({ principal, params: { slug = '' } }) => {
      const secret = await secrets.createSecret(principal, slug);
      const back = { label: slug, href: `/projects/${slug}/settings` };
      const addresses = listForgeAddresses(baseUrl(), slug);
      return new View('forge-secret', { title: 'Repository webhook secret', slug, secret, addresses }).asOneTimeView(
        back,
      );
    },
  },
];

export const buildProjectSection = (secrets: ForgeSecretService, baseUrl: () => string): ProjectSectionProvider => ({
  loadSections: async (project) => {
    const made = await secrets.getInfo(project);
    return {
      heading: 'GitHub & GitLab',
      text: 'Links commits and pull requests to issues. “fixes shop-17” resolves an issue on merge.'.replace(
        'shop-17',
        `${project.slug}-17`,
      ),
      guide: { label: 'Read the guide', href: '/docs/forges' },
      lines: listForgeAddresses(baseUrl(), project.slug).map(({ name, url }) => ({ label: name, value: url })),
      note: made === null ? null : { text: `Secret created by ${made.made_by}`, at: made.made_at },
      action: {
        path: getSecretPath(project.slug),
        label: made === null ? 'Create secret' : 'Rotate secret',
        confirm: made === null ? null : 'The old secret stops working. Update the webhook at GitHub or GitLab.',
      },
    };
  },
});

/** A project's secret serves both. */
export const createForgeIntegration = (secrets: ForgeSecretService): IntegrationProvider => ({
  order: 10,
  loadIntegrations: async () => {
    const count = await secrets.countProjects();
    return ['GitHub', 'GitLab and Gitea'].map((name) => ({
      name,
      text: 'Commits and pull requests resolve issues',
      state: count === 0 ? null : `Secret in ${count} ${count === 1 ? 'project' : 'projects'}`,
      isFailing: false,
      href: '/projects',
      action: count === 0 ? 'Choose project' : 'Manage',
    }));
  },
});
