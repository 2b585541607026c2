import joi from 'joi';
import { View, type PageSpec } from '../../kernel/contract.js';
import type { ProjectSectionProvider } from '../../ports/domain/projects.js';
import { listForgeAddresses } from './addresses.js';
import type { ForgeSecretService } from './secrets.js';

const getSecretPath = (slug: string): string => `/projects/${slug}/forge-secret`;

export const buildForgePages = (secrets: ForgeSecretService, baseUrl: () => string): PageSpec[] => [
  {
    method: 'POST',
    path: '/projects/{slug}/forge-secret',
    title: 'Forge secret',
    access: { session: 'admin' },
    input: { params: joi.object({ slug: joi.string().max(64).required() }) },
    handle: async ({ principal, params: { slug = '' } }) => {
      const secret = await secrets.createSecret(principal, slug);
      const back = { label: slug, href: `/projects/${slug}` };
      const addresses = listForgeAddresses(baseUrl(), slug);
      return new View('forge-secret', { title: 'Forge secret', slug, secret, addresses }).asOneTimeView(back);
    },
  },
];

export const buildProjectSection = (secrets: ForgeSecretService, baseUrl: () => string): ProjectSectionProvider => ({
  loadSections: async (project) => {
    const made = await secrets.getInfo(project);
    return {
      heading: 'Webhooks of the forge',
      text: 'GitHub, GitLab or Gitea tells of commits and pull requests: those that name an item are linked to it, and “fixes shop-17” resolves it once it is merged.'.replace(
        'shop-17',
        `${project.slug}-17`,
      ),
      guide: { label: 'Set it up', href: '/docs/forges' },
      lines: listForgeAddresses(baseUrl(), project.slug).map(({ name, url }) => ({ label: name, value: url })),
      note: made === null ? null : { text: `Secret made by ${made.made_by}`, at: made.made_at },
      action: {
        path: getSecretPath(project.slug),
        label: made === null ? 'Make the secret' : 'Make a new secret',
        confirm:
          made === null ? null : 'The secret of before is worth nothing from then on: enter the new one at the forge.',
      },
    };
  },
});
