/** One text for all addresses of one pull or merge request. */
import { expect } from 'chai';
import { getPullRequestPage } from '../../../lib/http/pull-request-page.js';

describe('lib: pull request pages', () => {
  const PAGE = 'github.com/acme/shop/pull/42';
  for (const [address, page] of [
    ['https://github.com/acme/shop/pull/42', PAGE],
    ['http://GITHUB.com/Acme/Shop/pull/42/', PAGE],
    ['https://github.com/acme/shop/pull/42/commits/0a1b?x=1#r2', PAGE],
    ['https://github.com/acme/shop/pull/421', `${PAGE}1`],
    ['https://git.example:8443/a/-/merge_requests/7/diffs', 'git.example:8443/a/merge_requests/7'],
    ['https://git.example/a/b/pulls/5.diff', 'git.example/a/b/pulls/5.diff'],
    ['https://bitbucket.org/a/b/pull-requests/3/', 'bitbucket.org/a/b/pull-requests/3'],
    ['https://api.github.com/repos/Acme/shop/pulls/42', PAGE],
    ['https://gitlab.example.com/acme/shop/-/merge_requests/7', 'gitlab.example.com/acme/shop/merge_requests/7'],
    ['https://gitlab.example.com/acme/shop/merge_requests/7/diffs', 'gitlab.example.com/acme/shop/merge_requests/7'],
    ['no address', 'no address'],
  ] as const)
    it(`normalizes ${address}`, () => expect(getPullRequestPage(address)).to.equal(page));
});
