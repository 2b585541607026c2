/** Projects: what reports, releases and licenses belong to (contract 15). */
import { definePlugin, type PluginContext } from '../../kernel/contract.js';
import { AUDIT, TOKENS } from '../../ports/domain/access.js';
import { SYSTEM } from '../../ports/domain/system.js';
import { commands } from './commands.js';
import { IntakeKeys } from './intake-keys.js';
import { pages } from './pages.js';
import type { Project } from './project.js';
import { routes } from './routes.js';
import { Projects, type Counter } from './service.js';

function assemble(ctx: PluginContext): { projects: Projects; keys: IntakeKeys } {
  ctx.bind('projects.rows', ctx.collection<Project>('projects'));
  ctx.bind('projects.counters', ctx.collection<Counter>('counters'));
  ctx.bind('projects.clock', ctx.clock);
  ctx.bind('projects.app', ctx.app);
  ctx.bind(AUDIT.name, ctx.resolve(AUDIT));
  ctx.bind(TOKENS.name, ctx.resolve(TOKENS));
  ctx.bind(SYSTEM.name, ctx.resolve(SYSTEM));
  const projects = ctx.construct(Projects);
  ctx.bind('projects.service', projects);
  return { projects, keys: ctx.construct(IntakeKeys) };
}

export default definePlugin({
  id: 'projects',
  version: '1.0.0',
  api: 1,
  title: 'Projects',
  critical: true,
  after: ['access'],
  needs: ['access.audit', 'access.tokens', 'kernel.system'],
  provides: ['projects.directory'],
  scopes: ['projects:read', 'projects:manage'],
  collections: [
    { name: 'projects', indexes: [{ fields: ['number'], unique: true }] },
    { name: 'counters', indexes: [] },
  ],
  from: import.meta.url,
  setup(ctx) {
    const { projects, keys } = assemble(ctx);
    return {
      routes: routes(projects, keys),
      pages: pages(projects, keys, ctx.resolve(SYSTEM)),
      commands: commands(projects, keys),
      services: { 'projects.directory': projects },
    };
  },
});
