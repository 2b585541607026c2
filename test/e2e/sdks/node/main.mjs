// A program that reports with Sentry's SDK for Node: `main.mjs report <dsn>` once of everything,
// `limited` ten errors.
import * as Sentry from '@sentry/node';

class CartError extends Error {
  name = 'CartError';
}

function price(cart) {
  return cart.prices.total;
}

function total(cart) {
  try {
    return price(cart);
  } catch (cause) {
    throw new CartError("the cart 'A-1001' has no price", { cause });
  }
}

function fail() {
  try {
    total({});
  } catch (error) {
    Sentry.captureException(error);
  }
}

async function report() {
  Sentry.startSession();
  Sentry.startSpan({ name: 'checkout', op: 'task' }, () => undefined);
  Sentry.setTag('shop', 'eu');
  Sentry.setUser({ id: '4711', username: 'jane' });
  Sentry.setContext('cart', { id: 'A-1001', items: 3 });
  Sentry.addBreadcrumb({ category: 'cart', message: 'opened', level: 'info' });
  for (let i = 0; i < 2; i++) {
    fail();
    Sentry.captureMessage('stock is low', 'info');
  }
  Sentry.captureSession(true);
  await Sentry.flush(10_000);
}

async function limited() {
  for (let i = 0; i < 10; i++) {
    // Not an error: the SDK drops one that equals the one before.
    Sentry.captureMessage(`stock ${i % 2}`);
    await Sentry.flush(10_000);
  }
}

const [mode, dsn] = process.argv.slice(2);
Sentry.init({
  dsn,
  release: 'shop@1.4.2+7',
  environment: 'production',
  serverName: 'web-1',
  tracesSampleRate: mode === 'report' ? 1 : undefined,
});
await (mode === 'report' ? report() : limited());
await Sentry.close(10_000);
console.log('done');
