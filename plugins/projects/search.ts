import type { SearchProvider } from '../../ports/domain/search.js';
import type { ProjectService } from './service.js';

export const createProjectSearch = (projects: Pick<ProjectService, 'list'>): SearchProvider => ({
  label: 'Projects',
  icon: 'project',
  order: 50,
  role: 'member',
  acts: [
    { verb: 'New', also: ['add', 'create'], noun: 'project', nouns: ['dsn'], href: '/projects/new', role: 'admin' },
  ],
  find: async ({ words, limit }) => {
    const all = await projects.list();
    const found = all.filter(({ slug, name }) => {
      const text = `${slug} ${name.toLowerCase()}`;
      return words.every((word) => text.includes(word));
    });
    return found.slice(0, limit).map(({ slug, name, archived }) => ({
      title: name,
      href: `/projects/${slug}`,
      detail: slug,
      state: archived ? 'archived' : null,
    }));
  },
});
