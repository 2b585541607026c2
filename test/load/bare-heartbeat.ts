/** The yardstick for heartbeats: a bare hapi server with one POST whose body joi validates, and which stores nothing. */
import Hapi from '@hapi/hapi';
import joi from 'joi';

const body = joi.object({
  source: joi
    .string()
    .pattern(/^[A-Za-z0-9._:@/-]{1,128}$/)
    .required(),
  status: joi.string().valid('ok', 'warning', 'error', 'stopped', 'maintenance'),
  interval: joi.number().greater(0).max(31_536_000),
  message: joi.string().max(1000),
  checks: joi.object().unknown(true),
  metrics: joi.object().unknown(true),
  app_version: joi.string().max(200),
});

const server = Hapi.server({ host: '127.0.0.1', port: 0 });
server.route({
  method: 'POST',
  path: '/heartbeat',
  options: { validate: { payload: body } },
  handler: (request) => ({ status: 'success', source: (request.payload as { source: string }).source }),
});
await server.start();
process.stdout.write(`listening on ${server.info.uri}\n`);
