/** The yardstick: a hapi server whose routes validate the body with joi and store nothing. */
import Hapi from '@hapi/hapi';
import joi from 'joi';

const text = joi.string().max(65_536).required();
const schemas = {
  report: joi.object({ project: text, error_level: text, error_message: text, stack_trace: text }).unknown(true),
  heartbeat: joi.object({ source: text, status: text, metrics: joi.object().unknown(true) }).unknown(true),
  validation: joi.object({ license_key: text, product: text, machine_id: text }),
};

const server = Hapi.server({ host: '127.0.0.1', port: 0 });
const ANSWER = { status: 'success' };
for (const [path, payload] of Object.entries(schemas)) {
  server.route({ method: 'POST', path: `/${path}`, options: { validate: { payload } }, handler: () => ANSWER });
}
server.route({
  method: 'POST',
  path: '/envelope',
  options: { payload: { override: 'text/plain' }, validate: { payload: text } },
  handler: () => ANSWER,
});
server.route({ method: ['GET', 'POST'], path: '/empty', handler: () => ANSWER });
await server.start();
process.stdout.write(`listening on ${server.info.uri}\n`);
