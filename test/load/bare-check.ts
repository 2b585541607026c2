/** The yardstick for update checks: a bare hapi server with one GET that answers a constant object of the same size. */
import Hapi from '@hapi/hapi';

const bytes = Number(process.argv[2] ?? 1_000);
const server = Hapi.server({ host: '127.0.0.1', port: 0 });
const answer = { status: 'success', text: 'x'.repeat(Math.max(0, bytes - 30)) };
server.route({ method: 'GET', path: '/check', handler: () => answer });
await server.start();
process.stdout.write(`listening on ${server.info.uri}\n`);
