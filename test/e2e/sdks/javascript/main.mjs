/** A shop's page: an error that nobody catches, reported by Sentry's SDK for browsers. */
import { flush, init } from '@sentry/browser';
import { Cart, priceOf } from './cart.mjs';

const about = new URLSearchParams(location.search);
init({ dsn: about.get('dsn'), release: about.get('release') ?? undefined });

function checkout() {
  const price = priceOf(new Cart());
  document.title = price;
}

setTimeout(checkout, 0);
setTimeout(() => void flush(10_000).then(() => (document.title = 'reported')), 200);
