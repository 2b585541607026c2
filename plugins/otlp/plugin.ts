/**
 * OpenTelemetry logs (contract 21, Beyond the specification): exceptions become reports of the
 * error stream.
 */
import { definePlugin } from '../../kernel/contract/index.js';
import { ERROR_INTAKE } from '../../ports/domain/errors.js';
import { PROJECTS } from '../../ports/domain/projects.js';
import { buildDroppedSignalRoutes } from './dropped-signals.js';
import { LogIntake } from './intake.js';
import { buildOtlpRoutes } from './routes.js';

export default definePlugin({
  id: 'otlp',
  version: '1.0.0',
  api: 1,
  title: 'OpenTelemetry logs',
  needs: [ERROR_INTAKE.name, PROJECTS.name],
  tags: { otlp: 'Intake for OpenTelemetry SDKs and collectors.' },
  setup(ctx) {
    const { intake } = ctx.services({ intake: LogIntake });
    return { routes: [...buildOtlpRoutes(intake), ...buildDroppedSignalRoutes({ log: ctx.log, clock: ctx.clock })] };
  },
});
