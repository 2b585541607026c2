/** Projects in a configuration document (contract 97, apply). */
import type { ConfigKind } from '../../ports/domain/config/kinds.js';
import type { ProjectDeletionService } from './deletion.js';
import { createBodySchema, type NewProject } from './project.js';
import type { ProjectService } from './service.js';

export const createProjectKind = (
  projects: ProjectService,
  deletion: Pick<ProjectDeletionService, 'remove'>,
): ConfigKind => ({
  kind: 'projects',
  order: 10,
  schema: createBodySchema,
  nameFields: ['slug'],
  getName: ({ slug }) => String(slug),
  list: async (principal) => {
    const own = principal.kind === 'token' ? principal.project : null;
    const stored = (await projects.listStored()).filter(({ id }) => own === null || id === own);
    return stored.map(({ id, managed, ...fields }) => ({
      id,
      name: id,
      managed: managed === true,
      fields: { path_roots: [], tag_format: null, ...fields, slug: id },
    }));
  },
  create: async (principal, fields) => {
    await projects.create(principal, { ...(fields as unknown as NewProject), managed: true });
    return [];
  },
  update: async (principal, { id }, changed) => void (await projects.change(principal, id, changed)),
  delete: (principal, { id }) => deletion.remove(principal, id),
});
