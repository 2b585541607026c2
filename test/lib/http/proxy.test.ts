/** Which proxy the environment names for an address. */
import { expect } from 'chai';
import { getProxyForUrl, InvalidProxyVariable } from '../../../lib/http/proxy.js';

describe('lib: getProxyForUrl', () => {
  const CASES: [name: string, url: string, env: Record<string, string>, proxy: string | null][] = [
    ['returns null without variables', 'http://a.test/', {}, null],
    ['assumes http:// without a scheme (S09)', 'http://a.test/', { HTTP_PROXY: 'proxy:3128' }, 'http://proxy:3128/'],
    ['assumes http:// for https requests too', 'https://a.test/', { HTTPS_PROXY: 'proxy:3128' }, 'http://proxy:3128/'],
    ['takes an address without a port', 'http://a.test/', { http_proxy: 'proxy' }, 'http://proxy/'],
    ['takes an IPv6 address', 'http://a.test/', { http_proxy: '[::1]:3128' }, 'http://[::1]:3128/'],
    ['takes credentials without a scheme', 'http://a.test/', { http_proxy: 'u:p@proxy:1' }, 'http://u:p@proxy:1/'],
    ['keeps https://', 'http://a.test/', { HTTP_PROXY: 'https://proxy' }, 'https://proxy/'],
    ['prefers lower case', 'http://a.test/', { http_proxy: 'low:1', HTTP_PROXY: 'up:1' }, 'http://low:1/'],
    ['ignores an empty value', 'http://a.test/', { http_proxy: ' ', HTTP_PROXY: 'up:1' }, 'http://up:1/'],
    ['does not take the variable of the other scheme', 'https://a.test/', { HTTP_PROXY: 'proxy:1' }, null],
    ['falls back to ALL_PROXY', 'https://a.test/', { ALL_PROXY: 'all:1' }, 'http://all:1/'],
    ['honours NO_PROXY with a host', 'http://a.test/', { HTTP_PROXY: 'p:1', NO_PROXY: 'b.test, a.test' }, null],
    ['honours NO_PROXY with a domain', 'http://x.a.test/', { HTTP_PROXY: 'p:1', no_proxy: '.a.test' }, null],
    ['honours NO_PROXY with *.', 'http://x.a.test/', { HTTP_PROXY: 'p:1', no_proxy: '*.a.test' }, null],
    ['honours NO_PROXY *', 'http://x.a.test/', { HTTP_PROXY: 'p:1', no_proxy: '*' }, null],
    ['does not match the end of a name', 'http://xa.test/', { HTTP_PROXY: 'p:1', no_proxy: 'a.test' }, 'http://p:1/'],
    ['compares the port', 'http://a.test:81/', { HTTP_PROXY: 'p:1', no_proxy: 'a.test:80' }, 'http://p:1/'],
    ['compares the default port', 'https://a.test/', { HTTPS_PROXY: 'p:1', no_proxy: 'a.test:443' }, null],
    ['honours NO_PROXY with IPv6', 'http://[::1]:8080/', { HTTP_PROXY: 'p:1', no_proxy: '::1' }, null],
    ['honours NO_PROXY with IPv6 and a port', 'http://[::1]:81/', { HTTP_PROXY: 'p:1', no_proxy: '[::1]:81' }, null],
  ];
  for (const [name, url, env, proxy] of CASES)
    it(name, () => expect(getProxyForUrl(new URL(url), env)?.href ?? null).to.equal(proxy));

  for (const value of ['socks5://proxy:1', 'http://', 'a b', 'proxy:port'])
    it(`rejects ${value} and names the variable (S09)`, () =>
      expect(() => getProxyForUrl(new URL('https://a.test'), { https_proxy: value })).to.throw(
        InvalidProxyVariable,
        /^https_proxy must be host:port/,
      ));
});
