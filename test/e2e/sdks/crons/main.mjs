// Scheduled jobs that report with Sentry's SDK for Node: `main.mjs report <dsn>`.
import * as Sentry from '@sentry/node';

const [, dsn] = process.argv.slice(2);
Sentry.init({ dsn, release: 'shop@1.4.2', environment: 'production' });

Sentry.withMonitor('stock', () => undefined, { schedule: { type: 'interval', value: 2, unit: 'hour' } });
try {
  Sentry.withMonitor(
    'nightly',
    () => {
      throw new Error('disk full');
    },
    { schedule: { type: 'crontab', value: '0 3 * * *' } },
  );
} catch (error) {
  if (error.message !== 'disk full') throw error;
}
await Sentry.close(10_000);
console.log('done');
