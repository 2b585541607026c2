/** Users and agents copy `…/pull/42/files#diff-1`, forges report `…/pull/42`. */
const PAGE_PATTERN = /^\/.+\/(?:pull|pulls|merge_requests)\/\d{1,12}(?=\/|$)/i;
const GITHUB_API_PATTERN = /^api\.github\.com\/repos\/(.+)\/pulls\/(\d{1,12})$/;

/**
 * Returns one text for all URLs of a pull request, in lower case because forges ignore the case of
 * owners.
 */
export function getPullRequestPage(address: string): string {
  if (!URL.canParse(address)) return address;
  const { host, pathname } = new URL(address);
  const [page = pathname] = PAGE_PATTERN.exec(pathname) ?? [];
  // Without scheme, because a proxy may terminate TLS.
  return `${host}${page.replace(/\/+$/, '')}`
    .toLowerCase()
    .replace(GITHUB_API_PATTERN, 'github.com/$1/pull/$2')
    .replace(/\/-(?=\/merge_requests\/)/, '');
}
