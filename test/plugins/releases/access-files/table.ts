/**
 * The requests that this service and a web server in front must answer alike (contract 40, both
 * ways of serving).
 */
import { basic, KEY, nameOf, OTHER_KEY, PASSWORD } from '../store-fixture.js';

export interface Row {
  what: string;
  path: string;
  method?: string;
  headers?: Record<string, string>;
  /** Several where the two may differ (contract 40: "403 or 404 by Apache"). */
  status: number | readonly number[];
  /** The answer's body, where it is a package. */
  body?: 'whole' | 'part' | 'none';
}

const PACKAGE = '/releases/shop/stable/1.0/any/package.tar.gz';
const OTHER = '/releases/other/stable/1.0/any/package.tar.gz';
const key = (text: string, name = nameOf(text)): Record<string, string> => ({ authorization: basic(name, text) });
const account = (name: string, password = PASSWORD): Record<string, string> => ({
  authorization: basic(name, password),
});

/**
 * Products: `shop` (licensed by KEY), `other` (by OTHER_KEY), `free` without access files. `ada` is
 * disabled.
 */
export const TABLE: readonly Row[] = [
  { what: 'a package without credential', path: PACKAGE, status: 401 },
  { what: 'a manifest without credential', path: '/releases/shop/stable/1.0/any/manifest.json', status: 401 },
  { what: 'latest.json without credential', path: '/releases/shop/stable/latest.json', status: 401 },
  { what: 'a missing package, without credential', path: '/releases/shop/stable/9.9/any/package.tar.gz', status: 401 },
  { what: 'HEAD without credential', path: PACKAGE, method: 'HEAD', status: 401 },
  { what: 'a license key', path: PACKAGE, headers: key(KEY), status: 200, body: 'whole' },
  { what: 'the key a second time', path: PACKAGE, headers: key(KEY), status: 200, body: 'whole' },
  { what: 'HEAD with a key', path: PACKAGE, method: 'HEAD', headers: key(KEY), status: 200, body: 'none' },
  { what: 'a part', path: PACKAGE, headers: { ...key(KEY), range: 'bytes=2-5' }, status: 206, body: 'part' },
  { what: 'a part beyond the end', path: PACKAGE, headers: { ...key(KEY), range: 'bytes=99999999-' }, status: 416 },
  { what: 'the key of another product', path: PACKAGE, headers: key(OTHER_KEY), status: 401 },
  { what: 'a key for another product', path: OTHER, headers: key(KEY), status: 401 },
  { what: 'the other product with its key', path: OTHER, headers: key(OTHER_KEY), status: 200, body: 'whole' },
  { what: 'a wrong key with the name of a right one', path: PACKAGE, headers: key('WRONG', nameOf(KEY)), status: 401 },
  { what: 'a key in lower case', path: PACKAGE, headers: key(KEY.toLowerCase()), status: 401 },
  { what: 'an unknown license', path: PACKAGE, headers: key('QQQQ-QQQQ'), status: 401 },
  { what: 'an administrator', path: PACKAGE, headers: account('admin'), status: 200, body: 'whole' },
  { what: 'an installer', path: PACKAGE, headers: account('ivy'), status: 200, body: 'whole' },
  { what: 'a member', path: OTHER, headers: account('mia'), status: 200, body: 'whole' },
  { what: 'an account name in upper case', path: PACKAGE, headers: account('IVY'), status: 401 },
  { what: 'a wrong password', path: PACKAGE, headers: account('ivy', 'wrong password 12'), status: 401 },
  { what: 'a disabled account', path: PACKAGE, headers: account('ada'), status: 401 },
  { what: 'an unknown account', path: PACKAGE, headers: account('nobody'), status: 401 },
  { what: 'a password with umlauts', path: PACKAGE, headers: account('uta', 'Übergrößenträger'), status: 200 },
  { what: 'an empty password', path: PACKAGE, headers: account('ivy', ''), status: 401 },
  { what: 'a Bearer token', path: PACKAGE, headers: { authorization: 'Bearer svc_live_x' }, status: 401 },
  { what: 'invalid base64', path: PACKAGE, headers: { authorization: 'Basic ???' }, status: 401 },
  { what: '.htpasswd', path: '/releases/shop/.htpasswd', status: 403 },
  { what: '.htpasswd with a key', path: '/releases/shop/.htpasswd', headers: key(KEY), status: 403 },
  { what: '.htaccess', path: '/releases/shop/.htaccess', headers: account('admin'), status: 403 },
  { what: 'a missing access file', path: '/releases/shop/stable/.htfoo', headers: key(KEY), status: 403 },
  { what: 'an escaped access file', path: '/releases/shop/%2ehtpasswd', headers: key(KEY), status: 403 },
  { what: 'the folder of uploads', path: '/releases/.incoming/', status: [403, 404] },
  { what: 'a file in the folder of uploads', path: '/releases/.incoming/x', headers: key(KEY), status: [403, 404] },
  {
    what: 'a missing package, with a key',
    path: '/releases/shop/stable/9.9/any/package.tar.gz',
    headers: key(KEY),
    status: 404,
  },
  { what: 'an unknown product', path: '/releases/nothing/stable/latest.json', status: 404 },
  {
    what: 'a product without access files',
    path: '/releases/free/stable/1.0/any/package.tar.gz',
    status: 200,
    body: 'whole',
  },
  { what: 'latest.json with an account', path: '/releases/shop/latest.json', headers: account('ivy'), status: 200 },
  { what: 'the signature', path: '/releases/shop/stable/1.0/any/manifest.sig', headers: key(KEY), status: 200 },
  { what: 'a path out of the store', path: '/releases/../../release-key.pem', headers: key(KEY), status: [400, 404] },
  {
    what: 'an escaped path out of the store',
    path: '/releases/%2e%2e/release-key.pem',
    headers: key(KEY),
    status: [400, 403, 404],
  },
  {
    what: 'a path from an open product into a closed one',
    path: '/releases/free/../shop/stable/1.0/any/package.tar.gz',
    status: [400, 401, 404],
  },
  { what: 'a NUL', path: '/releases/shop/stable/1.0/any/package.tar.gz%00', headers: key(KEY), status: [400, 404] },
];
