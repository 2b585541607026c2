/** The yardstick: a bare hapi server with a POST whose body joi validates, and which stores nothing; one for JSON, one for text. */
import Hapi from '@hapi/hapi';
import joi from 'joi';

const body = joi.object({
  project: joi.string().max(64).required(),
  error_level: joi.string().valid('fatal', 'error', 'warning').required(),
  error_message: joi.string().max(8192).required(),
  exception_class: joi.string().max(200),
  file: joi.string().max(1000),
  line: joi.number().integer(),
  stack_trace: joi.string().max(65536),
  environment: joi.string().max(100),
  app_version: joi.string().max(100),
  host: joi.string().max(200),
  tags: joi.array().items(joi.string().max(100)).max(32),
  context: joi.object().unknown(true),
});

const server = Hapi.server({ host: '127.0.0.1', port: 0 });
server.route({
  method: 'POST',
  path: '/report',
  options: { validate: { payload: body } },
  handler: (request) => ({ status: 'success', id: (request.payload as { project: string }).project }),
});
server.route({
  method: 'POST',
  path: '/envelope',
  options: {
    payload: { override: 'text/plain' },
    validate: {
      payload: joi
        .string()
        .max(1024 * 1024)
        .required(),
    },
  },
  handler: () => ({ id: 'x' }),
});
/** What it was given to answer: an answer of ours, so that both write the same. */
let kept: object = {};
server.route({
  method: 'PUT',
  path: '/kept',
  options: { payload: { maxBytes: 8 * 1024 * 1024 } },
  handler: ({ payload }) => {
    kept = payload as object;
    return { status: 'success' };
  },
});
server.route({ method: ['GET', 'POST'], path: '/kept', handler: () => kept });
await server.start();
process.stdout.write(`listening on ${server.info.uri}\n`);
