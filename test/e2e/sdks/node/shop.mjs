// A web shop with Sentry's SDK for Node, unchanged but for its DSN and its release: `shop.mjs
// <requests> <crashes> <dsn> <release>` asks itself so many times, and so many requests end in an
// error that nobody handles. The process is a session of its own.
import * as Sentry from '@sentry/node';

const [requests, crashes, dsn, release] = process.argv.slice(2);
Sentry.init({ dsn, release, integrations: [Sentry.httpIntegration({ sessionFlushingDelayMS: 1_000 })] });

const { createServer, get } = await import('node:http');
const server = createServer((req, res) => {
  if (req.url === '/crash') {
    Sentry.captureException(new Error('the shop is on fire'), { mechanism: { handled: false, type: 'test' } });
    res.statusCode = 500;
  }
  res.end('a shop');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address();
for (let n = 0; n < Number(requests); n++) {
  const path = n < Number(crashes) ? '/crash' : '/';
  await new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (res) => res.resume().on('end', resolve)).on('error', reject);
  });
}
server.close();
await Sentry.flush(10_000);
console.log('done');
