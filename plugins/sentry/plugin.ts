/**
 * Intake for unmodified Sentry SDKs with a project's DSN (contract 21). It only translates events
 * for the error stream. No other module depends on it.
 */
import { definePlugin } from '../../kernel/contract.js';
import { ERROR_INTAKE } from '../../ports/domain/errors.js';
import { FRAME_REWRITER } from '../../ports/domain/frames.js';
import { SESSION_INTAKE } from '../../ports/domain/release-health.js';
import { PROJECTS } from '../../ports/domain/projects.js';
import { WATCHDOG } from '../../ports/domain/watchdog.js';
import { CheckIns, FIND_WATCHDOG } from './check-ins.js';
import { FIND_FRAMES, SentryIntake } from './intake.js';
import { routes } from './routes.js';
import { FIND_SESSIONS, SessionCounting } from './session-counting.js';

export default definePlugin({
  id: 'sentry',
  version: '1.0.0',
  api: 1,
  title: 'Sentry SDK intake',
  needs: [ERROR_INTAKE.name, PROJECTS.name],
  uses: [WATCHDOG.name, FRAME_REWRITER.name, SESSION_INTAKE.name],
  tags: { sentry: 'What SDKs of Sentry send.' },
  setup(ctx) {
    ctx.bind(FIND_WATCHDOG, () => ctx.find(WATCHDOG));
    ctx.bind(FIND_FRAMES, () => ctx.find(FRAME_REWRITER));
    ctx.bind(FIND_SESSIONS, () => ctx.find(SESSION_INTAKE));
    const { intake } = ctx.services({ checkIns: CheckIns, sessions: SessionCounting, intake: SentryIntake });
    return { routes: routes(intake) };
  },
});
