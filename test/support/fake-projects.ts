/** A stand-in for the projects plugin with responses chosen by the test. */
import { definePlugin, type Plugin } from '../../kernel/contract/index.js';
import { PROJECT_CLEANUPS, PROJECT_USAGE, PROJECTS } from '../../ports/domain/projects.js';

interface ProjectDirectoryFake {
  requireAccepting: (slug: string) => Promise<unknown>;
  get: (slug: string) => Promise<unknown>;
  findByNumber: (number: number) => Promise<unknown>;
  list: () => Promise<unknown[]>;
}

export const createFakeProjects = (directory: Partial<ProjectDirectoryFake> = {}): Plugin =>
  definePlugin({
    id: 'projects',
    version: '1.0.0',
    api: 1,
    title: 'Projects',
    provides: [PROJECTS.name],
    extensionPoints: [PROJECT_USAGE.point, PROJECT_CLEANUPS.point],
    setup: () => ({
      services: {
        [PROJECTS.name]: {
          requireAccepting: async (slug: string) => ({ slug }),
          get: async (slug: string) => ({ slug }),
          findByNumber: async () => null,
          list: async () => [],
          ...directory,
        },
      },
    }),
  });
