/**
 * For unmodified Sentry SDKs with a project's DSN (contract 21). Only translates events for the
 * error stream; no other module depends on it.
 */
import { definePlugin } from '../../kernel/contract/index.js';
import { ERROR_INTAKE } from '../../ports/domain/errors.js';
import { FRAME_REWRITER } from '../../ports/domain/frame-rewriting.js';
import { SESSION_INTAKE } from '../../ports/domain/release-health.js';
import { PROJECTS } from '../../ports/domain/projects.js';
import { WATCHDOG } from '../../ports/domain/watchdog.js';
import { CheckInForwarder, WATCHDOG_RESOLVER } from './check-in-forwarder.js';
import { FRAME_REWRITER_RESOLVER, SentryIntake } from './intake.js';
import { buildSentryRoutes } from './routes.js';
import { SESSION_INTAKE_RESOLVER, SessionForwarder } from './session-forwarder.js';

export default definePlugin({
  id: 'sentry',
  version: '1.0.0',
  api: 1,
  title: 'Sentry SDK intake',
  needs: [ERROR_INTAKE.name, PROJECTS.name],
  uses: [WATCHDOG.name, FRAME_REWRITER.name, SESSION_INTAKE.name],
  tags: { sentry: 'Intake for Sentry SDKs.' },
  setup(ctx) {
    ctx.bind(WATCHDOG_RESOLVER, () => ctx.find(WATCHDOG));
    ctx.bind(FRAME_REWRITER_RESOLVER, () => ctx.find(FRAME_REWRITER));
    ctx.bind(SESSION_INTAKE_RESOLVER, () => ctx.find(SESSION_INTAKE));
    const { intake } = ctx.services({ checkIns: CheckInForwarder, sessions: SessionForwarder, intake: SentryIntake });
    return { routes: buildSentryRoutes(intake) };
  },
});
