/** The yardstick for validations: a bare hapi server with one POST whose body joi validates, and which stores nothing. */
import Hapi from '@hapi/hapi';
import joi from 'joi';

const body = joi.object({
  license_key: joi.string().required(),
  product: joi.string().max(64).required(),
  machine_id: joi.string().max(128),
  machine_name: joi.string().max(200),
  app_version: joi.string().max(100),
  platform: joi.string().max(100),
  nonce: joi.string().max(128),
});

const server = Hapi.server({ host: '127.0.0.1', port: 0 });
server.route({
  method: 'POST',
  path: '/validate',
  options: { validate: { payload: body } },
  handler: (request) => ({ status: 'active', product: (request.payload as { product: string }).product }),
});
await server.start();
process.stdout.write(`listening on ${server.info.uri}\n`);
