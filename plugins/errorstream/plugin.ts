/**
 * The error stream (contract 21): a slim intake for an application's global exception handler. What it takes in becomes
 * items of the bug tracker, through `bugs.api`; grouping, counting and storing are done there, so that both ways in agree.
 */
import { definePlugin } from '../../kernel/contract.js';
import { BUGS, ERROR_GROUPS } from '../../ports/domain/bugs.js';
import { PROJECTS } from '../../ports/domain/projects.js';
import { Intake } from './intake.js';
import { pages, panels, type PageDeps } from './pages.js';
import { routes } from './routes.js';

export default definePlugin({
  id: 'errorstream',
  version: '1.0.0',
  api: 1,
  title: 'Error stream',
  needs: [BUGS.name, ERROR_GROUPS.name, PROJECTS.name],
  from: import.meta.url,
  setup(ctx) {
    ctx.bind(BUGS.name, ctx.resolve(BUGS));
    ctx.bind('errorstream.log', ctx.log);
    const page: PageDeps = {
      groups: ctx.resolve(ERROR_GROUPS),
      projects: ctx.resolve(PROJECTS),
      clock: ctx.clock,
      timezone: ctx.app.timezone,
      baseUrl: () => ctx.app.base_url,
    };
    return { routes: routes(ctx.construct(Intake)), pages: pages(page), panels: panels(page) };
  },
});
