/**
 * The page of a pull or merge request, whichever part of it an address leads to: people and agents copy
 * `…/pull/42/files#diff-1`, and forges name `…/pull/42`. Pure.
 */
const PAGE = /^\/.+\/(?:pull|pulls|merge_requests)\/\d{1,12}(?=\/|$)/i;
/** GitHub's own interface names a request by another address than its page. */
const GITHUB_API = /^api\.github\.com\/repos\/(.+)\/pulls\/(\d{1,12})$/;

/** Returns the same text for every address of a pull request. Lower case, because forges ignore the case of owners. */
export function getPullRequestPage(address: string): string {
  if (!URL.canParse(address)) return address;
  const { host, pathname } = new URL(address);
  const [page = pathname] = PAGE.exec(pathname) ?? [];
  // The same page, whether or not a proxy in front of the forge speaks TLS.
  return `${host}${page.replace(/\/+$/, '')}`
    .toLowerCase()
    .replace(GITHUB_API, 'github.com/$1/pull/$2')
    .replace(/\/-(?=\/merge_requests\/)/, '');
}
