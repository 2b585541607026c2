/**
 * A page of a shop with Sentry's SDK for browsers: each load is a session, of a visitor who is
 * named.
 */
import { flush, init, setUser } from '@sentry/browser';

const about = new URLSearchParams(location.search);
init({ dsn: about.get('dsn'), release: about.get('release') ?? undefined });
setUser({ id: about.get('user') });

if (about.has('crash')) {
  setTimeout(() => {
    throw new RangeError('the page is on fire');
  }, 0);
}
setTimeout(() => void flush(10_000).then(() => (document.title = 'reported')), 200);
