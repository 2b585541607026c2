/**
 * The error stream (contract 21): a slim intake for an application's global exception handler. What it takes in becomes
 * items of the bug tracker, through `bugs.api`; grouping, counting and storing are done there, so that both ways in agree.
 */
import { definePlugin } from '../../kernel/contract.js';
import { BUGS } from '../../ports/domain/bugs.js';
import { Intake } from './intake.js';
import { routes } from './routes.js';

export default definePlugin({
  id: 'errorstream',
  version: '1.0.0',
  api: 1,
  title: 'Error stream',
  needs: [BUGS.name],
  from: import.meta.url,
  setup(ctx) {
    ctx.bind(BUGS.name, ctx.resolve(BUGS));
    ctx.bind('errorstream.log', ctx.log);
    return { routes: routes(ctx.construct(Intake)) };
  },
});
